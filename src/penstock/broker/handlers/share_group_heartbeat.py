"""ShareGroupHeartbeat (KIP-932).

v1 is the first stable version: epoch 0 joins, -1 leaves.
"""

from typing import TYPE_CHECKING

from penstock.broker.callers import caller_of
from penstock.broker.router import RequestContext, handles
from penstock.broker.tickets import Call
from penstock.errors import ApiError
from penstock.group.share import check_heartbeat
from penstock.wire.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(ShareGroupHeartbeatRequest, versions=(1, 1))
def handle_share_group_heartbeat(
    broker: "Broker", request: ShareGroupHeartbeatRequest, context: RequestContext
) -> ApiMessage | Call:
    try:
        broker.coordinators.sharing.check_enabled()
        check_heartbeat(request)
    except ApiError as error:
        return _refuse(error)
    caller = caller_of(context)
    return broker.coordinators.groups.ask(
        request.group_id,
        lambda shard, ticket, now_ms: shard.share.handle_heartbeat(request, caller, ticket, now_ms),
        _refuse,
    )


def _refuse(error: ApiError) -> ShareGroupHeartbeatResponse:
    return ShareGroupHeartbeatResponse(error_code=error.code, error_message=error.message)
