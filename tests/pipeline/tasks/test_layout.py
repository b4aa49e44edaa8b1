"""Tasks and own topics, from topologies and from what topics there are."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from penstock.pipeline.tasks.layout import REPARTITION_CONFIGS, Layout, TaskId, lay_out, topics_from_outside
from penstock.streams import (
    Grouped,
    JoinWindows,
    Materialized,
    Processor,
    Record,
    Repartitioned,
    SessionWindows,
    Stores,
    StreamsBuilder,
    TimeWindows,
    Topology,
    TopologyError,
)
from penstock.types import TopicPartition
from tests.support.rows import each_row

Make = Callable[[StreamsBuilder], object]
DAY_MS = 24 * 60 * 60 * 1000
SECOND_MS = 1_000


def topology_of(make: Make) -> Topology:
    builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
    make(builder)
    return builder.build()


def laid_out(make: Make, there: Mapping[str, int], **patterns: tuple[str, ...]) -> Layout:
    by_pattern = {f"{name}-.*": topics for name, topics in patterns.items()}
    return lay_out(topology_of(make), "app", there, by_pattern)


def repartitioned(b: StreamsBuilder, topic: str, name: str, partitions: int | None = None) -> Any:
    return b.stream(topic).repartition(Repartitioned(name, number_of_partitions=partitions))


def joined(one: Any, other: Any) -> Any:
    return one.join(other, max, JoinWindows.of_time_difference_with_no_grace(SECOND_MS))


def rekeyed_count(b: StreamsBuilder, topic: str, name: str) -> Any:
    return b.stream(topic).group_by(lambda k, v: v, Grouped(name)).count().to_stream()


# --- numbers of partitions


def told(b: StreamsBuilder) -> None:
    repartitioned(b, "in", "r", 5).to("out")


def of_its_writer(b: StreamsBuilder) -> None:
    repartitioned(b, "in", "r").to("out")


def of_several_writers(b: StreamsBuilder) -> None:
    b.stream("in").merge(b.stream("wide")).repartition(Repartitioned("r")).to("out")


def as_what_it_is_joined_with(b: StreamsBuilder) -> None:
    joined(repartitioned(b, "wide", "r"), b.stream("in")).to("out")


def of_two_that_are_joined(b: StreamsBuilder) -> None:
    joined(repartitioned(b, "in", "r"), repartitioned(b, "wide", "s")).to("out")


def as_the_one_that_is_told(b: StreamsBuilder) -> None:
    joined(repartitioned(b, "in", "r", 5), repartitioned(b, "wide", "s")).to("out")


def chain(b: StreamsBuilder) -> None:
    repartitioned(b, "in", "r", 5).repartition(Repartitioned("s")).repartition(Repartitioned("t")).to("out")


def chain_that_is_added_backwards(b: StreamsBuilder) -> None:
    last = b.stream("in").select_key(lambda k, v: v).group_by_key(Grouped("r")).count().to_stream()
    last.group_by(lambda k, v: v, Grouped("s")).count(Materialized(key_serde="long")).to_stream().to("out")


def joined_twice(b: StreamsBuilder) -> None:
    """What holds of one join holds of the other."""
    stream = repartitioned(b, "wide", "r")
    joined(stream, repartitioned(b, "wide2", "s")).to("out")
    joined(stream, b.stream("in")).to("out2")


@each_row(
    ("make", "there", "expected"),
    [
        (told, {"in": 2}, {"r": 5}),
        (of_its_writer, {"in": 2}, {"r": 2}),
        (of_several_writers, {"in": 2, "wide": 7}, {"r": 7}),
        (as_what_it_is_joined_with, {"in": 2, "wide": 7}, {"r": 2}),
        (of_two_that_are_joined, {"in": 2, "wide": 7}, {"r": 7, "s": 7}),
        (as_the_one_that_is_told, {"in": 2, "wide": 7}, {"r": 5, "s": 5}),
        (chain, {"in": 2}, {"r": 5, "s": 5, "t": 5}),
        (chain_that_is_added_backwards, {"in": 3}, {"r": 3, "s": 3}),
        (joined_twice, {"in": 2, "wide": 7, "wide2": 9}, {"r": 2, "s": 2}),
    ],
    lambda make, there, expected: make.__name__,
)
def test_partitions_of_repartition_topics(
    make: Make, there: dict[str, int], expected: dict[str, int]
) -> None:
    topics = laid_out(make, there).repartition_topics
    assert {each.name: each.partitions for each in topics} == {
        f"app-{name}-repartition": count for name, count in expected.items()
    }
    assert all(each.configs == REPARTITION_CONFIGS for each in topics)


# --- refusals


def unequal(b: StreamsBuilder) -> None:
    joined(b.stream("in"), b.stream("wide"))


def unequal_tables(b: StreamsBuilder) -> None:
    b.table("in").join(b.table("wide"), max)


def told_and_unequal(b: StreamsBuilder) -> None:
    joined(repartitioned(b, "wide", "r", 5), b.stream("in"))


def unequal_through_a_third(b: StreamsBuilder) -> None:
    stream = repartitioned(b, "in", "r")
    joined(stream, b.stream("in2"))
    joined(stream, b.stream("wide"))


def unequal_cogroup(b: StreamsBuilder) -> None:
    one, other = b.stream("in").group_by_key(), b.stream("wide").group_by_key()
    one.cogroup(lambda k, v, total: total).cogroup(other, lambda k, v, total: total).aggregate(lambda: "")


def unequal_by_pattern(b: StreamsBuilder) -> None:
    joined(b.stream(re.compile("some-.*")), b.stream("wide"))


@each_row(
    "make",
    [
        unequal,
        unequal_tables,
        told_and_unequal,
        unequal_through_a_third,
        unequal_cogroup,
        unequal_by_pattern,
    ],
    lambda make: make.__name__,
)
def test_what_is_joined_has_equally_many_partitions(make: Make) -> None:
    there = {"in": 2, "in2": 2, "wide": 7, "some-1": 2}
    with pytest.raises(
        TopologyError, match=r"need the same number of partitions: .* has 2, wide has 7|5"
    ) as no:
        laid_out(make, there, some=("some-1",))
    assert re.fullmatch(r"test_layout\.py:\d+", no.value.place), no.value


def test_a_topic_that_is_not_there_is_told_with_its_reader() -> None:
    with pytest.raises(
        TopologyError, match=r"^test_layout\.py:\d+: topic 'in' is read, and there is no such"
    ):
        laid_out(of_its_writer, {"other": 1})


def test_a_pattern_that_nothing_matches_is_told() -> None:
    with pytest.raises(TopologyError, match=r"^test_layout\.py:\d+: topics that match 'some-\.\*' are read"):
        laid_out(of_a_pattern, {})


def test_two_tasks_never_have_the_positions_of_one_topic() -> None:
    def overlapping(b: StreamsBuilder) -> None:
        b.stream("some-1").to("out")
        b.stream(re.compile("some-.*")).to("out2")

    with pytest.raises(TopologyError, match="topic 'some-1' is read here and by KSTREAM-SOURCE"):
        laid_out(overlapping, {"some-1": 1}, some=("some-1",))


# --- tasks


def test_a_task_reads_what_there_is_of_its_number() -> None:
    layout = laid_out(of_several_writers, {"in": 1, "wide": 3})
    assert layout.tasks == {
        TaskId(0, 0): (TopicPartition("in", 0), TopicPartition("wide", 0)),
        TaskId(0, 1): (TopicPartition("wide", 1),),
        TaskId(0, 2): (TopicPartition("wide", 2),),
        **{TaskId(1, each): (TopicPartition("app-r-repartition", each),) for each in range(3)},
    }
    assert layout.leading_topics == {0: "wide", 1: "app-r-repartition"}
    assert [str(task) for task in layout.tasks][:2] == ["0_0", "0_1"]


def of_a_pattern(b: StreamsBuilder) -> None:
    b.stream(re.compile("some-.*")).group_by_key().count(Materialized("counts")).to_stream().to("out")


def test_topics_of_a_pattern() -> None:
    layout = laid_out(of_a_pattern, {"some-1": 1, "some-2": 2}, some=("some-1", "some-2"))
    assert layout.tasks == {
        TaskId(0, 0): (TopicPartition("some-1", 0), TopicPartition("some-2", 0)),
        TaskId(0, 1): (TopicPartition("some-2", 1),),
    }
    assert [(each.name, each.partitions) for each in layout.changelogs] == [("app-counts-changelog", 2)]


def with_a_global_table(b: StreamsBuilder) -> None:
    table = b.global_table("all", materialized=Materialized("everything"))
    b.stream("in").join(table, max, key_selector=lambda k, v: v).to("out")


def test_global_topics_are_read_whole_and_make_no_tasks() -> None:
    topology = topology_of(with_a_global_table)
    assert topics_from_outside(topology, {}) == {"in", "all"}
    layout = lay_out(topology, "app", {"in": 2, "all": 3})
    assert {task.sub_topology for task in layout.tasks} == {1}
    assert layout.global_inputs == tuple(TopicPartition("all", each) for each in range(3))
    assert not layout.changelogs


def test_internal_topics_are_not_from_outside() -> None:
    assert topics_from_outside(topology_of(chain), {}) == {"in"}
    assert topics_from_outside(topology_of(of_a_pattern), {"some-.*": ("some-1",)}) == {"some-1"}


# --- changelogs, beside what Kafka Streams' internal topics have


class Keeps(Processor):
    def process(self, record: Record) -> None:
        pass


def counted(b: StreamsBuilder) -> None:
    b.stream("in").group_by_key().count(Materialized("s"))


def windowed(b: StreamsBuilder) -> None:
    windows = TimeWindows.of_size_and_grace(20 * SECOND_MS, 10 * SECOND_MS)
    b.stream("in").group_by_key().windowed_by(windows).count(Materialized("s"))


def kept_for_longer(b: StreamsBuilder) -> None:
    windows = TimeWindows.of_size_and_grace(20 * SECOND_MS, 10 * SECOND_MS)
    b.stream("in").group_by_key().windowed_by(windows).count(Materialized("s", retention_ms=7 * DAY_MS))


def sessions(b: StreamsBuilder) -> None:
    windows = SessionWindows.of_inactivity_gap_and_grace(20 * SECOND_MS, 10 * SECOND_MS)
    b.stream("in").group_by_key().windowed_by(windows).count(Materialized("s"))


def kept_for_ever(b: StreamsBuilder) -> None:
    b.add_state_store(Stores.window_store("s", (1 << 63) - 1, SECOND_MS, "string", "string"))
    b.stream("in").process(Keeps, ["s"])


def with_duplicates(b: StreamsBuilder) -> None:
    store = Stores.window_store("s", DAY_MS, SECOND_MS, "string", "string", retain_duplicates=True)
    b.add_state_store(store)
    b.stream("in").process(Keeps, ["s"])


@each_row(
    ("make", "policy", "retention_ms"),
    [
        (counted, "compact", None),
        (windowed, "compact,delete", 30 * SECOND_MS + DAY_MS),
        (kept_for_longer, "compact,delete", 8 * DAY_MS),
        (sessions, "compact,delete", 30 * SECOND_MS + DAY_MS),
        (kept_for_ever, "compact,delete", (1 << 63) - 1),
        (with_duplicates, "delete", 2 * DAY_MS),
    ],
    lambda make, policy, retention: make.__name__,
)
def test_configs_of_changelogs(make: Make, policy: str, retention_ms: int | None) -> None:
    (changelog,) = laid_out(make, {"in": 3}).changelogs
    assert (changelog.name, changelog.partitions) == ("app-s-changelog", 3)
    kept = {} if retention_ms is None else {"retention.ms": str(retention_ms)}
    assert changelog.configs == {
        "cleanup.policy": policy,
        "message.timestamp.type": "CreateTime",
        **kept,
    }


def test_rows_of_stream_joins_are_all_different() -> None:
    layout = laid_out(lambda b: joined(b.stream("in"), b.stream("in2")), {"in": 2, "in2": 2})
    assert {each.configs["cleanup.policy"] for each in layout.changelogs} == {"delete"}


def test_a_store_without_a_log_has_no_changelog() -> None:
    def unlogged(b: StreamsBuilder) -> None:
        b.stream("in").group_by_key().count(Materialized("s", logging_enabled=False))

    assert not laid_out(unlogged, {"in": 3}).changelogs
