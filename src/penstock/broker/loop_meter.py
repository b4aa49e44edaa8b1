"""Watches the event loop: tells an operator which requests keep it from serving everybody else.

One loop serves all clients, so a request that takes long is a wait for each of them. A handler is measured from its
frame to its answer, one that waits in between from each wait to the next. What held the loop longer than
`HELD_SECONDS` is logged, once in `TOLD_SECONDS`, with what there was besides.
"""

import logging
import time
from collections.abc import Awaitable, Generator
from typing import Any, Generic, TypeVar

from penstock.wire.api_keys import ApiKey

log = logging.getLogger("penstock.broker.loop_meter")

HELD_SECONDS = 0.25
TOLD_SECONDS = 10.0

T = TypeVar("T")


class LoopMeter:
    def __init__(self) -> None:
        self.held_seconds = HELD_SECONDS
        self._tell_from = 0.0
        self._untold = 0

    def note(self, key: int, peer: str, seconds: float, now: float) -> None:
        """A request that held the loop longer than it may."""
        if now < self._tell_from:
            self._untold += 1
            return
        others = f"; {self._untold} other requests since this was told last" if self._untold else ""
        self._tell_from, self._untold = now + TOLD_SECONDS, 0
        log.warning(
            "%s of %s kept the event loop for %d ms, while nobody else was served%s",
            ApiKey(key).name,
            peer,
            seconds * 1000,
            others,
        )


class Metered(Generic[T]):
    """An awaitable of which each step is measured."""

    __slots__ = ("_awaited", "_key", "_meter", "_peer")

    def __init__(self, awaited: Awaitable[T], meter: LoopMeter, key: int, peer: str) -> None:
        self._awaited = awaited
        self._meter = meter
        self._key = key
        self._peer = peer

    def __await__(self) -> Generator[Any, Any, T]:
        steps = self._awaited.__await__()
        error: BaseException | None = None
        while True:
            began = time.perf_counter()
            try:
                waits_for = next(steps) if error is None else steps.throw(error)
            except StopIteration as end:
                result: T = end.value
                return result
            finally:
                ended = time.perf_counter()
                if ended - began > self._meter.held_seconds:
                    self._meter.note(self._key, self._peer, ended - began, ended)
            try:
                yield waits_for
                error = None
            except BaseException as thrown:
                error = thrown
