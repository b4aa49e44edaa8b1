"""Says how far a start has come that takes long. `penstock up` reads these lines, and goes on waiting."""

import logging

from penstock.clock import Clock

log = logging.getLogger("penstock.broker.loading_progress")

NEWS_INTERVAL_MS = 2000


class LoadingProgress:
    def __init__(self, topics: int, clock: Clock) -> None:
        self._topics = topics
        self._clock = clock
        self._loaded = 0
        self._told_at_ms = clock.monotonic_ms()

    def on_loaded(self) -> None:
        """The logs of one more topic are open."""
        self._loaded += 1
        now_ms = self._clock.monotonic_ms()
        if now_ms - self._told_at_ms >= NEWS_INTERVAL_MS:
            self._told_at_ms = now_ms
            log.info("loading logs: %d of %d topics", self._loaded, self._topics)
