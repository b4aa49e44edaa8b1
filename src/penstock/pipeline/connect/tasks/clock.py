"""How long a task may still run. A tick ends for everybody at once; who asks too late is told so."""

from __future__ import annotations

import threading
import time


class TickClock:
    def __init__(self, run_ms: int) -> None:
        self.started_at = time.monotonic()
        self._seconds = run_ms / 1000
        self._ends_at = self.started_at + self._seconds
        self._abandoned = threading.Event()

    def begin(self) -> None:
        """The task is ready: what it took to get there is not counted, so that every tick has some work in it."""
        self._ends_at = time.monotonic() + self._seconds

    def is_over(self) -> bool:
        return self._abandoned.is_set() or time.monotonic() >= self._ends_at

    def seconds_left(self) -> float:
        return 0.0 if self._abandoned.is_set() else max(0.0, self._ends_at - time.monotonic())

    def wait(self, seconds: float) -> None:
        """Sleeps, but not longer than the tick lasts."""
        self._abandoned.wait(min(seconds, self.seconds_left()))

    def sleep(self, seconds: float) -> None:
        """Sleeps for so long, unless the task is abandoned."""
        self._abandoned.wait(seconds)

    @property
    def is_abandoned(self) -> bool:
        """Nobody waits for this task any more: it may write nothing."""
        return self._abandoned.is_set()

    def abandon(self) -> None:
        self._abandoned.set()

    def run_ms(self) -> int:
        return round((time.monotonic() - self.started_at) * 1000)
