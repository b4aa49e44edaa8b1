"""ShareGroupDescribe (KIP-932).

v1 is the first stable version.
"""

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from penstock.broker.operations import GROUP_OPERATIONS
from penstock.broker.router import RequestContext, handles
from penstock.broker.share_states import answers
from penstock.errors import ApiError
from penstock.group.groups import check_group_id
from penstock.wire.messages.share_group_describe import (
    DescribedGroup,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(ShareGroupDescribeRequest, versions=(1, 1))
def handle_share_group_describe(
    broker: "Broker", request: ShareGroupDescribeRequest, context: RequestContext
) -> Awaitable[ShareGroupDescribeResponse]:
    return _answer(broker, request)


async def _answer(broker: "Broker", request: ShareGroupDescribeRequest) -> ShareGroupDescribeResponse:
    found = await answers(_describe(broker, group_id) for group_id in request.group_ids)
    groups = []
    for group_id, group in zip(request.group_ids, found, strict=True):
        if isinstance(group, ApiError):
            group = DescribedGroup(group_id=group_id, error_code=group.code, error_message=group.message)
        elif request.include_authorized_operations:
            group.authorized_operations = GROUP_OPERATIONS
        groups.append(group)
    return ShareGroupDescribeResponse(groups=groups)


async def _describe(broker: "Broker", group_id: str) -> DescribedGroup:
    broker.coordinators.sharing.check_enabled()
    check_group_id(group_id)
    described: DescribedGroup = await broker.coordinators.groups.call(
        group_id, lambda shard, ticket, now_ms: shard.share.handle_describe(group_id, ticket, now_ms)
    )
    return described
