"""Timers by key, cheap to set anew: a session timer is moved with every heartbeat and hardly ever fires."""

import asyncio
from collections.abc import Callable, Hashable


class _Timer:
    __slots__ = ("armed_for", "due", "handle")

    def __init__(self, due: float, handle: asyncio.Handle) -> None:
        self.due = due
        self.armed_for = due
        self.handle = handle


class Timers:
    """Moving a timer to a later time only notes it; when the old time comes, it is armed again."""

    def __init__(self, loop: asyncio.AbstractEventLoop, fire: Callable[[Hashable], None]) -> None:
        self._loop = loop
        self._fire = fire
        self._timers: dict[Hashable, _Timer] = {}

    def start(self, key: Hashable, delay_ms: int) -> None:
        """Without a delay as soon as may be, however often it is started again meanwhile."""
        due = self._loop.time() + delay_ms / 1000
        timer = self._timers.get(key)
        if timer is not None and timer.armed_for <= due:
            timer.due = due if delay_ms > 0 else timer.armed_for
            return
        if timer is not None:
            timer.handle.cancel()
        self._arm(key, due)

    def _arm(self, key: Hashable, due: float) -> None:
        self._timers[key] = _Timer(due, self._loop.call_at(due, self._on_due, key))

    def stop(self, key: Hashable) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.handle.cancel()

    def stop_all(self) -> None:
        for timer in self._timers.values():
            timer.handle.cancel()
        self._timers.clear()

    def _on_due(self, key: Hashable) -> None:
        timer = self._timers.pop(key)
        if timer.due > timer.armed_for:
            self._arm(key, timer.due)
        else:
            self._fire(key)
