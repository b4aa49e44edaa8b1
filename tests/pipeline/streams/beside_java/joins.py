"""Joins of all kinds."""

from typing import Any

from penstock.streams import (
    Grouped,
    Joined,
    JoinWindows,
    KStream,
    Materialized,
    Produced,
    StreamJoined,
    StreamsBuilder,
    TableJoined,
)
from tests.pipeline.streams.beside_java import added, both, is_low, taken, three, topology

WINDOWS = JoinWindows.of_time_difference_and_grace(300, 500)
ASYMMETRIC = JoinWindows.of_time_difference_and_grace(100, 200).before(50).after(800)
ONLY_BEFORE = JoinWindows.of_time_difference_with_no_grace(400).after(0)
STRINGS = Joined("string", "string")


def digit(value: str) -> str | None:
    return None if value > "8" else "a" if value > "4" else "b"


def by(stream: KStream[Any, Any]) -> KStream[Any, Any]:
    return stream.select_key(lambda k, v: None if v is None else digit(v))


def first_letter(_key: str, value: str) -> tuple[str, str]:
    return value[:1], value


@topology
def stream_join(b: StreamsBuilder) -> None:
    b.stream("in").join(b.stream("other"), both, WINDOWS).to("out")


@topology
def stream_left_join(b: StreamsBuilder) -> None:
    b.stream("in").left_join(b.stream("other"), both, WINDOWS).to("out")


@topology
def stream_outer_join(b: StreamsBuilder) -> None:
    b.stream("in").outer_join(b.stream("other"), both, WINDOWS).to("out")


@topology
def stream_join_asymmetric(b: StreamsBuilder) -> None:
    b.stream("in").join(b.stream("other"), both, ASYMMETRIC).to("out")


@topology
def stream_left_join_asymmetric(b: StreamsBuilder) -> None:
    b.stream("in").left_join(b.stream("other"), both, ASYMMETRIC).to("out")


@topology
def stream_outer_join_asymmetric(b: StreamsBuilder) -> None:
    b.stream("in").outer_join(b.stream("other"), three, ASYMMETRIC, with_key=True).to("out")


@topology
def stream_outer_join_before(b: StreamsBuilder) -> None:
    b.stream("in").outer_join(b.stream("other"), both, ONLY_BEFORE).to("out")


@topology
def stream_join_repartitioned(b: StreamsBuilder) -> None:
    by(b.stream("in")).join(by(b.stream("other")), both, WINDOWS).to("out")


@topology
def stream_left_join_repartitioned(b: StreamsBuilder) -> None:
    by(b.stream("in")).left_join(b.stream("other"), both, WINDOWS).to("out")


@topology
def stream_join_named(b: StreamsBuilder) -> None:
    names = StreamJoined(name="meeting", store_name="kept")
    by(b.stream("in")).outer_join(by(b.stream("other")), both, WINDOWS, names).to("out")


@topology
def stream_self_join(b: StreamsBuilder) -> None:
    source = b.stream("in")
    source.join(source, both, WINDOWS).to("out")


@topology
def stream_join_twice(b: StreamsBuilder) -> None:
    one, other = by(b.stream("in")), b.stream("other")
    one.join(other, both, WINDOWS).to("out")
    one.left_join(other, both, ASYMMETRIC).to("out2")


@topology
def stream_join_counted(b: StreamsBuilder) -> None:
    b.stream("in").join(b.stream("other"), both, WINDOWS).group_by_key().count().to_stream().to("out")


@topology
def stream_table_join(b: StreamsBuilder) -> None:
    b.stream("in").join(b.table("other"), both).to("out")


@topology
def stream_table_left_join(b: StreamsBuilder) -> None:
    b.stream("in").left_join(b.table("other"), three, with_key=True).to("out")


@topology
def stream_table_join_repartitioned(b: StreamsBuilder) -> None:
    by(b.stream("in")).join(b.table("other"), both, joined=Joined(name="meeting")).to("out")


@topology
def stream_table_left_join_repartitioned(b: StreamsBuilder) -> None:
    by(b.stream("in")).left_join(b.table("other"), both).to("out")


@topology
def stream_filtered_table_join(b: StreamsBuilder) -> None:
    source = b.stream("in")
    source.join(b.table("other").filter(is_low).map_values(lambda v: v + "!"), both).to("out")


@topology
def stream_count_join(b: StreamsBuilder) -> None:
    source = b.stream("in")
    source.left_join(b.stream("other").group_by_key().count(), both, joined=STRINGS).to("out")


@topology
def stream_own_count_join(b: StreamsBuilder) -> None:
    source = b.stream("in")
    source.join(source.group_by_key().count(), both, joined=STRINGS).to("out")


@topology
def stream_global_join(b: StreamsBuilder) -> None:
    table = b.global_table("global")
    b.stream("in").join(table, both, key_selector=lambda k, v: v).to("out")


@topology
def stream_global_left_join(b: StreamsBuilder) -> None:
    table = b.global_table("global", materialized=Materialized("everywhere"))
    source = b.stream("in")
    source.left_join(
        table, three, key_selector=lambda k, v: None if k is None else v, name="meeting", with_key=True
    ).to("out")


@topology
def table_join(b: StreamsBuilder) -> None:
    b.table("in").join(b.table("other"), both).to_stream().to("out")


@topology
def table_left_join(b: StreamsBuilder) -> None:
    b.table("in").left_join(b.table("other"), both).to_stream().to("out")


@topology
def table_outer_join(b: StreamsBuilder) -> None:
    b.table("in").outer_join(b.table("other"), both).to_stream().to("out")


@topology
def table_join_stored(b: StreamsBuilder) -> None:
    b.table("in").join(b.table("other"), both, Materialized("joined")).to_stream().to("out")


@topology
def table_left_join_stored(b: StreamsBuilder) -> None:
    joined = b.table("in").left_join(b.table("other"), both, Materialized("joined"), name="meeting")
    joined.to_stream().to("out")


@topology
def table_outer_join_with_serdes(b: StreamsBuilder) -> None:
    serdes = Materialized(None, "string", "string")
    b.table("in").outer_join(b.table("other"), both, serdes).to_stream().to("out")


@topology
def table_join_filtered(b: StreamsBuilder) -> None:
    low = b.table("in").filter(is_low)
    joined = low.left_join(b.table("other").map_values(lambda v: v + "!"), both)
    joined.filter(lambda k, v: "!" in v).to_stream().to("out")


@topology
def table_join_counted(b: StreamsBuilder) -> None:
    grouped = b.table("in").outer_join(b.table("other"), both).group_by(first_letter)
    grouped.aggregate(lambda: "=", added, taken).to_stream().to("out")


@topology
def table_inner_join_counted(b: StreamsBuilder) -> None:
    grouped = b.table("in").join(b.table("other"), both).group_by(first_letter)
    grouped.aggregate(lambda: "=", added, taken).to_stream().to("out")


@topology
def table_left_join_counted(b: StreamsBuilder) -> None:
    grouped = b.table("in").left_join(b.table("other"), both).group_by(first_letter)
    grouped.aggregate(lambda: "=", added, taken).to_stream().to("out")


@topology
def table_join_three(b: StreamsBuilder) -> None:
    one, other, third = b.table("in"), b.table("other"), b.table("global")
    one.join(other, both).outer_join(third, both).to_stream().to("out")


@topology
def table_join_three_left(b: StreamsBuilder) -> None:
    one, other, third = b.table("in"), b.table("other"), b.table("global")
    third.left_join(one.outer_join(other, both), both).to_stream().to("out")


@topology
def table_self_join(b: StreamsBuilder) -> None:
    one = b.table("in")
    one.join(one.map_values(lambda v: v + "!"), both).to_stream().to("out")


@topology
def table_count_join(b: StreamsBuilder) -> None:
    counts = b.stream("in").group_by_key().count()
    counts.join(b.table("other"), both).to_stream().to("out", Produced(value_serde="string"))


@topology
def foreign_key_join(b: StreamsBuilder) -> None:
    b.table("in").join(b.table("other"), both, foreign_key=digit).to_stream().to("out")


@topology
def foreign_key_left_join(b: StreamsBuilder) -> None:
    b.table("in").left_join(b.table("other"), both, foreign_key=digit).to_stream().to("out")


@topology
def foreign_key_join_stored(b: StreamsBuilder) -> None:
    one, other = b.table("in"), b.table("other")
    joined = one.join(other, both, Materialized("joined"), foreign_key=digit, joined=TableJoined("by-digit"))
    joined.to_stream().to("out")


@topology
def foreign_key_join_counted(b: StreamsBuilder) -> None:
    joined = b.table("in").left_join(b.table("other"), both, foreign_key=digit)
    grouped = joined.group_by(lambda k, v: (v[-1:], v), Grouped(None, "string", "string"))
    grouped.aggregate(lambda: "=", added, taken).to_stream().to("out")
