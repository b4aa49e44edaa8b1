"""Wakes the requests that wait for a partition, after the request that made the progress is done.

One pass of the event loop may append to many partitions that the same fetch waits for; it is woken once.
"""

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.broker.partition import Partition


class Wakeups:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._moved: list[Partition] = []
        self._grown: list[Partition] = []

    def wake(self, partition: "Partition") -> None:
        """What readers see has moved, or the partition has changed in another way: for all who wait."""
        if not self._moved and not self._grown:
            self._loop.call_soon(self._run)
        self._moved.append(partition)

    def wake_followers(self, partition: "Partition") -> None:
        """The log has grown, but no reader may have it yet."""
        if not self._moved and not self._grown:
            self._loop.call_soon(self._run)
        self._grown.append(partition)

    def _run(self) -> None:
        moved, self._moved = self._moved, []
        grown, self._grown = self._grown, []
        waiters = {waiter: None for partition in moved for waiter in partition.waiters}
        for partition in (*moved, *grown):
            if partition.followers_waiting:
                waiters.update(partition.followers_waiting)
        for waiter in waiters:
            waiter.on_progress()
