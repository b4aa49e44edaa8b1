"""The line of the benchmark that tells what the walk over the records costs."""

from __future__ import annotations

from dataclasses import replace

from bench.report import lines_of
from bench.scenarios import walk
from bench.session import FULL, Session


def test_its_lines_have_both_columns() -> None:
    session = Session(["penstock"], replace(FULL.scaled(0.001), rounds=2))
    try:
        walk.run(session)
    finally:
        session.close()
    lines = {line.metric.key: line for line in lines_of(session.samples)}
    assert set(lines) == {"walk_cpu", "walk_plain", "walk_zstd"}
    assert all(min(line.kafka) > 0 and min(line.penstock) > 0 for line in lines.values())
    assert all(line.verdict == "" for line in lines.values()), "for information"
