"""The heartbeat of a member: it joins, stays, changes its mind, moves on, or leaves.

A heartbeat carries only what is new: a field that is null (or -1) is as it was. The response carries the assignment
only when it changed, or when the member seems to have lost track: it joins, or sends all of its fields.
"""

from dataclasses import replace
from typing import Any

from penstock.errors import ApiError, ErrorCode
from penstock.group.consumer_group import ConsumerGroup
from penstock.group.consumer_leaving import known_static_member, leave
from penstock.group.consumer_member import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    LEAVE_STATIC_EPOCH,
    Member,
    MemberMetadata,
    PartitionEpochs,
)
from penstock.group.consumer_records import write_member_replacement
from penstock.group.consumer_turn import Turn
from penstock.group.consumer_world import ConsumerWorld
from penstock.group.migration import consumer_group_to_join
from penstock.group.reconciliation import Owned
from penstock.group.target_assignment import target_of
from penstock.machine import Caller, Outcome
from penstock.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ResponseTopicPartitions,
)

FIRST_VERSION_WITH_MEMBER_IDS = 1
"""From here on members make up their ids themselves."""


def heartbeat(
    world: ConsumerWorld,
    request: ConsumerGroupHeartbeatRequest,
    caller: Caller,
    outcome: Outcome,
    now_ms: int,
) -> ConsumerGroupHeartbeatResponse:
    check_heartbeat(request, caller.version, world.assignors())
    if request.member_epoch in (LEAVE_EPOCH, LEAVE_STATIC_EPOCH):
        return leave(world, request, outcome, now_ms)
    group = _find_group(world, request, outcome, now_ms)
    check_size(world, group, request.member_id)
    member = _find_member(world, group, request, outcome)
    turn = Turn(world, group, outcome, now_ms)
    updated = turn.update_metadata(member, _update(member.metadata, request, caller))
    turn.update_target(member, updated)
    updated = turn.reconcile(updated, request.topic_partitions)
    world.start_session(group.group_id, updated, outcome)
    return ConsumerGroupHeartbeatResponse(
        member_id=updated.member_id,
        member_epoch=updated.current.member_epoch,
        heartbeat_interval_ms=world.heartbeat_interval_ms(group.group_id),
        assignment=_assignment(updated.current.assigned) if _shall_tell(request, member, updated) else None,
    )


def check_heartbeat(request: ConsumerGroupHeartbeatRequest, version: int, assignors: tuple[str, ...]) -> None:
    """Refuses what makes no sense, whatever the group."""
    epoch = request.member_epoch
    if version >= FIRST_VERSION_WITH_MEMBER_IDS or epoch > 0 or epoch == LEAVE_EPOCH:
        _check_not_blank(request.member_id, "MemberId")
    _check_not_blank(request.group_id, "GroupId")
    _check_not_blank(request.instance_id, "InstanceId")
    _check_not_blank(request.rack_id, "RackId")
    if epoch == JOIN_EPOCH:
        _check_join(request)
    elif epoch == LEAVE_STATIC_EPOCH and request.instance_id is None:
        raise _invalid("InstanceId can't be null.")
    elif epoch < LEAVE_STATIC_EPOCH:
        raise _invalid("MemberEpoch is invalid.")
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise ApiError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not supported. "
            f"Supported assignors: {', '.join(assignors)}.",
        )


def _check_join(request: ConsumerGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    if request.topic_partitions is None or len(request.topic_partitions):
        raise _invalid("TopicPartitions must be empty when (re-)joining.")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise _invalid(
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
        )


def _check_not_blank(value: str | None, name: str) -> None:
    if value is not None and not value.strip():
        raise _invalid(f"{name} can't be empty.")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)


# group and member


def _find_group(
    world: ConsumerWorld, request: ConsumerGroupHeartbeatRequest, outcome: Outcome, now_ms: int
) -> ConsumerGroup:
    group = world.context.groups.get(request.group_id)
    if isinstance(group, ConsumerGroup):
        return group
    if request.member_epoch == JOIN_EPOCH:
        return consumer_group_to_join(world, request.group_id, group, outcome, now_ms)
    raise ApiError(
        ErrorCode.GROUP_ID_NOT_FOUND,
        f"Consumer group {request.group_id} not found."
        if group is None
        else f"Group {request.group_id} is not a consumer group.",
    )


def check_size(world: ConsumerWorld, group: ConsumerGroup, member_id: str) -> None:
    limit = world.settings.group_consumer_max_size
    if len(group.members) >= limit and member_id not in group.members:
        raise ApiError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The consumer group has reached its maximum capacity of {limit} members.",
        )


def _find_member(
    world: ConsumerWorld, group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest, outcome: Outcome
) -> Member:
    member_id = request.member_id or world.context.new_id()
    is_joining = request.member_epoch == JOIN_EPOCH
    if request.instance_id is None:
        member = group.members.get(member_id)
        if member is None:
            member = Member(member_id) if is_joining else group.member(member_id)
    elif is_joining:
        return join_static(world, group, member_id, request.instance_id, outcome, is_classic=False)
    else:
        member = known_static_member(group, member_id, request.instance_id)
    check_member_epoch(member, request.member_epoch, request.topic_partitions)
    return member


def join_static(
    world: ConsumerWorld,
    group: ConsumerGroup,
    member_id: str,
    instance_id: str,
    outcome: Outcome,
    *,
    is_classic: bool,
) -> Member:
    """A static member joins: a new one, or one that takes the place of its former self."""
    old = group.static_member(instance_id)
    if old is None:
        return group.members.get(member_id) or Member(member_id)
    speaks_classic = is_classic or old.uses_classic_protocol
    if not speaks_classic and old.current.member_epoch != LEAVE_STATIC_EPOCH:
        raise ApiError(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} cannot join the group "
            f"because the instance id is owned by {old.member_id} member.",
        )
    current = replace(old.current, member_epoch=JOIN_EPOCH, previous_member_epoch=JOIN_EPOCH)
    new = Member(member_id, old.metadata, current)
    write_member_replacement(outcome, group.group_id, old.member_id, new, target_of(group, old))
    if old.member_id != member_id:
        world.stop_timers(group.group_id, old.member_id, outcome)
    return new


def check_member_epoch(member: Member, epoch: int, owned: Owned) -> None:
    """Refuses a member that is not where it thinks it is; a response that was lost is forgiven."""
    known = member.current.member_epoch
    if epoch in (JOIN_EPOCH, known):
        return
    is_previous = epoch < known and epoch == member.current.previous_member_epoch
    if is_previous and owned is not None and _is_subset(owned, member.current.assigned):
        return
    word = "greater" if epoch > known else "smaller"
    raise ApiError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {word} member epoch ({epoch}) than the one known by the group "
        f"coordinator ({known}). The member must abandon all its partitions and rejoin.",
    )


def _is_subset(owned: Any, assigned: PartitionEpochs) -> bool:
    return all(
        topic.topic_id in assigned and assigned[topic.topic_id].keys() >= set(topic.partitions)
        for topic in owned
    )


# what is new


def _update(
    metadata: MemberMetadata, request: ConsumerGroupHeartbeatRequest, caller: Caller
) -> MemberMetadata:
    changes: dict[str, Any] = {}
    if request.instance_id is not None and request.instance_id != metadata.instance_id:
        changes["instance_id"] = request.instance_id
    if request.rack_id is not None and request.rack_id != metadata.rack_id:
        changes["rack_id"] = request.rack_id
    if request.rebalance_timeout_ms not in (-1, metadata.rebalance_timeout_ms):
        changes["rebalance_timeout_ms"] = request.rebalance_timeout_ms
    if request.server_assignor is not None and request.server_assignor != metadata.server_assignor:
        changes["server_assignor"] = request.server_assignor
    if request.subscribed_topic_names is not None:
        changes["subscribed_topic_names"] = frozenset(request.subscribed_topic_names)
    if request.subscribed_topic_regex is not None:
        changes["subscribed_topic_regex"] = request.subscribed_topic_regex
    if caller.client_id != metadata.client_id:
        changes["client_id"] = caller.client_id
    if caller.client_host != metadata.client_host:
        changes["client_host"] = caller.client_host
    if metadata.classic is not None:
        changes["classic"] = None
    return replace(metadata, **changes) if changes else metadata


# the answer


def _shall_tell(request: ConsumerGroupHeartbeatRequest, member: Member, updated: Member) -> bool:
    if request.member_epoch == JOIN_EPOCH:
        return True
    if updated is not member and updated.current.assigned != member.current.assigned:
        return True
    return (
        request.rebalance_timeout_ms != -1
        and (request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None)
        and request.topic_partitions is not None
    )


def _assignment(assigned: PartitionEpochs) -> Assignment:
    return Assignment(
        [ResponseTopicPartitions(topic_id, sorted(assigned[topic_id])) for topic_id in sorted(assigned)]
    )
