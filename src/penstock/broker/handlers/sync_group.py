"""SyncGroup. v3 has static members; v4 is flexible; v5 says which protocol the client believes in."""

from typing import TYPE_CHECKING

from penstock.broker.callers import caller_of
from penstock.broker.router import RequestContext, handles
from penstock.broker.tickets import Call
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(SyncGroupRequest, versions=(0, 5))
def handle_sync_group(
    broker: "Broker", request: SyncGroupRequest, context: RequestContext
) -> ApiMessage | Call:
    caller = caller_of(context)
    return broker.coordinators.groups.ask(
        request.group_id,
        lambda shard, ticket, now_ms: shard.serving_classic_protocol(request.group_id).handle_classic_sync(
            request, caller, ticket, now_ms
        ),
        lambda error: SyncGroupResponse(error_code=error.code),
    )
