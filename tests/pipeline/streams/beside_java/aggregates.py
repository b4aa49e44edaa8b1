"""Aggregates of streams, without windows."""

from penstock.streams import Grouped, Materialized, Produced, StreamsBuilder
from tests.pipeline.streams.beside_java import joined, topology

LONG = Produced(value_serde="long")


def either(one: str, two: str) -> str:
    return two if len(one) > 8 else one + two


def in_brackets(key: object, value: str, aggregate: str) -> str | None:
    return joined(key, f"({value})", aggregate)


@topology
def count(b: StreamsBuilder) -> None:
    b.stream("in").group_by_key().count().to_stream().to("out", LONG)


@topology
def count_stored(b: StreamsBuilder) -> None:
    b.stream("in").group_by_key().count(Materialized("counts"), "counting").to_stream().to("out")


@topology
def count_with_serdes(b: StreamsBuilder) -> None:
    serdes = Materialized(key_serde="string", value_serde="long")
    b.stream("in").group_by_key().count(serdes).to_stream().to("out")


@topology
def count_by_value(b: StreamsBuilder) -> None:
    b.stream("in").group_by(lambda k, v: v).count().to_stream().to("out")


@topology
def count_by_named(b: StreamsBuilder) -> None:
    b.stream("in").group_by(lambda k, v: v, Grouped("by-value")).count().to_stream().to("out")


@topology
def reduce(b: StreamsBuilder) -> None:
    b.stream("in").group_by_key().reduce(either).to_stream().to("out")


@topology
def aggregate(b: StreamsBuilder) -> None:
    b.stream("in").group_by_key().aggregate(lambda: "=", joined).to_stream().to("out")


@topology
def aggregate_stored(b: StreamsBuilder) -> None:
    grouped = b.stream("in").map(lambda k, v: (v, k)).group_by_key(Grouped(None, "string", "string"))
    grouped.aggregate(lambda: "=", joined, Materialized("all")).to_stream().to("out")


@topology
def two_of_a_named_group(b: StreamsBuilder) -> None:
    grouped = b.stream("in").select_key(lambda k, v: v).group_by_key(Grouped("grouped"))
    grouped.count().to_stream().to("out", LONG)
    grouped.reduce(either).to_stream().to("out2")


@topology
def two_of_a_group(b: StreamsBuilder) -> None:
    grouped = b.stream("in").select_key(lambda k, v: v).group_by_key()
    grouped.count().to_stream().to("out", LONG)
    grouped.reduce(either).to_stream().to("out2")


@topology
def count_of_counts(b: StreamsBuilder) -> None:
    counts = b.stream("in").group_by_key().count()
    grouped = counts.group_by(
        lambda k, n: ("third" if n % 3 == 0 else "other", k), Grouped(None, "string", "string")
    )
    grouped.count().to_stream().to("out")


@topology
def count_filtered(b: StreamsBuilder) -> None:
    counts = b.stream("in").group_by_key().count()
    counts.filter(lambda k, n: n % 2 == 0).to_stream().to("out")
    counts.map_values(lambda n: f"n{n}").to_stream().to("out2", Produced(value_serde="string"))


@topology
def cogroup(b: StreamsBuilder) -> None:
    one, other = b.stream("in").group_by_key(), b.stream("other").group_by_key()
    both = one.cogroup(joined).cogroup(other, in_brackets)
    both.aggregate(lambda: "=", Materialized(None, "string", "string")).to_stream().to("out")


@topology
def cogroup_repartitioned(b: StreamsBuilder) -> None:
    one = b.stream("in").group_by(lambda k, v: v)
    other = b.stream("other").group_by(lambda k, v: v, Grouped("others"))
    both = one.cogroup(joined).cogroup(other, in_brackets)
    both.aggregate(lambda: "=", Materialized("cogrouped"), "both").to_stream().to("out")


@topology
def flat_count(b: StreamsBuilder) -> None:
    words = b.stream("in").flat_map_values(lambda v: [] if v is None else [v, v, "x"])
    words.group_by(lambda k, v: v).count().to_stream().to("out")
