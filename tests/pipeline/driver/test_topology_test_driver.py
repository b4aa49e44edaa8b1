"""What a test of a program can do, and what it is told if it asks for what is not there."""

import re

import pytest

from penstock.errors import ConfigError
from penstock.streams import (
    BufferConfig,
    BufferFullError,
    Consumed,
    EmptyTopicError,
    Materialized,
    Processor,
    ProcessorContext,
    Produced,
    PunctuationType,
    Record,
    SessionWindows,
    Stores,
    StreamsBuilder,
    Suppressed,
    TestRecord,
    TimeWindows,
    Topology,
    TopologyTestDriver,
    Window,
    Windowed,
)


def counting() -> Topology:
    builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    counts = builder.stream("in").group_by_key().count(Materialized("counts"))
    counts.to_stream().to("out")
    return builder.build()


def test_records_carry_time_and_headers() -> None:
    with TopologyTestDriver(counting(), initial_wall_clock_time_ms=5_000) as driver:
        topic = driver.create_input_topic("in", "string", "string", auto_advance_ms=10)
        out = driver.create_output_topic("out", "string", "long")
        topic.pipe_input("a", "x")
        topic.pipe_input("a", "y", headers=(("trace", b"1"),))
        topic.pipe_input("b", "z", timestamp_ms=7)
        topic.advance_time(1_000)
        topic.pipe_records([TestRecord("b", "w", 8)])
        topic.pipe_key_values([("c", "v")])
        assert out.read_records_to_list() == [
            TestRecord("a", 1, 5_000),
            TestRecord("a", 2, 5_010, (("trace", b"1"),)),
            TestRecord("b", 1, 7),
            TestRecord("b", 2, 8),
            TestRecord("c", 1, 6_020),
        ]
        assert out.is_empty


def test_what_was_dropped_is_counted() -> None:
    with TopologyTestDriver(counting()) as driver:
        topic = driver.create_input_topic("in", "string", "string")
        topic.pipe_values(["nobody's"])
        topic.pipe_input("a", None)
        assert driver.dropped_records == {"KSTREAM-AGGREGATE-0000000001": 2}


def test_what_is_not_there() -> None:
    with TopologyTestDriver(counting()) as driver:
        with pytest.raises(ConfigError, match="topic 'inn' is none that the topology reads: in"):
            driver.create_input_topic("inn", "string", "string").pipe_input("a", "b")
        with pytest.raises(EmptyTopicError, match="topic out has no record left"):
            driver.create_output_topic("out", "string", "long").read_value()
        with pytest.raises(ConfigError, match="there is no store 'count'; stores: counts"):
            driver.get_key_value_store("count")
        with pytest.raises(ConfigError, match="store 'counts' is no WindowStore"):
            driver.get_window_store("counts")


def test_stores_can_be_read_and_written() -> None:
    with TopologyTestDriver(counting()) as driver:
        topic = driver.create_input_topic("in", "string", "string")
        store = driver.get_key_value_store("counts")
        store.put("a", (41, 3))
        topic.pipe_input("a", "x", 7)
        topic.pipe_input("b", "x", 8)
        assert store.get("a") == (42, 7)
        assert list(store.all()) == [("a", (42, 7)), ("b", (1, 8))]
        assert [key for key, _ in store.range("b")] == ["b"]
        assert store.approximate_num_entries() == 2
        assert store.delete("a") == (42, 7)
        assert store.get("a") is None


def test_stores_of_windows_and_sessions() -> None:
    builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    grouped = builder.stream("in").group_by_key()
    grouped.windowed_by(TimeWindows.of_size_with_no_grace(10)).count(Materialized("windows"))
    grouped.windowed_by(SessionWindows.of_inactivity_gap_with_no_grace(10)).count(Materialized("sessions"))
    with TopologyTestDriver(builder.build()) as driver:
        topic = driver.create_input_topic("in", "string", "string")
        for timestamp in (3, 12, 15, 40):
            topic.pipe_input("a", "x", timestamp)
        windows = driver.get_window_store("windows")
        assert windows.fetch("a", 10) is None, "it is older than what the store keeps"
        assert list(windows.fetch("a", 0, 100)) == [(40, (1, 40))]
        assert list(windows.all()) == [(Windowed("a", Window(40, 50)), (1, 40))]
        sessions = driver.get_session_store("sessions")
        assert list(sessions.fetch("a")) == [(Windowed("a", Window(40, 40)), 1)]


def test_topics_by_a_pattern() -> None:
    builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    builder.stream(re.compile("orders-.*")).to(lambda key, value: f"of-{key}")
    with TopologyTestDriver(builder.build()) as driver:
        for region in ("east", "west"):
            driver.create_input_topic(f"orders-{region}", "string", "string").pipe_input(region, "1")
        assert driver.produced_topic_names == {"of-east", "of-west"}


def test_a_strict_buffer_that_is_full_ends_the_program() -> None:
    builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    strict = BufferConfig.of_max_records(1).shut_down_when_full()
    builder.table("in").suppress(Suppressed.until_time_limit(100, strict)).to_stream().to("out")
    with TopologyTestDriver(builder.build()) as driver:
        topic = driver.create_input_topic("in", "string", "string")
        topic.pipe_input("a", "1", 0)
        with pytest.raises(BufferFullError, match="2 of 1 records"):
            topic.pipe_input("b", "1", 0)


class Reminder(Processor):
    """Says once, some time after the first record of a key, that it came."""

    stores = (Stores.key_value_store("first", "string", "long"),)

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.first = context.get_state_store("first")
        self.schedule = context.schedule(100, PunctuationType.WALL_CLOCK_TIME, self.remind)

    def process(self, record: Record) -> None:
        self.first.put_if_absent(record.key, record.timestamp)

    def remind(self, now: int) -> None:
        for key, since in self.first.all():
            self.context.forward(Record(key, now - since, now))
        self.schedule.cancel()


def test_a_processor_brings_its_store_and_ends_its_schedule() -> None:
    builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    builder.stream("in", Consumed("string", "string")).process(Reminder).to("out", Produced("string", "long"))
    with TopologyTestDriver(builder.build()) as driver:
        driver.create_input_topic("in", "string", "string").pipe_input("a", "x", 20)
        out = driver.create_output_topic("out", "string", "long")
        driver.advance_wall_clock_time(99)
        assert out.is_empty
        driver.advance_wall_clock_time(250)
        driver.advance_wall_clock_time(250)
        assert out.read_records_to_list() == [TestRecord("a", 329, 349)]
