"""Several steps with state after one another."""

from typing import Any

from penstock.streams import (
    Branched,
    BufferConfig,
    Grouped,
    Joined,
    KTable,
    Materialized,
    Produced,
    Repartitioned,
    StreamJoined,
    StreamsBuilder,
    Suppressed,
)
from tests.pipeline.streams.beside_java import added, both, is_low, joined, taken, topology
from tests.pipeline.streams.beside_java.joins import ASYMMETRIC, WINDOWS, by, digit
from tests.pipeline.streams.beside_java.windows import FINAL, HOPPING, SESSIONS, grouped

STRINGS = Grouped(None, "string", "string")
TEXTS = Materialized(None, "string", "string")


def held(wait_ms: int) -> Suppressed:
    return Suppressed.until_time_limit(wait_ms, BufferConfig.unbounded())


def summed(table: KTable[Any, Any]) -> KTable[Any, Any]:
    by_last_letter = table.group_by(lambda k, v: (v[-1:], k + v), STRINGS)
    return by_last_letter.aggregate(lambda: "=", added, taken)


def out(table: KTable[Any, Any]) -> None:
    table.to_stream().to("out")


@topology
def suppressed_join(b: StreamsBuilder) -> None:
    out(b.table("in").suppress(held(400)).left_join(b.table("other"), both))


@topology
def suppressed_lookup(b: StreamsBuilder) -> None:
    b.stream("other").join(b.table("in").suppress(held(2000)), both).to("out")


@topology
def join_of_suppressed(b: StreamsBuilder) -> None:
    out(b.table("in").outer_join(b.table("other").suppress(held(300)), both))


@topology
def session_suppressed_regrouped(b: StreamsBuilder) -> None:
    final = grouped(b).windowed_by(SESSIONS).count().suppress(FINAL)
    by_key = final.group_by(lambda windowed, n: (windowed.key, str(n)), STRINGS)
    out(by_key.aggregate(lambda: "=", added, taken))


@topology
def filter_stored_summed(b: StreamsBuilder) -> None:
    out(summed(b.table("in").filter(is_low, Materialized("low"))))


@topology
def filter_of_filter_summed(b: StreamsBuilder) -> None:
    low = b.table("in").filter(is_low).filter(lambda k, v: v != "2", Materialized("low"))
    out(summed(low.filter_not(lambda k, v: v == "3")))


@topology
def join_stored_summed(b: StreamsBuilder) -> None:
    out(summed(b.table("in").join(b.table("other"), both, Materialized("joined"))))


@topology
def left_join_stored_summed(b: StreamsBuilder) -> None:
    both_sides = b.table("in").left_join(b.table("other"), both, Materialized("joined"))
    out(summed(both_sides.filter(lambda k, v: not v.startswith("1"))))


@topology
def join_chain_summed(b: StreamsBuilder) -> None:
    chain = b.table("in").left_join(b.table("other"), both).outer_join(b.table("global"), both)
    out(summed(chain.map_values(lambda v: v + "9")))


@topology
def join_of_joins(b: StreamsBuilder) -> None:
    one, other = b.table("in"), b.table("other")
    out(one.join(other, both).left_join(other.outer_join(one, both), both))


@topology
def foreign_key_of_counts(b: StreamsBuilder) -> None:
    counts = b.stream("in").group_by_key().count()
    letters = counts.map_values(lambda n: "a" if n % 2 == 0 else "b", TEXTS)
    out(letters.join(b.table("other"), both, foreign_key=lambda v: v))


@topology
def foreign_key_self_join(b: StreamsBuilder) -> None:
    one = b.table("in")
    out(one.left_join(one, both, foreign_key=digit))


@topology
def foreign_key_twice(b: StreamsBuilder) -> None:
    once = b.table("in").join(b.table("other"), both, TEXTS, foreign_key=digit)
    out(once.left_join(b.table("global"), both, foreign_key=lambda v: digit(v[-1])))


@topology
def stream_join_then_table_join(b: StreamsBuilder) -> None:
    met = b.stream("in").join(b.stream("other"), both, WINDOWS)
    met.left_join(b.table("global"), both).to("out")


@topology
def stream_join_of_joined(b: StreamsBuilder) -> None:
    one = b.stream("in")
    one.left_join(b.stream("other"), both, WINDOWS).join(one, both, ASYMMETRIC).to("out")


@topology
def merged_repartitioned_count(b: StreamsBuilder) -> None:
    out(by(b.stream("in")).merge(b.stream("other")).group_by_key().count())


@topology
def two_table_joins_of_repartitioned(b: StreamsBuilder) -> None:
    one = by(b.stream("in"))
    one.join(b.table("other"), both).to("out")
    one.left_join(b.table("global"), both).to("out2")


@topology
def repartitioned_stream_join(b: StreamsBuilder) -> None:
    one = by(b.stream("in")).repartition(Repartitioned("by-digit"))
    one.outer_join(b.stream("other"), both, WINDOWS, StreamJoined(store_name="stored")).to("out")


@topology
def tables_of_streams_joined(b: StreamsBuilder) -> None:
    one = b.stream("in").to_table()
    out(one.join(b.stream("other").filter(is_low).to_table(), both))


@topology
def table_of_counts(b: StreamsBuilder) -> None:
    counts = b.stream("in").group_by_key().count().to_stream().map_values(str)
    out(summed(counts.to_table(TEXTS, "tabled")))


@topology
def branched_merged_counted(b: StreamsBuilder) -> None:
    split = b.stream("in").split("s-")
    split.branch(is_low, Branched("low", lambda stream: stream.map_values(lambda v: v + "low")))
    branches = split.default_branch(Branched("high"))
    out(branches["s-low"].merge(branches["s-high"]).group_by(lambda k, v: v, STRINGS).count())


@topology
def windowed_counts_joined(b: StreamsBuilder) -> None:
    counts = grouped(b).windowed_by(HOPPING).count().to_stream(lambda windowed, n: windowed.key)
    counts.map_values(str).join(b.table("other"), both).to("out")


@topology
def counts_joined(b: StreamsBuilder) -> None:
    one, other = b.stream("in").group_by_key().count(), b.stream("other").group_by_key().count()
    one.outer_join(other, both).to_stream().to("out", Produced(value_serde="string"))


@topology
def counts_joined_summed(b: StreamsBuilder) -> None:
    one, other = b.stream("in").group_by_key().count(), b.stream("other").group_by_key().count()
    out(summed(one.left_join(other, both)))


@topology
def cogroup_summed(b: StreamsBuilder) -> None:
    together = b.stream("in").group_by_key().cogroup(joined)
    together = together.cogroup(b.stream("other").group_by_key(), joined)
    out(summed(together.aggregate(lambda: "=", TEXTS).filter(lambda k, v: len(v) > 2)))


@topology
def regrouped_twice(b: StreamsBuilder) -> None:
    out(summed(summed(b.table("in"))))


@topology
def reduce_joined_with_stream(b: StreamsBuilder) -> None:
    one = b.stream("in")
    latest = one.group_by_key().reduce(lambda old, new: new, Materialized("latest")).filter_not(is_low)
    b.stream("other").left_join(latest, both, joined=Joined(name="looking-up")).to("out")
    one.join(latest, both).to("out2")


@topology
def global_and_table_join(b: StreamsBuilder) -> None:
    one = b.stream("in").left_join(b.global_table("global"), both, key_selector=lambda k, v: v)
    one.join(b.table("other"), both).to("out")


@topology
def global_join_of_repartitioned(b: StreamsBuilder) -> None:
    one = by(b.stream("in")).join(b.global_table("global"), both, key_selector=lambda k, v: k)
    out(one.group_by_key().reduce(lambda old, new: new))
