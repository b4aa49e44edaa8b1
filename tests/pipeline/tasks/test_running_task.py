"""One task: which records it processes when, where it stands, and what becomes of records of no use."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from penstock.client.librdkafka import TIMESTAMP_CREATE_TIME, Message
from penstock.pipeline.operators.task import InvalidTimestampError
from penstock.pipeline.tasks.layout import TaskId
from penstock.pipeline.tasks.running_task import LONGEST_HEADER, LONGEST_NOTE, RunningTask
from penstock.pipeline.tasks.settings import StreamsSettings
from penstock.streams import Consumed, StreamsBuilder
from penstock.types import TopicPartition
from penstock.wire_client.errors import SerializationError

Make = Callable[[StreamsBuilder], object]
DEAD = "errors.dead.letter.queue.topic.name"
DESERIALIZATION, PROCESSING = "deserialization.exception.handler", "processing.exception.handler"
BAD = b"\xff"


class Running:
    """A task of sub-topology 0 and partition 3, with what it has made and put aside."""

    def __init__(self, make: Make, *topics: str, **settings: Any) -> None:
        builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
        make(builder)
        self.aside: list[tuple[Any, ...]] = []
        self.inputs = [TopicPartition(topic, 3) for topic in topics]
        configs = {name.replace("_", "."): value for name, value in settings.items()}
        self.task = RunningTask(
            TaskId(0, 3),
            self.inputs,
            builder.build(),
            "app",
            StreamsSettings.from_configs(configs),
            {},
            {},
            0,
            lambda *record: self.aside.append(record),
        )
        self.task.task.start()
        self.task.positions = dict.fromkeys(self.inputs, 0)
        self.next_offsets = dict.fromkeys(topics, 0)
        self.now_ms = 0

    def take(self, topic: str, *values: bytes | tuple[bytes, int]) -> None:
        messages = []
        for given in values:
            value, timestamp = given if isinstance(given, tuple) else (given, 5)
            offset = self.next_offsets[topic]
            self.next_offsets[topic] = offset + 1
            messages.append(message(topic, offset, value, timestamp))
        self.task.take(TopicPartition(topic, 3), messages, self.now_ms)

    def process(self, *at_end: str) -> list[Any]:
        """What is made meanwhile."""
        self.task.process(self.now_ms, {TopicPartition(topic, 3) for topic in at_end})
        return self.made()

    def made(self) -> list[Any]:
        return [(each.value or b"").decode() for each in self.task.task.take_produced()]

    @property
    def positions(self) -> dict[str, int]:
        return {where.topic: offset for where, offset in self.task.positions.items()}


def message(topic: str, offset: int, value: bytes | None, timestamp: int = 5) -> Message:
    return Message(
        topic=topic,
        partition=3,
        offset=offset,
        key=b"k",
        value=value,
        headers=[("h", b"1")],
        timestamp=(TIMESTAMP_CREATE_TIME, timestamp),
    )


def shouted(b: StreamsBuilder) -> None:
    """Takes slices."""
    b.stream("in").map_values(str.upper).to("out")


def merged(b: StreamsBuilder) -> None:
    """Takes records one by one."""
    b.stream("in").merge(b.stream("in2")).to("out")


def counted_down(b: StreamsBuilder) -> None:
    b.stream("in").map_values(int).map_values(lambda v: str(10 // v)).to("out")


# --- records that can't be read


@pytest.mark.parametrize("make", [shouted, merged])
def test_a_record_that_cannot_be_read_ends_the_program(make: Make) -> None:
    running = Running(make, *(("in",) if make is shouted else ("in", "in2")))
    with pytest.raises(SerializationError) as failure:
        running.take("in", b"fine", BAD)
    assert failure.value.__notes__ == ["This was the record at offset 1 of topic in."]
    assert running.positions["in"] == 0


@pytest.mark.parametrize("make", [shouted, merged])
def test_or_the_program_goes_on_without_it(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    topics = ("in",) if make is shouted else ("in", "in2")
    running = Running(make, *topics, **{DESERIALIZATION: "continue"})
    with caplog.at_level(logging.WARNING, "penstock.streams"):
        running.take("in", BAD, b"fine", BAD, b"good", BAD)
        assert [each.upper() for each in running.process("in2")] in (["FINE", "GOOD"], [])
    assert running.positions["in"] == 5
    assert running.task.skipped == {"deserialization": 3}
    assert "task 0_3 goes on without the record at offset 0 of in-3: " in caplog.messages[0]
    assert running.aside == []


@pytest.mark.parametrize("make", [shouted, merged])
def test_what_cannot_be_read_goes_into_the_dead_letter_topic(make: Make) -> None:
    topics = ("in",) if make is shouted else ("in", "in2")
    running = Running(make, *topics, **{DESERIALIZATION: "continue", DEAD: "dead"})
    running.take("in", b"fine", (BAD, 77))
    running.process("in2")
    ((topic, key, value, timestamp, headers),) = running.aside
    assert (topic, key, value, timestamp) == ("dead", b"k", BAD, 77)
    told = {name.removeprefix("__streams.errors."): text.decode() for name, text in headers}
    assert told["message"].startswith("topic in: cannot read the value") or "value" in told["message"]
    assert told.pop("stacktrace").startswith("Traceback (most recent call last):\n")
    assert told.pop("message")
    assert told == {"exception": "SerializationError", "topic": "in", "partition": "3", "offset": "1"}


def test_a_dead_letter_is_written_with_the_position_behind_its_record() -> None:
    """Else a task that begins anew would write it again."""
    running = Running(merged, "in", "in2", **{DESERIALIZATION: "continue", DEAD: "dead"})
    running.take("in", (b"1", 10), BAD, (b"2", 30))
    assert running.aside == []
    running.take("in2", (b"3", 20))
    assert running.process() == ["1", "3"]
    assert (running.positions, len(running.aside)) == ({"in": 1, "in2": 1}, 0)
    assert running.process("in2") == ["2"]
    assert (running.positions, len(running.aside)) == ({"in": 3, "in2": 1}, 1)


def test_what_an_error_says_of_a_large_record_does_not_make_it_larger() -> None:
    def refused(b: StreamsBuilder) -> None:
        b.stream("in", Consumed(timestamp_extractor=refuse)).to("out")

    def refuse(key: str, value: str, timestamp: int, latest: int) -> int:
        raise ValueError(f"\udc80{value * 10}")

    running = Running(refused, "in", **{DESERIALIZATION: "continue", DEAD: "dead"})
    running.take("in", b"x" * LONGEST_HEADER)
    headers = dict(running.aside[0][-1])
    assert headers["__streams.errors.message"].startswith(b"\\udc80xxx")
    assert all(len(text) < LONGEST_HEADER + 100 for text in headers.values())


def test_a_record_without_a_time_is_never_passed_over() -> None:
    running = Running(shouted, "in", **{DESERIALIZATION: "continue"})
    with pytest.raises(InvalidTimestampError, match="topic in, offset 0"):
        running.take("in", (b"fine", -1))


def test_an_extractor_that_raises_is_told_with_its_place() -> None:
    def divided(b: StreamsBuilder) -> None:
        b.stream("in", Consumed(timestamp_extractor=lambda k, v, own, latest: 1 // 0)).to("out")

    with pytest.raises(ZeroDivisionError) as failure:
        Running(divided, "in").take("in", b"fine")
    (note,) = failure.value.__notes__
    assert note.startswith(
        "This was the timestamp extractor of KSTREAM-SOURCE-0000000000 (test_running_task.py:"
    )
    assert note.endswith("with the record at offset 0 of topic in.")


# --- records that the program raises for


def test_a_program_that_raises_ends_with_step_place_and_record() -> None:
    running = Running(counted_down, "in", **{PROCESSING: "fail"})
    with pytest.raises(ZeroDivisionError) as failure:
        running.take("in", b"5", b"0")
    (note,) = failure.value.__notes__
    assert note.startswith("This was in KSTREAM-MAPVALUES-0000000002 (test_running_task.py:")
    assert note.endswith("with one of 2 records of topic in.")
    assert running.positions["in"] == 0


def test_or_goes_on_without_the_record(caplog: pytest.LogCaptureFixture) -> None:
    running = Running(counted_down, "in", **{PROCESSING: "continue"})
    running.take("in", b"5", b"0", b"2", b"none", b"1")
    with caplog.at_level(logging.WARNING, "penstock.streams"):
        assert running.process() == ["2", "5", "10"]
    assert running.task.skipped == {"processing": 2}
    assert running.positions["in"] == 5
    assert "task 0_3 goes on without the record at offset 1 of in-3: " in caplog.messages[0]
    assert running.aside == []


def test_what_it_raised_for_goes_into_the_dead_letter_topic() -> None:
    running = Running(counted_down, "in", **{PROCESSING: "continue", DEAD: "dead"})
    running.take("in", b"5", (b"0", 77), b"2")
    assert running.process() == ["2", "5"]
    ((topic, key, value, timestamp, headers),) = running.aside
    assert (topic, key, value, timestamp) == ("dead", b"k", b"0", 77)
    told = dict(headers)
    assert told["__streams.errors.exception"] == b"ZeroDivisionError"
    assert told["__streams.errors.offset"] == b"1"
    assert b"KSTREAM-MAPVALUES-0000000002" in told["__streams.errors.stacktrace"]


# --- the order of inputs, and positions


def test_records_of_several_inputs_are_in_the_order_of_their_times() -> None:
    running = Running(merged, "in", "in2")
    running.take("in", (b"1", 10), (b"4", 40))
    assert running.process() == []
    assert running.positions == {"in": 0, "in2": 0}
    running.take("in2", (b"2", 20), (b"3", 30))
    assert running.process() == ["1", "2", "3"]
    assert running.positions == {"in": 1, "in2": 2}
    assert running.process("in") == []
    assert running.process("in2") == ["4"]
    assert running.positions == {"in": 2, "in2": 2}


def test_an_input_that_has_nothing_is_waited_for() -> None:
    running = Running(merged, "in", "in2", max_task_idle_ms=100)
    running.take("in", (b"1", 10))
    assert running.process("in2") == []
    running.now_ms = 99
    assert running.process("in2") == []
    running.take("in2", (b"0", 5))
    assert running.process() == ["0"]
    running.now_ms = 150
    assert running.process("in2") == []
    running.now_ms = 250
    assert running.process("in2") == ["1"]


def test_records_that_are_dropped_are_behind_its_position() -> None:
    def extracted(b: StreamsBuilder) -> None:
        consumed = Consumed(timestamp_extractor=lambda k, v, own, latest: int(v))
        b.stream("in", consumed).merge(b.stream("in2")).to("out")

    running = Running(extracted, "in", "in2", **{PROCESSING: "continue", DEAD: "dead"})
    running.take("in", b"-1", b"7", b"-1")
    assert running.positions["in"] == 0
    assert running.process("in2") == ["7"]
    assert running.positions["in"] == 3
    running.take("in", b"-1")
    assert running.positions["in"] == 4
    assert running.task._raw == {}


def test_too_much_that_waits_is_held_back() -> None:
    running = Running(merged, "in", "in2", buffered_records_per_partition=3, **{DESERIALIZATION: "continue"})
    running.take("in", b"1", b"2")
    assert running.task.too_much_waits() == []
    running.take("in", BAD)
    assert running.task.too_much_waits() == [TopicPartition("in", 3)]
    running.process("in2")
    assert running.task.too_much_waits() == []


def test_an_input_that_this_number_has_not_is_not_waited_for() -> None:
    running = Running(merged, "in")
    running.take("in", b"1")
    assert running.process() == ["1"]


@pytest.mark.parametrize(
    ("own", "general", "begins"),
    [
        (None, "earliest", "earliest"),
        (None, "latest", "latest"),
        ("latest", "earliest", "latest"),
        ("earliest", "latest", "earliest"),
        ("none", "latest", "none"),
    ],
)
def test_where_a_source_begins(own: Any, general: str, begins: str) -> None:
    def reset(b: StreamsBuilder) -> None:
        b.stream("app-in", Consumed(offset_reset=own)).to("out")

    assert Running(reset, "app-in", auto_offset_reset=general).task.offset_reset("app-in") == begins


# --- notes


def test_notes_are_beside_the_first_position() -> None:
    running = Running(merged, "in", "in2")
    running.take("in", (b"1", 10))
    running.process("in2")
    noted = running.task.noted()
    assert noted == {
        TopicPartition("in", 3): (1, '{"stream time":[10]}'),
        TopicPartition("in2", 3): (0, ""),
    }
    again = Running(merged, "in", "in2")
    again.task.recall([note for _, note in reversed(noted.values())])
    assert again.task.task.context.stream_time == 10


@pytest.mark.parametrize("note", ["", "{", "of another tool", "[1]", "null", "5"])
def test_notes_of_others_are_of_no_use(note: str) -> None:
    running = Running(merged, "in", "in2")
    running.task.recall([note, '{"stream time":[7]}'])
    assert running.task.task.context.stream_time == 7


def test_notes_that_are_too_long_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    running = Running(merged, "in", "in2")
    for number in range(LONGEST_NOTE // 10):
        running.task.task.context.clock(f"of a join {number}")
    with caplog.at_level(logging.WARNING, "penstock.streams"):
        noted = running.task.noted()
    assert {note for _, note in noted.values()} == {""}
    assert "task 0_3 has more to remember than fits" in caplog.text
