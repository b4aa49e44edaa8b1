"""Heartbeat. v3 has static members; v4 is flexible."""

from typing import TYPE_CHECKING

from penstock.broker.callers import caller_of
from penstock.broker.router import RequestContext, handles
from penstock.broker.tickets import Call
from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(HeartbeatRequest, versions=(0, 4))
def handle_heartbeat(
    broker: "Broker", request: HeartbeatRequest, context: RequestContext
) -> ApiMessage | Call:
    caller = caller_of(context)
    return broker.coordinators.groups.ask(
        request.group_id,
        lambda shard, ticket, now_ms: shard.serving_classic_protocol(
            request.group_id
        ).handle_classic_heartbeat(request, caller, ticket, now_ms),
        _refuse,
    )


def _refuse(error: ApiError) -> HeartbeatResponse:
    """A heartbeat during the load is taken: sessions begin anew after it."""
    is_loading = error.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    return HeartbeatResponse(error_code=ErrorCode.NONE if is_loading else error.code)
