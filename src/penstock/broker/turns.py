"""Work of many steps on the event loop, which lets others be served in between.

A request may name tens of thousands of partitions. A handler that goes through them asks `Turns` after each step: when
its turn is over, whoever else waits for the loop comes first. What it goes through may change meanwhile.
"""

import asyncio
import time
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from penstock.broker.connection import TURN_SECONDS

BEGUN_AT_ONCE = 100
"""Coroutines, of which each may have a file to write to before it waits for anything."""

T = TypeVar("T")


class Turns:
    __slots__ = ("_end",)

    def __init__(self) -> None:
        self._end = time.perf_counter() + TURN_SECONDS

    @property
    def is_over(self) -> bool:
        return time.perf_counter() >= self._end

    async def let_others(self) -> None:
        """Returns when they have been served, and begins the next turn."""
        await asyncio.sleep(0)
        self._end = time.perf_counter() + TURN_SECONDS


async def gather_in_turns(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All results, of work that goes on side by side, but does not begin at the same moment."""
    tasks: list[asyncio.Task[T]] = []
    try:
        for one in work:
            tasks.append(asyncio.ensure_future(one))
            if len(tasks) % BEGUN_AT_ONCE == 0:
                await asyncio.sleep(0)
        return await asyncio.gather(*tasks)
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        raise
