"""Verdicts of the benchmark."""

from __future__ import annotations

import pytest

from bench.metrics import BY_KEY, METRICS
from bench.report import lines_of
from bench.session import FULL, QUICK

CASES = [
    ("pipeline_lake_seconds", {"kafka": [10.0, 9.0], "penstock": [9.9, 12.0]}, "ok"),
    ("pipeline_lake_seconds", {"kafka": [9.0], "penstock": [10.1]}, "MISSED"),
    ("pipeline_file_seconds", {"kafka": [1.0], "penstock": [1.01]}, "MISSED"),
    ("pipeline_latency_p50", {"penstock": [12.0, 9.0]}, "ok"),
    ("pipeline_mirror_p50", {"penstock": [701.0]}, "MISSED"),
    ("pipeline_upsert_seconds", {"penstock": [5.0]}, ""),
]


@pytest.mark.parametrize(("key", "samples", "verdict"), CASES)
def test_verdict(key: str, samples: dict[str, list[float]], verdict: str) -> None:
    (line,) = lines_of({key: samples})
    assert line.verdict == verdict


def test_metrics_differ() -> None:
    assert len(BY_KEY) == len(METRICS)


def test_pipelines_are_scaled_as_all_else() -> None:
    assert FULL.pipeline_records == 2_000_000
    assert FULL.scaled(0.1).pipeline_records == 200_000
    assert QUICK.scaled(0.000_1).pipeline_records == 1_000
