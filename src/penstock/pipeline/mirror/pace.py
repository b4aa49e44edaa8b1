"""When something that is done every so many seconds is to be done next."""

from __future__ import annotations

import time
from typing import Final, Protocol

LONGEST_WAIT_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 0.1


class Stoppable(Protocol):
    def is_stopping(self) -> bool: ...


class Pace:
    """Due at first."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next_at = time.monotonic()

    @property
    def seconds_left(self) -> float:
        return max(0.0, self._next_at - time.monotonic())

    def is_due(self) -> bool:
        return self.seconds_left == 0

    def done(self) -> None:
        self._next_at = time.monotonic() + self._seconds


def wait_for(seconds: float, context: Stoppable) -> None:
    """Sleeps, but not long, and not beyond the tick."""
    until = time.monotonic() + min(seconds, LONGEST_WAIT_SECONDS)
    while not context.is_stopping() and (left := until - time.monotonic()) > 0:
        time.sleep(min(left, LOOK_SECONDS))
