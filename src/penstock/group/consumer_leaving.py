"""How members go: they leave, their session ends, or they take too long."""

from collections.abc import Sequence

from penstock.errors import ApiError, ErrorCode
from penstock.group.consumer_group import ConsumerGroup
from penstock.group.consumer_member import LEAVE_STATIC_EPOCH, Member
from penstock.group.consumer_records import (
    write_current,
    write_group_epoch,
    write_member_removal,
    write_regex_removal,
)
from penstock.group.consumer_world import ConsumerWorld
from penstock.group.migration import downgrade, may_downgrade
from penstock.group.subscriptions import last_members_of_regexes
from penstock.machine import Outcome
from penstock.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)


def leave(
    world: ConsumerWorld, request: ConsumerGroupHeartbeatRequest, outcome: Outcome, now_ms: int
) -> ConsumerGroupHeartbeatResponse:
    group = find_consumer_group(world, request.group_id)
    if request.instance_id is None:
        member = group.member(request.member_id)
    else:
        member = known_static_member(group, request.member_id, request.instance_id)
    if request.instance_id is not None and request.member_epoch == LEAVE_STATIC_EPOCH:
        write_current(outcome, group.group_id, member.member_id, member.current.away())
    else:
        remove_members(world, group, [member], outcome, now_ms)
    return ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)


def find_consumer_group(world: ConsumerWorld, group_id: str) -> ConsumerGroup:
    group = world.context.groups.get(group_id)
    if isinstance(group, ConsumerGroup):
        return group
    raise ApiError(
        ErrorCode.GROUP_ID_NOT_FOUND,
        f"Group {group_id} not found." if group is None else f"Group {group_id} is not a consumer group.",
    )


def known_static_member(group: ConsumerGroup, member_id: str, instance_id: str) -> Member:
    member = group.static_member(instance_id)
    if member is None:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if member.member_id != member_id:
        raise ApiError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} was fenced by member {member.member_id}.",
        )
    return member


def remove_members(
    world: ConsumerWorld, group: ConsumerGroup, members: Sequence[Member], outcome: Outcome, now_ms: int
) -> None:
    """The members are gone and what they owned is free; the group's next assignment is due.

    If only members of the classic protocol stay behind, the group becomes theirs.
    """
    if not members:
        return
    if may_downgrade(world, group, members):
        downgrade(world, group, members, outcome, now_ms)
        return
    for member in members:
        write_member_removal(outcome, group.group_id, member.member_id)
        world.stop_timers(group.group_id, member.member_id, outcome)
    for regex in last_members_of_regexes(group.subscriptions, members):
        write_regex_removal(outcome, group.group_id, regex)
    topics = group.subscriptions.topics_after([member.metadata for member in members])
    metadata_hash = world.topic_hashes.of_group(topics)
    write_group_epoch(outcome, group.group_id, group.group_epoch + 1, metadata_hash)
