"""DeleteRecords. v2 is flexible. Offset -1 stands for the high watermark: all that there is.

Where records begin is noted once for all partitions of a log directory that a request names: each time is a look at all
that the directory hosts. The answer waits until the other replicas that are alive have heard of it, with their next
fetch.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from penstock.broker.partition import Partition
from penstock.broker.router import RequestContext, handles
from penstock.broker.turns import Turns
from penstock.controller.image import INTERNAL_TOPICS
from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

UP_TO_HIGH_WATERMARK = -1
LOOK_SECONDS = 0.02


@handles(DeleteRecordsRequest, versions=(0, 2))
async def handle_delete_records(
    broker: "Broker", request: DeleteRecordsRequest, context: RequestContext
) -> DeleteRecordsResponse:
    asked = [(topic.name, [_Deletion(one) for one in topic.partitions]) for topic in request.topics]
    turns = Turns()
    for name, deletions in asked:
        for one in deletions:
            one.begin(broker, name)
            if turns.is_over:
                await turns.let_others()
    under_way = [one for _, deletions in asked for one in deletions if one.partition is not None]
    for directory in {one.partition.directory for one in under_way if one.partition is not None}:
        await directory.checkpoint_log_starts()
    await _until_all_have_heard(under_way, broker, request.timeout_ms)
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(name, [one.result for one in deletions]) for name, deletions in asked
        ]
    )


class _Deletion:
    """Of one partition's records: what was asked for, and what became of it."""

    __slots__ = ("_offset", "partition", "result")

    def __init__(self, asked: DeleteRecordsPartition) -> None:
        self._offset = asked.offset
        self.partition: Partition | None = None
        """None before it was begun, and if it was refused."""
        self.result = DeleteRecordsPartitionResult(asked.partition_index, -1)

    def begin(self, broker: "Broker", topic: str) -> None:
        try:
            if topic in INTERNAL_TOPICS:
                raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)
            partition = broker.partitions.find(topic, self.result.partition_index)
            partition.check_leader()
            if self._offset == UP_TO_HIGH_WATERMARK:
                self._offset = partition.high_watermark
            partition.hide_records_before(self._offset)
        except ApiError as error:
            self.result.error_code = error.code
        else:
            self.partition = partition

    def is_heard(self, is_alive: Callable[[int], bool]) -> bool:
        """Whether the records begin there on all replicas that are alive; or never will, by this broker's doing."""
        assert self.partition is not None
        try:
            self.partition.check_leader()
        except ApiError as error:
            self.result.error_code = error.code
            return True
        leader = self.partition.leader
        assert leader is not None
        low = leader.low_watermark(self.partition.log.log_start_offset, is_alive)
        if low < self._offset:
            return False
        self.result.low_watermark = low
        return True


async def _until_all_have_heard(deletions: Sequence[_Deletion], broker: "Broker", timeout_ms: int) -> None:
    deadline = broker.loop.time() + timeout_ms / 1000
    turns = Turns()
    while True:
        left = []
        for one in deletions:
            if not one.is_heard(broker.image.brokers.__contains__):
                left.append(one)
            if turns.is_over:
                await turns.let_others()
        if not left or broker.loop.time() >= deadline:
            break
        deletions = left
        await asyncio.sleep(LOOK_SECONDS)
    for one in left:
        one.result.error_code = ErrorCode.REQUEST_TIMED_OUT
