"""DeleteGroups: groups of any kind that have no members, with their offsets. v2 is flexible."""

import asyncio
from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.errors import ApiError
from penstock.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

GROUPS_AT_ONCE = 1_000
"""Those that are not there need no waiting, and would keep the event loop together."""


@handles(DeleteGroupsRequest, versions=(0, 2))
async def handle_delete_groups(
    broker: "Broker", request: DeleteGroupsRequest, context: RequestContext
) -> DeleteGroupsResponse:
    names = dict.fromkeys(request.groups_names)
    results = []
    for number, name in enumerate(names, 1):
        results.append(await _delete(broker, name))
        if number % GROUPS_AT_ONCE == 0:
            await asyncio.sleep(0)
    return DeleteGroupsResponse(results=results)


async def _delete(broker: "Broker", group_id: str) -> DeletableGroupResult:
    result = DeletableGroupResult(group_id)
    try:
        await broker.coordinators.sharing.delete_states_of_group(group_id)
        await broker.coordinators.groups.call(
            group_id, lambda shard, ticket, now_ms: shard.handle_delete_group(group_id, ticket, now_ms)
        )
    except ApiError as error:
        result.error_code = error.code
    return result
