"""DescribeGroups: classic groups only; consumer and share groups have an API of their own.

v3 shows what the client may do; v4 the instance ids of static members; v5 is flexible; v6 says of a group that there is
not that it is not found, where it was called `Dead` before.
"""

from typing import TYPE_CHECKING

from penstock.broker.operations import GROUP_OPERATIONS
from penstock.broker.router import RequestContext, handles
from penstock.errors import ApiError
from penstock.wire.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(DescribeGroupsRequest, versions=(0, 6))
def handle_describe_groups(
    broker: "Broker", request: DescribeGroupsRequest, context: RequestContext
) -> DescribeGroupsResponse:
    described = [_describe(broker, group_id, context.version) for group_id in request.groups]
    if request.include_authorized_operations:
        for group in described:
            if not group.error_code:
                group.authorized_operations = GROUP_OPERATIONS
    return DescribeGroupsResponse(groups=described)


def _describe(broker: "Broker", group_id: str, version: int) -> DescribedGroup:
    try:
        return broker.coordinators.groups.find(group_id).machine.classic.describe(group_id, version)
    except ApiError as error:
        return DescribedGroup(error_code=error.code, error_message=error.message, group_id=group_id)
