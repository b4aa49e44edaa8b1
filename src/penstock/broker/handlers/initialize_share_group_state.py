"""InitializeShareGroupState: brokers ask the share coordinator (KIP-932).

v0 is the only version.
"""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.broker.share_state_requests import ask_partitions, is_meant
from penstock.errors import ApiError
from penstock.wire.messages.initialize_share_group_state import (
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    InitializeStateResult,
    PartitionResult,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(InitializeShareGroupStateRequest, versions=(0, 0))
async def handle_initialize_share_group_state(
    broker: "Broker", request: InitializeShareGroupStateRequest, context: RequestContext
) -> InitializeShareGroupStateResponse:
    if not is_meant(request.group_id, request.topics):
        return InitializeShareGroupStateResponse()
    return InitializeShareGroupStateResponse(
        results=[
            InitializeStateResult(
                topic.topic_id,
                await ask_partitions(
                    broker,
                    request.group_id,
                    topic.topic_id,
                    topic.partitions,
                    lambda shard, key, asked, ticket, now_ms: shard.handle_initialize(
                        key, asked, ticket, now_ms
                    ),
                    _refuse,
                ),
            )
            for topic in request.topics
        ]
    )


def _refuse(partition: int, error: ApiError) -> PartitionResult:
    return PartitionResult(partition, error.code, error.message)
