"""The line per minute."""

from __future__ import annotations

from penstock.pipeline.connect.tasks.work import TaskReport
from penstock.pipeline.connect.worker.rates import Rates


def report(**counts: int) -> TaskReport:
    return TaskReport("views", 0, 1, "RUNNING", **counts)


def test_a_line_per_minute_in_which_there_was_something() -> None:
    rates = Rates(0.0)
    assert rates.add([report(records=1_000, bytes=500_000), report(records=200)], 30.0) is None
    assert rates.add([], 60.0) == "1,200 records in 60 s (20.0 records/s, 0.008 MB/s)"
    assert rates.add([], 120.0) is None
    said = rates.add([report(records=6, dead_lettered=2, skipped=2, retries=1)], 180.0)
    assert said == (
        "6 records in 60 s (0.1 records/s, 0.000 MB/s), 2 left out, 2 to the dead letter queue, 1 retries"
    )
