"""How long a store of windows keeps what is in it.

Time is cut into segments of half the retention, but at least a minute; a segment that lies wholly before the retention
is dropped, and nothing is put there any more. What is older than the retention in a segment that is still there is
not found any more. A store whose windows come out when they close finds one millisecond more.
"""

LEAST_SEGMENT_MS = 60_000


class Retention:
    def __init__(self, retention_ms: int, finds_edge: bool = False) -> None:
        self._retention_ms = retention_ms
        self._segment_ms = max(retention_ms // 2, LEAST_SEGMENT_MS)
        self._edge = 0 if finds_edge else 1
        self._told_before: int | None = None
        self._observe(-1)

    def _observe(self, timestamp: int) -> None:
        self._observed = timestamp
        self.oldest_found = timestamp - self._retention_ms + self._edge
        self._kept_from = (timestamp - self._retention_ms) // self._segment_ms * self._segment_ms

    def admits(self, timestamp: int) -> bool:
        """Whether something of this time is kept; it moves the store's own time."""
        if timestamp > self._observed:
            self._observe(timestamp)
        return timestamp >= self._kept_from

    def newly_expired_before(self) -> int | None:
        """Times before this one are to be dropped; None if nothing has changed since it was asked last."""
        if self._kept_from == self._told_before:
            return None
        self._told_before = self._kept_from
        return self._kept_from
