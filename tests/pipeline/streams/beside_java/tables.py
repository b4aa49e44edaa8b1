"""Tables: filters, maps, regrouping, what is held back."""

from penstock.streams import BufferConfig, Consumed, Grouped, Materialized, StreamsBuilder, Suppressed
from tests.pipeline.streams.beside_java import added, is_low, marked, parity, taken, topology

STRINGS = Materialized(None, "string", "string")


def sevens(value: str) -> str:
    return "7" if value == "4" else value


@topology
def table(b: StreamsBuilder) -> None:
    b.table("in").to_stream().to("out")


@topology
def table_stored(b: StreamsBuilder) -> None:
    b.table("in", materialized=Materialized("rows")).to_stream().to("out")


@topology
def table_named(b: StreamsBuilder) -> None:
    b.table("in", Consumed(name="the-table")).to_stream(name="the-stream").to("out")


@topology
def table_filter(b: StreamsBuilder) -> None:
    b.table("in").filter(is_low).to_stream().to("out")


@topology
def table_filter_not(b: StreamsBuilder) -> None:
    b.table("in", materialized=Materialized("rows")).filter_not(is_low).to_stream().to("out")


@topology
def table_filter_stored(b: StreamsBuilder) -> None:
    b.table("in").filter(is_low, Materialized("low")).to_stream().to("out")


@topology
def table_filter_with_serdes(b: StreamsBuilder) -> None:
    b.table("in").filter(is_low, STRINGS).to_stream().to("out")


@topology
def table_map_values(b: StreamsBuilder) -> None:
    b.table("in").map_values(marked).to_stream().to("out")


@topology
def table_map_values_stored(b: StreamsBuilder) -> None:
    mapped = b.table("in").map_values(lambda k, v: k + v, Materialized("mapped"), "mapping", with_key=True)
    mapped.to_stream().to("out")


@topology
def table_chain(b: StreamsBuilder) -> None:
    twice = b.table("in").filter(is_low).map_values(lambda v: v + v)
    twice.filter_not(lambda k, v: v == "33").to_stream(lambda k, v: v).to("out")


@topology
def table_count(b: StreamsBuilder) -> None:
    b.table("in").group_by(parity).count().to_stream().to("out")


@topology
def table_reduce(b: StreamsBuilder) -> None:
    grouped = b.table("in").group_by(parity)
    grouped.reduce(lambda one, two: added("", two, one), lambda one, two: taken("", two, one)).to_stream().to(
        "out"
    )


@topology
def table_aggregate(b: StreamsBuilder) -> None:
    b.table("in").group_by(parity).aggregate(lambda: "=", added, taken).to_stream().to("out")


@topology
def table_aggregate_named(b: StreamsBuilder) -> None:
    grouped = b.table("in").group_by(parity, Grouped("by-parity"))
    grouped.aggregate(lambda: "=", added, taken, Materialized("sums"), "adding").to_stream().to("out")


@topology
def table_filtered_count(b: StreamsBuilder) -> None:
    mapped = b.table("in").filter(lambda k, v: v != "3").map_values(sevens)
    mapped.group_by(parity).count(Materialized("counts")).to_stream().to("out")


@topology
def table_count_of_stored_map(b: StreamsBuilder) -> None:
    mapped = b.table("in").map_values(sevens, Materialized("mapped"))
    mapped.group_by(parity).count().filter(lambda k, n: n > 1).to_stream().to("out")


@topology
def to_table(b: StreamsBuilder) -> None:
    b.stream("in").to_table().to_stream().to("out")


@topology
def to_table_stored(b: StreamsBuilder) -> None:
    rows = b.stream("in").map_values(marked).to_table(Materialized("rows"))
    rows.filter(lambda k, v: len(v or "") > 1).to_stream().to("out")


@topology
def to_table_repartitioned(b: StreamsBuilder) -> None:
    b.stream("in").select_key(lambda k, v: v).to_table(name="tabled").to_stream().to("out")


@topology
def suppress_time_limit(b: StreamsBuilder) -> None:
    held = b.table("in").suppress(Suppressed.until_time_limit(1000, BufferConfig.unbounded()))
    held.to_stream().to("out")


@topology
def suppress_max_records(b: StreamsBuilder) -> None:
    limit = Suppressed.until_time_limit(5000, BufferConfig.of_max_records(2), name="held")
    b.table("in").suppress(limit).to_stream().to("out")


@topology
def suppress_max_bytes(b: StreamsBuilder) -> None:
    limit = Suppressed.until_time_limit(5000, BufferConfig.of_max_bytes(120))
    b.stream("in").group_by_key().count().suppress(limit).to_stream().to("out")


@topology
def suppress_then_count(b: StreamsBuilder) -> None:
    held = b.table("in").suppress(Suppressed.until_time_limit(500, BufferConfig.unbounded()))
    held.group_by(parity).count().to_stream().to("out")


@topology
def suppress_then_filter(b: StreamsBuilder) -> None:
    held = b.table("in").suppress(Suppressed.until_time_limit(500, BufferConfig.unbounded()))
    held.filter(is_low).to_stream().to("out")
