"""ListGroups: the groups of all kinds that this broker coordinates.

v3 is flexible; v4 shows states and takes a filter for them; v5 shows types and takes a filter for them.
"""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.errors import ErrorCode
from penstock.group.groups import Group
from penstock.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(ListGroupsRequest, versions=(0, 5))
def handle_list_groups(
    broker: "Broker", request: ListGroupsRequest, context: RequestContext
) -> ListGroupsResponse:
    shards = list(broker.coordinators.groups)
    if not all(shard.is_active for shard in shards):
        return ListGroupsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    states = {state.strip().lower() for state in request.states_filter}
    types = {type_.lower() for type_ in request.types_filter}
    groups = [
        _listed(group)
        for shard in shards
        for group in shard.machine.context.groups.values()
        if (not states or group.state_name.lower() in states) and (not types or group.KIND in types)
    ]
    return ListGroupsResponse(groups=groups)


def _listed(group: Group) -> ListedGroup:
    return ListedGroup(group.group_id, group.protocol_type, group.state_name, group.KIND)
