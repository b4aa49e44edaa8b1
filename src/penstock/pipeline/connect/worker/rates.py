"""What a connector says in the log of how it goes on: a line per minute in which there was something."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from penstock.pipeline.connect.tasks.work import TaskReport

SECONDS: Final = 60.0


class Rates:
    def __init__(self, now: float) -> None:
        self._begin(now)

    def _begin(self, now: float) -> None:
        self._since = now
        self._records = self._bytes = self._skipped = self._dead_lettered = self._retries = 0

    def add(self, reports: Iterable[TaskReport], now: float) -> str | None:
        """The line, when it is due."""
        for report in reports:
            self._records += report.records
            self._bytes += report.bytes
            self._skipped += report.skipped
            self._dead_lettered += report.dead_lettered
            self._retries += report.retries
        seconds = now - self._since
        if seconds < SECONDS:
            return None
        line = self._line(seconds)
        self._begin(now)
        return line

    def _line(self, seconds: float) -> str | None:
        trouble = {
            "left out": self._skipped,
            "to the dead letter queue": self._dead_lettered,
            "retries": self._retries,
        }
        told = [f"{count:,} {what}" for what, count in trouble.items() if count]
        if not self._records and not told:
            return None
        rate = f"{self._records / seconds:,.1f} records/s, {self._bytes / seconds / 1e6:,.3f} MB/s"
        return ", ".join([f"{self._records:,} records in {seconds:.0f} s ({rate})", *told])
