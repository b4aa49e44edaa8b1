"""The progress of queries in Prometheus' text format."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from penstock.pipeline.spark.query import Query


class Metric(NamedTuple):
    name: str
    kind: str
    what_it_is: str
    key: str
    """In `Query.progress()`."""
    factor: float = 1


METRICS = (
    Metric("restarts_total", "counter", "How often it was started again", "restarts"),
    Metric("ticks_total", "counter", "Ticks that went well", "ticks"),
    Metric("failed_ticks_total", "counter", "Ticks whose job failed", "failed_ticks"),
    Metric("tick_seconds", "gauge", "How long the last tick took", "last_tick_ms", 0.001),
    Metric("tick_tasks", "gauge", "Tasks of the last tick", "last_tasks"),
    Metric("input_rows_per_second", "gauge", "Rows that came in", "input_rows_per_second"),
    Metric("processed_rows_per_second", "gauge", "Rows that were worked off", "processed_rows_per_second"),
    Metric("batch_seconds", "gauge", "How long the last batch took", "batch_ms", 0.001),
    Metric("offsets_behind", "gauge", "Offsets that it was behind in its worst partition", "offsets_behind"),
    Metric("state_rows", "gauge", "Rows of state", "state_rows"),
    Metric("state_bytes", "gauge", "Memory of state", "state_bytes"),
)
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def metrics_text(queries: Iterable[Query]) -> str:
    progress = {query.name: query.progress() for query in queries}
    lines = _header("state", "gauge", "1 for the state that it is in")
    lines += [
        f"penstock_query_state{{query={_quoted(name)},state={_quoted(numbers['state'])}}} 1"
        for name, numbers in sorted(progress.items())
    ]
    for metric in METRICS:
        lines += _lines(metric, progress)
    return "\n".join(lines) + "\n"


def _lines(metric: Metric, progress: dict[str, dict[str, Any]]) -> list[str]:
    having = sorted(
        (name, numbers[metric.key]) for name, numbers in progress.items() if metric.key in numbers
    )
    if not having:
        return []
    return _header(metric.name, metric.kind, metric.what_it_is) + [
        f"penstock_query_{metric.name}{{query={_quoted(name)}}} {metric.factor * value:.12g}"
        for name, value in having
    ]


def _header(name: str, kind: str, what_it_is: str) -> list[str]:
    return [f"# HELP penstock_query_{name} {what_it_is}.", f"# TYPE penstock_query_{name} {kind}"]


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPED)}"'
