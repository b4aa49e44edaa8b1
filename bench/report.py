"""The samples as a table, a JSON file and a chart.

The verdict looks at the best sample of each server, since noise of the machine only ever adds; the median
stands beside it.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.metrics import BY_KEY, METRICS, Metric
from bench.session import Sizes
from tests.support.apache_kafka import VERSION as KAFKA_VERSION

Reduce = Callable[[list[float]], float]
Samples = Mapping[str, Mapping[str, list[float]]]
Notes = Mapping[str, str]
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Line:
    metric: Metric
    kafka: list[float]
    penstock: list[float]

    @property
    def ratio(self) -> float | None:
        return _ratio(self.penstock, self.kafka, min)

    @property
    def median_ratio(self) -> float | None:
        return _ratio(self.penstock, self.kafka, statistics.median)

    @property
    def verdict(self) -> str:
        if self.metric.most is not None and self.penstock:
            return "ok" if min(self.penstock) <= self.metric.most else "MISSED"
        if self.metric.target is None or self.ratio is None:
            return ""
        return "ok" if self.ratio <= self.metric.target else "MISSED"


def _ratio(penstock: list[float], kafka: list[float], reduce: Reduce) -> float | None:
    if not penstock or not kafka or not reduce(kafka):
        return None
    return float(reduce(penstock) / reduce(kafka))


def lines_of(samples: Samples) -> list[Line]:
    return [line for metric in METRICS if (line := _line(metric, samples)) is not None]


def _line(metric: Metric, samples: Samples) -> Line | None:
    taken = samples.get(metric.key, {})
    compared_with = samples.get(metric.baseline, {}) if metric.baseline else taken
    own = samples.get(metric.ours, {}) if metric.ours else taken
    return Line(metric, compared_with.get("kafka", []), own.get("penstock", [])) if taken else None


def machine() -> dict[str, str]:
    names = (line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name"))
    return {
        "cpu": next(names, "").partition(":")[2].strip() or platform.machine(),
        "cores": str(os.cpu_count()),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "apache kafka": KAFKA_VERSION,
    }


# --- the table

HEADINGS = (
    "",
    "unit",
    "rounds",
    "Kafka best",
    "median",
    "Penstock best",
    "median",
    "ratio",
    "of medians",
    "target",
    "verdict",
)


def _cells(line: Line) -> tuple[str, ...]:
    metric = line.metric
    target = "" if metric.target is None else f"<= {metric.target:g}"
    if metric.most is not None:
        target = f"<= {metric.most:g} {metric.unit}"
    kafka, penstock = _best_and_median(line.kafka), _best_and_median(line.penstock)
    ratios = _number(line.ratio), _number(line.median_ratio)
    rounds = f"{len(line.kafka)}, {len(line.penstock)}"
    return (metric.title, metric.unit, rounds, *kafka, *penstock, *ratios, target, line.verdict)


def _best_and_median(values: list[float]) -> tuple[str, str]:
    if not values:
        return "-", "-"
    return _number(min(values)), _number(statistics.median(values))


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def markdown_table(lines: Iterable[Line]) -> str:
    rows = [HEADINGS, *map(_cells, lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    texts = [_text_of_row(row, widths) for row in rows]
    texts.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(texts)


def _text_of_row(row: tuple[str, ...], widths: list[int]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"


def note_lines(notes: Notes) -> str:
    """What limits a figure, one line each."""
    return "".join(f"- {BY_KEY[key].title}: {text}\n" for key, text in notes.items())


# --- the files


def write_json(path: Path, samples: Samples, sizes: Sizes, failed: list[str], notes: Notes) -> None:
    content = {
        "when": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "machine": machine(),
        "sizes": asdict(sizes),
        "failed": failed,
        "samples": samples,
        "notes": dict(notes),
        "ratios": {line.metric.key: line.ratio for line in lines_of(samples)},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n")


def failure_note(failed: list[str]) -> str:
    return f"FAILED, so that samples are missing: {', '.join(failed)}\n" if failed else ""


def write_markdown(path: Path, samples: Samples, sizes: Sizes, failed: list[str], notes: Notes) -> None:
    about = ", ".join(f"{name} {value}" for name, value in machine().items())
    work = ", ".join(f"{name} {value}" for name, value in asdict(sizes).items())
    table = markdown_table(lines_of(samples))
    path.write_text(
        f"# Benchmark\n\n{about}\n\n{work}\n\n{table}\n\n{note_lines(notes)}{failure_note(failed)}"
    )


def write_chart(path: Path, samples: Samples) -> bool:
    """Penstock's share of what Apache Kafka takes, line by line; False if nothing was measured on both."""
    lines = [line for line in lines_of(samples) if line.ratio is not None]
    if not lines:
        return False
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    lines.reverse()  # the first line on top
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.34 * len(lines)), layout="constrained")
    colours = [
        "#c44e52" if line.verdict == "MISSED" else "#55a868" if line.verdict else "#8c8c8c" for line in lines
    ]
    bars = axes.barh(
        [line.metric.title for line in lines], [line.ratio or 0.0 for line in lines], color=colours
    )
    axes.bar_label(bars, fmt="%.2f", padding=3, fontsize=8)
    for position, line in enumerate(lines):
        if line.metric.target is not None:
            axes.plot(
                [line.metric.target] * 2, [position - 0.4, position + 0.4], color="black", linewidth=1.5
            )
    axes.axvline(1.0, color="black", linewidth=0.8, linestyle="--")
    axes.set_xlim(0, max(1.1, 1.1 * max(line.ratio or 0.0 for line in lines)))
    axes.set_xlabel(f"Penstock / Apache Kafka {KAFKA_VERSION} (less is better; the mark is the target)")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return True


def save(
    samples: Samples, sizes: Sizes, failed: list[str], notes: Notes, json_path: Path | None = None
) -> list[Path]:
    """Writes all three and returns what was written."""
    stem = RESULTS / time.strftime("%Y%m%d-%H%M%S")
    paths = [json_path or stem.with_suffix(".json"), stem.with_suffix(".md"), stem.with_suffix(".png")]
    RESULTS.mkdir(parents=True, exist_ok=True)
    write_json(paths[0], samples, sizes, failed, notes)
    write_markdown(paths[1], samples, sizes, failed, notes)
    return paths if write_chart(paths[2], samples) else paths[:2]
