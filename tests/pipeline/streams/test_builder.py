"""What is wrong with a program is said with its place in the user's file; a topology can be built more than once."""

import re
from collections.abc import Callable
from inspect import currentframe
from typing import Any

import pytest

from penstock.streams import (
    BufferConfig,
    Consumed,
    Grouped,
    JoinWindows,
    Materialized,
    Processor,
    Produced,
    Record,
    SessionWindows,
    Stores,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
    TopologyError,
    TopologyTestDriver,
)

STRINGS = Consumed("string", "string")
FINAL = Suppressed.until_window_closes(BufferConfig.unbounded())


class Forwards(Processor):
    def process(self, record: Record) -> None:
        self.context.forward(record)


def line() -> int:
    frame = currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def refused(builder: StreamsBuilder, place: str, message: str) -> None:
    with pytest.raises(TopologyError, match=re.escape(message)) as refusal:
        builder.build()
    assert str(refusal.value).startswith(place)


def test_two_steps_of_one_name() -> None:
    builder = StreamsBuilder()
    stream = builder.stream("in", STRINGS)
    stream.filter(lambda k, v: v, name="same")
    stream.map_values(str, name="same")
    first, second = (f"test_builder.py:{line() - back}" for back in (2, 1))
    refused(builder, f"{second}: ", f"two processors are called 'same', which is taken at {first}")


def test_two_stores_of_one_name() -> None:
    builder = StreamsBuilder()
    builder.stream("in", STRINGS).group_by_key().count(Materialized("rows"))
    builder.stream("other", STRINGS).group_by_key().reduce(lambda a, b: b, Materialized("rows"))
    refused(builder, "test_builder.py:", "two different stores are called 'rows'")


def test_a_store_that_is_not_there() -> None:
    builder = StreamsBuilder()
    builder.add_state_store(Stores.key_value_store("visits", "string", "long"))
    builder.stream("in", STRINGS).process(Forwards, ["vists"])
    refused(builder, "test_builder.py:", "uses the store 'vists', which is not there (stores: visits)")


def test_a_serde_that_nobody_named() -> None:
    builder = StreamsBuilder()
    builder.stream("in", STRINGS).map_values(len).to("out")
    refused(builder, "test_builder.py:", "the sink of out: the serde of its values is unknown here")


def test_a_serde_that_does_not_exist() -> None:
    with pytest.raises(TopologyError, match=r"test_builder.py:\d+: .*'sting'.*did you mean string"):
        StreamsBuilder().stream("in", Consumed("sting", "string"))


def test_a_topic_that_is_read_twice() -> None:
    builder = StreamsBuilder()
    builder.stream("in", STRINGS)
    builder.table("in", STRINGS)
    refused(builder, "test_builder.py:", "topic 'in' is read twice")


def test_topics_that_overlap() -> None:
    builder = StreamsBuilder()
    builder.stream(["in", "other"], STRINGS)
    with pytest.raises(TopologyError, match=r"topic 'in' is read here and at test_builder\.py:"):
        builder.stream("in", STRINGS)


def test_a_name_with_letters_that_topics_do_not_have() -> None:
    with pytest.raises(TopologyError, match="the name 'a b'"):
        StreamsBuilder().stream("in", STRINGS).filter(lambda k, v: v, name="a b")


def test_an_empty_topology() -> None:
    refused(StreamsBuilder(), "test_builder.py:", "nothing is read")


GAP = SessionWindows.of_inactivity_gap_with_no_grace(5)
WRONG: list[tuple[Callable[[StreamsBuilder], Any], str]] = [
    (lambda b: b.stream("in").join(b.stream("other"), max), "windows are missing"),
    (lambda b: b.stream("in").join(b.global_table("all"), max), "key_selector is missing"),
    (
        lambda b: b.stream("in").group_by_key().windowed_by(GAP).aggregate(list, lambda k, v, a: a),
        "merger is missing",
    ),
    (lambda b: b.table("in").suppress(FINAL), "only windows can close"),
]


@pytest.mark.parametrize(("make", "message"), WRONG)
def test_what_a_step_lacks(make: Callable[[StreamsBuilder], Any], message: str) -> None:
    builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    with pytest.raises(TopologyError, match=rf"test_builder.py:\d+: .*{message}"):
        make(builder)


def test_a_store_that_forgets_windows_too_early() -> None:
    builder = StreamsBuilder()
    windows = TimeWindows.of_size_and_grace(60_000, 5_000)
    grouped = builder.stream("in", STRINGS).group_by_key()
    grouped.windowed_by(windows).count(Materialized("counts", retention_ms=60_000))
    refused(builder, "test_builder.py:", "got a retention of 60000 ms; takes at least 65000")


def test_a_topology_is_built_again_with_what_was_added() -> None:
    builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    stream = builder.stream("in")
    stream.to("out")
    first = builder.build()
    stream.to("out2")
    assert len(builder.build().nodes) == len(first.nodes) + 1
    assert "-->" in first.describe()
    assert first.describe() != builder.build().describe()


def test_internal_topics_have_the_names_of_kafka_streams() -> None:
    builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    stream = builder.stream("in").select_key(lambda k, v: v)
    stream.group_by_key().count()
    stream.group_by_key(Grouped("by-word")).count(Materialized("words"))
    topology = builder.build()
    assert set(topology.repartition_topics("app")) == {
        "app-KSTREAM-AGGREGATE-STATE-STORE-0000000002-repartition",
        "app-by-word-repartition",
    }
    assert set(topology.changelogs("app")) == {
        "app-KSTREAM-AGGREGATE-STATE-STORE-0000000002-changelog",
        "app-words-changelog",
    }


def test_what_must_be_partitioned_alike() -> None:
    builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    windows = JoinWindows.of_time_difference_with_no_grace(5)
    builder.stream("in").join(builder.stream("other"), max, windows).to("out")
    assert builder.build().copartitioned == (frozenset({"in", "other"}),)


def test_a_model_as_a_serde() -> None:
    from dataclasses import dataclass

    @dataclass
    class Order:
        customer: str
        cups: int

    builder = StreamsBuilder()
    orders = builder.stream("orders", Consumed("string", Order))
    orders.map_values(lambda order: order.cups).to("cups", Produced("string", "long"))
    with TopologyTestDriver(builder.build()) as driver:
        driver.create_input_topic("orders", "string", "json").pipe_input("a", {"customer": "ann", "cups": 3})
        assert driver.create_output_topic("cups", "string", "long").read_value() == 3
