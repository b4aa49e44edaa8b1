"""Groups change protocol while they are in use: from classic to consumer, and back."""

from penstock.errors import ApiError, ErrorCode
from penstock.group.consumer_group import ConsumerGroup
from penstock.group.consumer_world import ConsumerWorld
from penstock.group.groups import CLASSIC, Group
from penstock.machine import Outcome


def consumer_group_to_join(
    world: ConsumerWorld, group_id: str, group: Group | None, outcome: Outcome
) -> ConsumerGroup:
    """The group that a member of the consumer protocol joins, where there is none of that kind yet."""
    if group is None:
        return ConsumerGroup(group_id)
    if group.KIND == CLASSIC and group.state_name == "Empty":
        group.write_tombstones(outcome)
        return ConsumerGroup(group_id)
    raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
