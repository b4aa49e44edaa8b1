"""WriteShareGroupState: brokers ask the share coordinator (KIP-932).

v1 has the number of records in the window that are done with.
"""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.broker.share_state_requests import ask_partitions, is_meant
from penstock.errors import ApiError
from penstock.wire.messages.write_share_group_state import (
    PartitionResult,
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
    WriteStateResult,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(WriteShareGroupStateRequest, versions=(0, 1))
async def handle_write_share_group_state(
    broker: "Broker", request: WriteShareGroupStateRequest, context: RequestContext
) -> WriteShareGroupStateResponse:
    if not is_meant(request.group_id, request.topics):
        return WriteShareGroupStateResponse()
    return WriteShareGroupStateResponse(
        results=[
            WriteStateResult(
                topic.topic_id,
                await ask_partitions(
                    broker,
                    request.group_id,
                    topic.topic_id,
                    topic.partitions,
                    lambda shard, key, asked, ticket, now_ms: shard.handle_write(key, asked, ticket, now_ms),
                    _refuse,
                ),
            )
            for topic in request.topics
        ]
    )


def _refuse(partition: int, error: ApiError) -> PartitionResult:
    return PartitionResult(partition, error.code, error.message)
