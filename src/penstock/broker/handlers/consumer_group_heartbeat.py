"""ConsumerGroupHeartbeat: membership of consumer groups (KIP-848).

v1 adds subscriptions by regular expression, and members make up their ids themselves.
"""

from typing import TYPE_CHECKING

from penstock.broker.callers import caller_of
from penstock.broker.router import RequestContext, handles
from penstock.broker.tickets import Call
from penstock.errors import ErrorCode
from penstock.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(ConsumerGroupHeartbeatRequest, versions=(0, 1))
def handle_consumer_group_heartbeat(
    broker: "Broker", request: ConsumerGroupHeartbeatRequest, context: RequestContext
) -> ApiMessage | Call:
    if not broker.coordinators.serves_consumer_groups:
        return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    caller = caller_of(context)
    return broker.coordinators.groups.ask(
        request.group_id,
        lambda shard, ticket, now_ms: shard.consumer.handle_heartbeat(request, caller, ticket, now_ms),
        lambda error: ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=error.message),
    )
