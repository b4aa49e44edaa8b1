"""LeaveGroup.

v3 takes many members, static ones by their instance id, and answers for each of them; v4 is flexible; v5 has a reason,
which is logged.
"""

from typing import TYPE_CHECKING

from penstock.broker.callers import caller_of
from penstock.broker.router import RequestContext, handles
from penstock.broker.tickets import Call
from penstock.errors import ApiError, ErrorCode
from penstock.group.classic import leaving_members, left
from penstock.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(LeaveGroupRequest, versions=(0, 5))
def handle_leave_group(
    broker: "Broker", request: LeaveGroupRequest, context: RequestContext
) -> ApiMessage | Call:
    caller = caller_of(context)
    return broker.coordinators.groups.ask(
        request.group_id,
        lambda shard, ticket, now_ms: shard.serving_classic_protocol(request.group_id).handle_classic_leave(
            request, caller, ticket, now_ms
        ),
        lambda error: _refuse(request, caller.version, error),
    )


def _refuse(request: LeaveGroupRequest, version: int, error: ApiError) -> LeaveGroupResponse:
    """That there is no such group is said of each member."""
    if error.code != ErrorCode.UNKNOWN_MEMBER_ID:
        return LeaveGroupResponse(error_code=error.code)
    leaving = leaving_members(request, version)
    return left(
        [MemberResponse(one.member_id, one.group_instance_id, error.code) for one in leaving], version
    )
