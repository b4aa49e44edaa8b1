"""DeleteRecords. v2 is flexible. Offset -1 stands for the high watermark: all that there is."""

from typing import TYPE_CHECKING

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


@handles(DeleteRecordsRequest, versions=(0, 2))
async def handle_delete_records(
    broker: "Broker", request: DeleteRecordsRequest, context: RequestContext
) -> DeleteRecordsResponse:
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                topic.name, [await _delete(broker, topic.name, p) for p in topic.partitions]
            )
            for topic in request.topics
        ]
    )


async def _delete(
    broker: "Broker", topic: str, wanted: DeleteRecordsPartition
) -> DeleteRecordsPartitionResult:
    try:
        if topic in INTERNAL_TOPICS:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        partition = broker.partitions.find(topic, wanted.partition_index)
        partition.check_leader()
        offset = wanted.offset
        if offset == UP_TO_HIGH_WATERMARK:
            offset = partition.high_watermark
        low_watermark = await partition.delete_records_before(offset)
    except ApiError as error:
        return DeleteRecordsPartitionResult(wanted.partition_index, -1, error.code)
    return DeleteRecordsPartitionResult(wanted.partition_index, low_watermark)
