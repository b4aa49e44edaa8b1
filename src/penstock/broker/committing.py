"""Waits until what was appended is committed: on all replicas in sync, so that no change of leader can lose it.

There is one such wait, for producers that ask for it (acks=all), for coordinators and for the markers that end
transactions. It ends for each partition when the high watermark has passed what was appended; or with an error when
this broker no longer leads the partition in the same epoch, when its disk failed, or when time is up. What was appended
then may be committed or not: whoever sent it asks again.

With one replica the high watermark is there as soon as the record is, and nothing waits.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from penstock.broker.parked import Parked
from penstock.broker.partition import Partition
from penstock.errors import ApiError, ErrorCode
from penstock.replica.leader import LeaderState

Settle = Callable[[ApiError | None], None]
"""Hears of one partition: None if what was appended is committed."""


class Appended(NamedTuple):
    partition: Partition
    leader: LeaderState
    """In whose epoch."""
    end_offset: int
    settle: Settle

    def is_settled(self) -> bool:
        """Whether it is known by now what became of it, which is told then."""
        partition = self.partition
        if partition.directory.offline:
            self.settle(ApiError(ErrorCode.KAFKA_STORAGE_ERROR))
        elif partition.leader is not self.leader:
            self.settle(ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        elif self.leader.high_watermark < self.end_offset:
            return False
        elif self.leader.has_enough_in_sync(partition.log.settings.min_insync_replicas):
            self.settle(None)
        else:
            self.settle(
                ApiError(
                    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
                    "Messages are written to the log, but to fewer in-sync replicas than required.",
                )
            )
        return True


def is_committed(partition: Partition, end_offset: int) -> bool:
    return partition.replica.high_watermark >= end_offset


class CommitWait:
    """Of some partitions together; `on_done` is called when all are settled."""

    __slots__ = ("_on_done", "_pending", "_timer")

    def __init__(self, appended: list[Appended], timeout_ms: int, on_done: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        self._pending = appended
        self._on_done = on_done
        self._timer = loop.call_later(max(timeout_ms, 0) / 1000, self._on_timeout)
        for one in appended:
            one.partition.waiters[self] = None

    def on_progress(self) -> None:
        left = []
        for one in self._pending:
            if one.is_settled():
                one.partition.waiters.pop(self, None)
            else:
                left.append(one)
        self._pending = left
        for one in left:
            one.partition.waiters[self] = None  # two appends to one partition
        if not left:
            self._timer.cancel()
            self._on_done()

    def _on_timeout(self) -> None:
        for one in self._pending:
            one.settle(ApiError(ErrorCode.REQUEST_TIMED_OUT))
        self.cancel()
        self._on_done()

    def cancel(self) -> None:
        """Nobody waits any more."""
        for one in self._pending:
            one.partition.waiters.pop(self, None)
        self._pending = []
        self._timer.cancel()


async def wait_until_committed(partition: Partition, timeout_ms: int) -> None:
    """All that is in the partition's log now; the ApiError if that is not to be."""
    leader = partition.leader
    if leader is None:
        raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    end_offset = partition.log.log_end_offset
    if is_committed(partition, end_offset):
        return
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def settle(error: ApiError | None) -> None:
        if not done.done():
            done.set_result(None) if error is None else done.set_exception(error)

    wait = CommitWait([Appended(partition, leader, end_offset, settle)], timeout_ms, lambda: None)
    try:
        await done
    finally:
        wait.cancel()


class ParkedUntilCommitted(Parked):
    """A request whose answer is made when all that it appended is settled."""

    __slots__ = ("_wait",)

    def begin(self, appended: list[Appended], timeout_ms: int, on_done: Callable[[], None]) -> None:
        self._wait = CommitWait(appended, timeout_ms, on_done)

    def on_close(self) -> None:
        self._wait.cancel()
