"""What the registry said, for a while: a bounded dictionary whose entries may grow too old."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Cache(Generic[K, V]):
    """Looks up without a lock; the oldest entry goes when there are too many."""

    def __init__(self, size: int, ttl_seconds: float = -1, now: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._ttl_seconds = ttl_seconds
        self._now = now
        self._entries: dict[K, tuple[V, float]] = {}
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        found = self._entries.get(key)
        if found is None:
            return None
        if 0 <= self._ttl_seconds <= self._now() - found[1]:
            return None
        return found[0]

    def put(self, key: K, value: V) -> V:
        with self._lock:
            self._entries.pop(key, None)
            self._entries[key] = (value, self._now())
            while len(self._entries) > self._size:
                del self._entries[next(iter(self._entries))]
        return value

    def get_or(self, key: K, ask: Callable[[], V]) -> V:
        found = self.get(key)
        return self.put(key, ask()) if found is None else found

    def forget(self, matches: Callable[[K], bool]) -> None:
        with self._lock:
            for key in [key for key in self._entries if matches(key)]:
                del self._entries[key]

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
