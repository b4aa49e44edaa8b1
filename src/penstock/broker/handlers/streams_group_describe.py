"""StreamsGroupDescribe: topology, members, epochs and tasks of streams groups (KIP-1071). There is one version."""

from typing import TYPE_CHECKING

from penstock.broker.operations import GROUP_OPERATIONS
from penstock.broker.router import RequestContext, handles
from penstock.errors import ApiError, ErrorCode
from penstock.group.groups import check_group_id
from penstock.wire.messages.streams_group_describe import (
    DescribedGroup,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(StreamsGroupDescribeRequest, versions=(0, 0))
def handle_streams_group_describe(
    broker: "Broker", request: StreamsGroupDescribeRequest, context: RequestContext
) -> StreamsGroupDescribeResponse:
    described = [_describe(broker, group_id) for group_id in request.group_ids]
    if request.include_authorized_operations:
        for group in described:
            if not group.error_code:
                group.authorized_operations = GROUP_OPERATIONS
    return StreamsGroupDescribeResponse(groups=described)


def _describe(broker: "Broker", group_id: str) -> DescribedGroup:
    try:
        if not broker.coordinators.serves_streams_groups:
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
        check_group_id(group_id)
        return broker.coordinators.groups.find(group_id).machine.streams.describe(group_id)
    except ApiError as error:
        return DescribedGroup(group_id=group_id, error_code=error.code, error_message=error.message)
