"""The time seam: everything that needs the time takes a `Clock`."""

import time
from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int:
        """Milliseconds since the epoch, as stored in records."""
        ...

    def monotonic_ms(self) -> int:
        """Milliseconds that never go back, for timeouts."""
        ...


class SystemClock:
    def now_ms(self) -> int:
        return int(time.time() * 1000)

    def monotonic_ms(self) -> int:
        return int(time.monotonic() * 1000)
