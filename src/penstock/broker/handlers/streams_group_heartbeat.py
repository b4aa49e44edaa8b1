"""StreamsGroupHeartbeat: membership of streams groups (KIP-1071).

As in Kafka 4.3, there are no static members yet, no source topics by regular expression, no changes of the topology,
and no warm-up tasks: who asks for them is refused.
"""

from typing import TYPE_CHECKING

from penstock.broker.callers import caller_of
from penstock.broker.router import RequestContext, handles
from penstock.errors import ApiError, ErrorCode
from penstock.group.streams.heartbeat import HeartbeatResult, plain_response
from penstock.wire.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(StreamsGroupHeartbeatRequest, versions=(0, 0))
async def handle_streams_group_heartbeat(
    broker: "Broker", request: StreamsGroupHeartbeatRequest, context: RequestContext
) -> StreamsGroupHeartbeatResponse:
    try:
        if not broker.coordinators.serves_streams_groups:
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
        caller = caller_of(context)
        result: HeartbeatResult = await broker.coordinators.groups.call(
            request.group_id,
            lambda shard, ticket, now_ms: shard.streams.handle_heartbeat(request, caller, ticket, now_ms),
        )
    except ApiError as error:
        return plain_response(error_code=error.code, error_message=error.message)
    if result.missing_topics:
        interval_ms = result.response.heartbeat_interval_ms
        broker.coordinators.streams_topics.create(result.response, result.missing_topics, 2 * interval_ms)
    return result.response
