"""A task takes slices where it can, and they change nothing; of inputs that wait, the earliest record is next."""

import re
from collections.abc import Callable
from random import Random

import pytest

from penstock.pipeline.operators.base import Raw
from penstock.pipeline.operators.buffers import InputQueue, InputQueues
from penstock.pipeline.operators.task import InvalidTimestampError, Produced, Task
from penstock.streams import StreamsBuilder, TimeWindows
from penstock.wire_client.errors import SerializationError
from tests.support.examples import examples
from tests.support.rows import each_row


def stateless(b: StreamsBuilder) -> None:
    flat = b.stream("in").filter(lambda k, v: v != "3").flat_map_values(lambda v: [v, v + v])
    flat.map(lambda k, v: (v, k)).to("out")


def counted(b: StreamsBuilder) -> None:
    b.stream("in").group_by_key().count().filter(lambda k, n: n % 3 != 0).to_stream().to("out")


def reduced(b: StreamsBuilder) -> None:
    b.stream("in").to_table().map_values(lambda v: v + "!").to_stream().to("out")


def windowed(b: StreamsBuilder) -> None:
    windows = TimeWindows.of_size_and_grace(50, 20)
    b.stream("in").group_by_key().windowed_by(windows).reduce(max).to_stream().to("out")


def branched(b: StreamsBuilder) -> None:
    stream = b.stream("in")
    stream.to("out")
    stream.map_values(lambda v: v + "!").to("out2")


def task_of(make: Callable[[StreamsBuilder], object]) -> Task:
    builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    make(builder)
    topology = builder.build()
    task = Task(topology, topology.nodes.values(), "app")
    task.start()
    return task


def records(seed: int) -> list[Raw]:
    random = Random(seed)
    return [
        (
            random.choice("abc"),
            random.choice("01234"),
            max(0, number * 5 - random.choice((0, 0, 30, 200))),
            (),
        )
        for number in range(120)
    ]


def by_topic(produced: list[Produced]) -> dict[str, list[tuple[Produced, int | None]]]:
    topics: dict[str, list[tuple[Produced, int | None]]] = {}
    for each in produced:
        partition = None if each.partition is None else each.partition(7)
        topics.setdefault(each.topic, []).append((each._replace(partition=None), partition))
    return topics


@each_row("make", [stateless, counted, reduced, windowed, branched], lambda make: make.__name__)
def test_slices_make_what_single_records_make(make: Callable[[StreamsBuilder], None]) -> None:
    for seed in range(examples(8)):
        given, sizes = records(seed), Random(seed)
        single, sliced = task_of(make), task_of(make)
        assert sliced.takes_slices
        for offset, (key, value, timestamp, _) in enumerate(given):
            single.add("in", offset, key.encode(), value.encode(), timestamp)
            single.process_next(0)
        while given:
            size = sizes.randint(1, 40)
            sliced.process_slice("in", given[:size], 0)
            given = given[size:]
        assert by_topic(sliced.take_produced()) == by_topic(single.take_produced())
        assert sliced.dropped == single.dropped


def joined(b: StreamsBuilder) -> None:
    b.stream("in").join(b.table("rows"), lambda value, row: f"{value}{row}").to("out")


def joined_tables(b: StreamsBuilder) -> None:
    b.table("in").outer_join(b.table("rows"), lambda one, other: f"{one} {other}").to_stream().to("out")


def counted_together(b: StreamsBuilder) -> None:
    b.stream("in").merge(b.stream("rows")).group_by_key().count().to_stream().map_values(str).to("out")


@each_row("make", [joined, joined_tables, counted_together], lambda make: make.__name__)
def test_runs_make_what_single_records_make(make: Callable[[StreamsBuilder], None]) -> None:
    for seed in range(examples(8)):
        single, runs = task_of(make), task_of(make)
        assert runs.takes_runs
        assert not runs.takes_slices
        for task in (single, runs):
            for topic, shift in (("in", 0), ("rows", 1)):
                for offset, (key, value, timestamp, _) in enumerate(records(seed + shift)):
                    task.add(topic, offset, key.encode(), value.encode(), timestamp)
        taken = []
        while runs.has_records:
            topic, offset, count = runs.process_run(0)
            taken += [(topic, offset - rest) for rest in reversed(range(count))]
        for place in taken:
            assert single.next_up() == place
            single.process_next(0)
        assert not single.has_records
        assert by_topic(runs.take_produced()) == by_topic(single.take_produced())
        assert runs.notes() == single.notes()


def test_a_table_that_its_own_stream_asks_takes_single_records() -> None:
    def with_itself(b: StreamsBuilder) -> None:
        table = b.table("in")
        table.to_stream().join(table, lambda value, row: f"{value}{row}").to("out")

    assert not task_of(with_itself).takes_runs


def test_three_inputs_keep_the_order_of_single_records() -> None:
    for seed in range(examples(20)):
        random = Random(seed)
        records = [(random.choice("xyz"), random.randint(0, 6)) for _ in range(60)]
        orders = []
        for takes_runs in (False, True):
            queues, inputs = InputQueues(), {name: InputQueue(name) for name in "xyz"}
            for number, (name, timestamp) in enumerate(records):
                queues.add(inputs[name], [((None, None, timestamp, ()), number)])
            order = []
            while queues:
                if takes_runs:
                    order += [offset for _, offset in queues.take_run()[1]]
                else:
                    order.append(queues.take()[1][1])
            orders.append(order)
        assert orders[0] == orders[1]


def test_a_diamond_takes_single_records() -> None:
    def diamond(b: StreamsBuilder) -> None:
        stream = b.stream("in")
        stream.map_values(str).merge(stream).to("out")

    assert not task_of(diamond).takes_slices


def test_a_record_without_a_time_is_refused() -> None:
    with pytest.raises(InvalidTimestampError, match="topic in, offset 7: the record's timestamp is -1"):
        task_of(stateless).add("in", 7, b"a", b"1", -1)


def test_an_error_says_in_which_step_it_was() -> None:
    task = task_of(lambda b: b.stream("in").map_values(int).map_values(lambda v: 1 // v).to("out"))
    task.add("in", 5, b"a", b"0", 3)
    with pytest.raises(ZeroDivisionError) as failure:
        task.process_next(0)
    (note,) = failure.value.__notes__
    assert re.match(
        r"This was in KSTREAM-MAPVALUES-0000000002 \(test_task.py:\d+\), with the record at offset 5 of topic in\.",
        note,
    )
    with pytest.raises(ValueError, match="invalid literal") as wrong:
        task.process_slice("in", [("a", "one", 3, ())], 0)
    assert "KSTREAM-MAPVALUES-0000000001" in wrong.value.__notes__[0]


def test_a_record_that_cannot_be_read_is_told_of() -> None:
    with pytest.raises(SerializationError, match="cannot read the value") as failure:
        task_of(stateless).add("in", 6, b"a", b"\xff", 3)
    assert failure.value.__notes__ == ["This was the record at offset 6 of topic in."]


def test_the_earliest_record_is_next() -> None:
    queues, inputs = InputQueues(), {name: InputQueue(name) for name in "xyz"}
    for name, timestamp in [("x", 5), ("x", 1), ("y", 4), ("z", 4), ("y", 9)]:
        queues.add(inputs[name], [((None, None, timestamp, ()), 0)])
    taken = []
    while queues:
        queue, (record, _) = queues.take()
        taken.append((queue.topic, record[2]))
    assert taken == [("y", 4), ("z", 4), ("x", 5), ("x", 1), ("y", 9)]
    assert inputs["x"].latest == 5
