"""Windows of all kinds."""

from penstock.streams import (
    BufferConfig,
    EmitStrategy,
    Grouped,
    KGroupedStream,
    Materialized,
    Produced,
    SessionWindows,
    SlidingWindows,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
)
from tests.pipeline.streams.beside_java import added, both, taken, topology

TUMBLING = TimeWindows.of_size_and_grace(1000, 500)
HOPPING = TimeWindows.of_size_and_grace(1000, 700).advance_by(300)
SLIDING = SlidingWindows.of_time_difference_and_grace(400, 600)
SESSIONS = SessionWindows.of_inactivity_gap_and_grace(300, 400)
ON_CLOSE = EmitStrategy.on_window_close()
FINAL = Suppressed.until_window_closes(BufferConfig.unbounded())
STRINGS = Grouped(None, "string", "string")


def grouped(b: StreamsBuilder) -> KGroupedStream[str, str]:
    return b.stream("in").group_by_key()


def cut(_key: object, value: str | None, aggregate: str) -> str:
    text = "null" if value is None else value
    return (aggregate + text)[max(0, len(aggregate) - 10) :]


def reduced(one: str, two: str | None) -> str:
    return cut("", two, one)


def merged(_key: object, one: str, two: str) -> str:
    return cut("", two, one)


def in_brackets(key: object, value: str | None, aggregate: str) -> str:
    return cut(key, f"({'null' if value is None else value})", aggregate)


@topology
def tumbling_count(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(TUMBLING).count().to_stream().to("out")


@topology
def tumbling_no_grace(b: StreamsBuilder) -> None:
    windows = TimeWindows.of_size_with_no_grace(500)
    grouped(b).windowed_by(windows).count(Materialized("counts")).to_stream().to("out")


@topology
def tumbling_reduce(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(TUMBLING).reduce(reduced).to_stream().to("out")


@topology
def tumbling_aggregate(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(TUMBLING).aggregate(lambda: "=", cut, name="joining").to_stream().to("out")


@topology
def tumbling_by_value(b: StreamsBuilder) -> None:
    by_value = b.stream("in").group_by(lambda k, v: v, Grouped("by-value"))
    counts = by_value.windowed_by(TUMBLING).count(Materialized(None, "string", "long"))
    counts.to_stream().to("out")


@topology
def tumbling_retention(b: StreamsBuilder) -> None:
    kept = Materialized("kept", retention_ms=200_000)
    grouped(b).windowed_by(TUMBLING).count(kept).to_stream().to("out")


@topology
def hopping_count(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(HOPPING).count().to_stream().to("out")


@topology
def hopping_reduce(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(HOPPING).reduce(reduced, Materialized("reduced")).to_stream().to("out")


@topology
def sliding_count(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(SLIDING).count().to_stream().to("out")


@topology
def sliding_aggregate(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(SLIDING).aggregate(lambda: "=", cut).to_stream().to("out")


@topology
def sliding_reduce(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(SLIDING).reduce(reduced).to_stream().to("out")


@topology
def sliding_no_grace(b: StreamsBuilder) -> None:
    windows = SlidingWindows.of_time_difference_with_no_grace(250)
    grouped(b).windowed_by(windows).count(Materialized("slid")).to_stream().to("out")


@topology
def session_count(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(SESSIONS).count().to_stream().to("out")


@topology
def session_reduce(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(SESSIONS).reduce(reduced).to_stream().to("out")


@topology
def session_aggregate(b: StreamsBuilder) -> None:
    sessions = grouped(b).windowed_by(SESSIONS)
    sessions.aggregate(lambda: "", cut, Materialized("sessions"), merger=merged).to_stream().to("out")


@topology
def session_no_grace(b: StreamsBuilder) -> None:
    windows = SessionWindows.of_inactivity_gap_with_no_grace(600)
    grouped(b).windowed_by(windows).count().to_stream().to("out")


@topology
def tumbling_on_close(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(TUMBLING).emit_strategy(ON_CLOSE).count().to_stream().to("out")


@topology
def hopping_on_close(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(HOPPING).emit_strategy(ON_CLOSE).reduce(reduced).to_stream().to("out")


@topology
def sliding_on_close(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(SLIDING).emit_strategy(ON_CLOSE).count().to_stream().to("out")


@topology
def session_on_close(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(SESSIONS).emit_strategy(ON_CLOSE).count().to_stream().to("out")


@topology
def tumbling_suppressed(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(TUMBLING).count().suppress(FINAL).to_stream().to("out")


@topology
def hopping_suppressed(b: StreamsBuilder) -> None:
    doubled = (
        grouped(b).windowed_by(HOPPING).count().map_values(lambda n: n * 2, Materialized(value_serde="long"))
    )
    final = Suppressed.until_window_closes(BufferConfig.unbounded(), name="final")
    doubled.suppress(final).to_stream().to("out")


@topology
def sliding_suppressed(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(SLIDING).reduce(reduced).suppress(FINAL).to_stream().to("out")


@topology
def session_suppressed(b: StreamsBuilder) -> None:
    grouped(b).windowed_by(SESSIONS).count().suppress(FINAL).to_stream().to("out")


@topology
def tumbling_filtered(b: StreamsBuilder) -> None:
    counts = grouped(b).windowed_by(TUMBLING).count()
    counts.filter(lambda k, n: n % 2 == 1).to_stream().to("out")


@topology
def tumbling_of_tumbling(b: StreamsBuilder) -> None:
    counts = grouped(b).windowed_by(TUMBLING).count().to_stream()
    again = counts.map(lambda windowed, n: (windowed.key, str(n))).group_by_key()
    again.windowed_by(HOPPING).reduce(reduced).to_stream().to("out")


@topology
def windowed_regrouped(b: StreamsBuilder) -> None:
    counts = grouped(b).windowed_by(TUMBLING).count()
    by_key = counts.group_by(lambda windowed, n: (windowed.key, str(n)), STRINGS)
    by_key.aggregate(lambda: "=", added, taken).to_stream().to("out")


@topology
def session_regrouped(b: StreamsBuilder) -> None:
    counts = grouped(b).windowed_by(SESSIONS).count()
    by_key = counts.group_by(lambda windowed, n: (windowed.key, str(n)), STRINGS)
    by_key.aggregate(lambda: "=", added, taken).to_stream().to("out")


@topology
def windowed_join(b: StreamsBuilder) -> None:
    one = grouped(b).windowed_by(TUMBLING).count()
    two = b.stream("other").group_by_key().windowed_by(TUMBLING).reduce(reduced)
    one.outer_join(two, both).to_stream().to("out", Produced(value_serde="string"))


@topology
def session_join(b: StreamsBuilder) -> None:
    one = grouped(b).windowed_by(SESSIONS).count()
    two = b.stream("other").group_by_key().windowed_by(SESSIONS).reduce(reduced)
    one.left_join(two, both).to_stream().to("out", Produced(value_serde="string"))


@topology
def cogroup_tumbling(b: StreamsBuilder) -> None:
    together = grouped(b).cogroup(cut).cogroup(b.stream("other").group_by_key(), in_brackets)
    windowed = together.windowed_by(TUMBLING)
    windowed.aggregate(lambda: "=", Materialized("cogrouped")).to_stream().to("out")


@topology
def cogroup_sliding(b: StreamsBuilder) -> None:
    together = grouped(b).cogroup(cut).cogroup(b.stream("other").group_by_key(), in_brackets)
    together.windowed_by(SLIDING).aggregate(lambda: "=").to_stream().to("out")


@topology
def cogroup_sessions(b: StreamsBuilder) -> None:
    together = grouped(b).cogroup(cut).cogroup(b.stream("other").group_by_key(), in_brackets)
    sessions = together.windowed_by(SESSIONS)
    sessions.aggregate(lambda: "=", name="both", merger=merged).to_stream().to("out")
