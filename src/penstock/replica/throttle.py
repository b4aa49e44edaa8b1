"""How many bytes pass in a second, over the last seconds, and whether that is too many.

What has passed is counted in windows of equal length, of which the last few count. So a limit holds on average: a burst
passes, and then nothing for as long as it takes.
"""

from collections import deque


class Throttle:
    def __init__(self, windows: int, window_ms: int) -> None:
        self._window_ms = window_ms
        self._kept_ms = windows * window_ms
        self._counted: deque[tuple[int, int]] = deque()
        """The beginning of each window in which something passed, and how much."""

    def record(self, size: int, now_ms: int) -> None:
        if self._counted and now_ms - self._counted[-1][0] < self._window_ms:
            begin, before = self._counted.pop()
            self._counted.append((begin, before + size))
        else:
            self._counted.append((now_ms, size))

    def bytes_per_second(self, now_ms: int) -> float:
        while self._counted and now_ms - self._counted[0][0] > self._kept_ms:
            self._counted.popleft()
        if not self._counted:
            return 0.0
        elapsed_ms = max(now_ms - self._counted[0][0], self._window_ms)
        return sum(size for _, size in self._counted) * 1000 / elapsed_ms

    def is_exceeded(self, limit: int, now_ms: int) -> bool:
        return self.bytes_per_second(now_ms) > limit
