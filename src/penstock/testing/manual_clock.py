"""A clock that stands still until a test moves it."""

import time


class ManualClock:
    """Begins at the present, so that the timestamps of records and of files fit together."""

    def __init__(self, now_ms: int | None = None) -> None:
        self._now_ms = int(time.time() * 1000) if now_ms is None else now_ms
        self._monotonic_ms = 0

    def advance(self, milliseconds: int) -> None:
        self._now_ms += milliseconds
        self._monotonic_ms += milliseconds

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic_ms(self) -> int:
        return self._monotonic_ms
