"""JoinGroup.

v1 has a rebalance timeout of its own; v4 sends members without an id back with one (KIP-394); v5 has static members;
v6 is flexible; v7 returns the protocol type; v8 has a reason, which is logged; v9 can tell a leader to skip the
assignment.
"""

from typing import TYPE_CHECKING

from penstock.broker.callers import caller_of
from penstock.broker.router import RequestContext, handles
from penstock.broker.tickets import Call
from penstock.group.classic_join import refused
from penstock.wire.messages.join_group import JoinGroupRequest
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(JoinGroupRequest, versions=(0, 9))
def handle_join_group(
    broker: "Broker", request: JoinGroupRequest, context: RequestContext
) -> ApiMessage | Call:
    caller = caller_of(context)
    return broker.coordinators.groups.ask(
        request.group_id,
        lambda shard, ticket, now_ms: shard.serving_classic_protocol(request.group_id).handle_classic_join(
            request, caller, ticket, now_ms
        ),
        lambda error: refused(error.code, request.member_id),
    )
