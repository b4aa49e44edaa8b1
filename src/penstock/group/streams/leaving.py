"""A member is gone: it left, or was silent too long."""

from penstock.errors import ApiError, ErrorCode
from penstock.group.streams.group import StreamsGroup
from penstock.group.streams.member import Member
from penstock.group.streams.records import write_group_epoch, write_member_removal
from penstock.group.streams.world import StreamsWorld
from penstock.machine import Outcome


def find_streams_group(world: StreamsWorld, group_id: str) -> StreamsGroup:
    group = world.context.groups.get(group_id)
    if group is None:
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
    if not isinstance(group, StreamsGroup):
        raise not_a_streams_group(group_id)
    return group


def not_a_streams_group(group_id: str) -> ApiError:
    return ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a streams group.")


def remove_member(world: StreamsWorld, group: StreamsGroup, member: Member, outcome: Outcome) -> None:
    """What it had is free; the group's next assignment is due."""
    write_member_removal(outcome, group.group_id, member.member_id)
    write_group_epoch(
        outcome,
        group.group_id,
        group.group_epoch + 1,
        group.metadata_hash,
        group.validated_topology_epoch,
        group.assignment_configs,
    )
    world.stop_timers(group.group_id, member.member_id, outcome)
