"""OffsetDelete, which has one version."""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.broker.tickets import Call
from penstock.wire.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(OffsetDeleteRequest, versions=(0, 0))
def handle_offset_delete(
    broker: "Broker", request: OffsetDeleteRequest, context: RequestContext
) -> ApiMessage | Call:
    return broker.coordinators.groups.ask(
        request.group_id,
        lambda shard, ticket, now_ms: shard.offsets.handle_offset_delete(request, ticket, now_ms),
        lambda error: OffsetDeleteResponse(error_code=error.code),
    )
