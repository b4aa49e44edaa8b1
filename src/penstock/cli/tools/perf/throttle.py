"""Keeps a stream of records at about a given rate, by short sleeps that make up for what went out too early."""

from collections.abc import Callable

SHORTEST_SLEEP_SECONDS = 0.002


class ThroughputThrottler:
    """`sleep` takes seconds, and may do something useful meanwhile."""

    def __init__(self, per_second: float, started_at: float, sleep: Callable[[float], object]) -> None:
        self.per_second = per_second
        self._started_at = started_at
        self._sleep = sleep
        self._deficit_seconds = 0.0

    @property
    def is_off(self) -> bool:
        return self.per_second < 0

    def after(self, sent: int, now: float) -> None:
        """To be called after each record, with the number of those before it."""
        elapsed = now - self._started_at
        if self.is_off or elapsed <= 0 or sent / elapsed <= self.per_second:
            return
        if self.per_second == 0:
            self._sleep(1.0)
            return
        self._deficit_seconds += 1 / self.per_second
        if self._deficit_seconds >= SHORTEST_SLEEP_SECONDS:
            self._sleep(self._deficit_seconds)
            self._deficit_seconds = 0.0
