"""DeleteRecords. v2 is flexible. Offset -1 stands for the high watermark: all that there is.

The answer waits until the other replicas that are alive have heard of it, with their next fetch.
"""

import asyncio
from typing import TYPE_CHECKING

from penstock.broker.partition import Partition
from penstock.broker.router import RequestContext, handles
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
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                topic.name,
                list(
                    await asyncio.gather(
                        *(_delete(broker, topic.name, one, request.timeout_ms) for one in topic.partitions)
                    )
                ),
            )
            for topic in request.topics
        ]
    )


async def _delete(
    broker: "Broker", topic: str, wanted: DeleteRecordsPartition, timeout_ms: int
) -> DeleteRecordsPartitionResult:
    try:
        if topic in INTERNAL_TOPICS:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        partition = broker.partitions.find(topic, wanted.partition_index)
        partition.check_leader()
        offset = wanted.offset
        if offset == UP_TO_HIGH_WATERMARK:
            offset = partition.high_watermark
        await partition.delete_records_before(offset)
        low_watermark = await _until_all_have_heard(broker, partition, offset, timeout_ms)
    except ApiError as error:
        return DeleteRecordsPartitionResult(wanted.partition_index, -1, error.code)
    return DeleteRecordsPartitionResult(wanted.partition_index, low_watermark)


async def _until_all_have_heard(broker: "Broker", partition: Partition, offset: int, timeout_ms: int) -> int:
    """Where the records begin on all replicas that are alive."""
    deadline = broker.loop.time() + timeout_ms / 1000
    while True:
        leader = partition.leader
        if leader is None:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        low = leader.low_watermark(partition.log.log_start_offset, broker.image.brokers.__contains__)
        if low >= offset:
            return low
        if broker.loop.time() >= deadline:
            raise ApiError(ErrorCode.REQUEST_TIMED_OUT)
        await asyncio.sleep(LOOK_SECONDS)
