"""The heartbeat of a member of a streams group: it joins, stays, moves on, or leaves.

A heartbeat carries only what is new: a field that is null (or -1) is as it was; the topology comes with the join. The
response carries tasks only when they changed, or when the member seems to have lost track: it joins, or tells of other
tasks than it was told of (Kafka leaves a member whose answer was lost without its tasks until they change again). And
it carries what the group waits for, if it does.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from penstock.errors import ApiError, ErrorCode
from penstock.group.classic_group import ClassicGroup
from penstock.group.groups import Group
from penstock.group.streams.checks import check_heartbeat
from penstock.group.streams.endpoints import tell_endpoints
from penstock.group.streams.group import StreamsGroup
from penstock.group.streams.leaving import find_streams_group, not_a_streams_group, remove_member
from penstock.group.streams.member import JOIN_EPOCH, LEAVE_EPOCH, Member, MemberMetadata, UserEndpoint
from penstock.group.streams.tasks import Tasks, decode_partitions, in_order
from penstock.group.streams.topics import SHUTDOWN_APPLICATION, InternalTopic, Problem
from penstock.group.streams.turn import Turn
from penstock.group.streams.world import StreamsWorld
from penstock.machine import Caller, Outcome
from penstock.wire.messages.streams_group_heartbeat import (
    ResponseTaskIds,
    Status,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)


class HeartbeatResult(NamedTuple):
    response: StreamsGroupHeartbeatResponse
    missing_topics: Mapping[str, InternalTopic] = {}
    """For the broker to create."""


def heartbeat(
    world: StreamsWorld,
    request: StreamsGroupHeartbeatRequest,
    caller: Caller,
    outcome: Outcome,
    now_ms: int,
) -> HeartbeatResult:
    check_heartbeat(request)
    if request.member_epoch == LEAVE_EPOCH:
        return _leave(world, request, outcome)
    group = _find_group(world, request, outcome)
    member = _find_member(group, request)
    turn = Turn(world, group, outcome, now_ms)
    updated = turn.update_metadata(member, _update(member.metadata, request, caller))
    turn.update_topology(request.topology, updated)
    turn.configure()
    turn.check_tasks(request)
    turn.update_group_epoch()
    turn.maybe_delay_assignment()
    turn.update_target(updated)
    owned = _owned_tasks(request)
    updated = turn.reconcile(updated, owned)
    world.start_session(group.group_id, updated.member_id, outcome)
    if request.shutdown_application:
        _note_shutdown(group, updated.member_id)
    response = _respond(turn, updated)
    is_changed = updated.current.assigned != member.current.assigned
    if is_changed or request.member_epoch == JOIN_EPOCH:
        _tell_tasks(response, updated)
        if updated.metadata.user_endpoint is not None:
            group.soft.endpoint_epoch += 1
    elif owned is not None and not updated.current.assigned.are_just(owned):
        _tell_tasks(response, updated)
    _tell_endpoints(turn, request, updated, response)
    return HeartbeatResult(response, turn.configured.missing_topics)


# leaving


def _leave(world: StreamsWorld, request: StreamsGroupHeartbeatRequest, outcome: Outcome) -> HeartbeatResult:
    group = find_streams_group(world, request.group_id)
    member = group.member(request.member_id)
    if request.shutdown_application:
        _note_shutdown(group, member.member_id)
    remove_member(world, group, member, outcome)
    response = plain_response(member_id=request.member_id, member_epoch=request.member_epoch, status=[])
    return HeartbeatResult(response)


def _note_shutdown(group: StreamsGroup, member_id: str) -> None:
    if group.soft.shutdown_member_id is None:
        group.soft.shutdown_member_id = member_id


# group and member


def _find_group(world: StreamsWorld, request: StreamsGroupHeartbeatRequest, outcome: Outcome) -> StreamsGroup:
    group = world.context.groups.get(request.group_id)
    if request.member_epoch != JOIN_EPOCH:
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Streams group {request.group_id} not found.")
        return _as_streams_group(group)
    if group is None:
        return StreamsGroup(request.group_id)
    if isinstance(group, ClassicGroup) and group.is_empty:
        group.write_tombstones(outcome)
        return StreamsGroup(request.group_id)
    found = _as_streams_group(group)
    limit = world.settings.group_streams_max_size
    if len(found.members) >= limit and request.member_id not in found.members:
        raise ApiError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The streams group has reached its maximum capacity of {limit} members.",
        )
    return found


def _as_streams_group(group: Group) -> StreamsGroup:
    if isinstance(group, StreamsGroup):
        return group
    raise not_a_streams_group(group.group_id)


def _find_member(group: StreamsGroup, request: StreamsGroupHeartbeatRequest) -> Member:
    if request.member_epoch == JOIN_EPOCH:
        return group.members.get(request.member_id) or Member(request.member_id)
    member = group.member(request.member_id)
    _check_member_epoch(member, request)
    return member


def _check_member_epoch(member: Member, request: StreamsGroupHeartbeatRequest) -> None:
    """Refuses a member that is not where it thinks it is; a response that was lost is forgiven."""
    epoch, current = request.member_epoch, member.current
    if epoch == current.member_epoch:
        return
    is_previous = epoch < current.member_epoch and epoch == current.previous_member_epoch
    pairs = zip(
        (request.active_tasks, request.standby_tasks, request.warmup_tasks), current.assigned, strict=True
    )
    if is_previous and all(_is_subset(owned, assigned) for owned, assigned in pairs):
        return
    word = "greater" if epoch > current.member_epoch else "smaller"
    raise ApiError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The streams group member has a {word} member epoch ({epoch}) than the one known by the group "
        f"coordinator ({current.member_epoch}). The member must abandon all its partitions and rejoin.",
    )


def _is_subset(owned: Any, assigned: Mapping[str, Any]) -> bool:
    return owned is not None and all(
        set(entry.partitions) <= set(assigned.get(entry.subtopology_id, ())) for entry in owned
    )


# what is new


def _update(
    metadata: MemberMetadata, request: StreamsGroupHeartbeatRequest, caller: Caller
) -> MemberMetadata:
    changes: dict[str, Any] = {"client_id": caller.client_id, "client_host": caller.client_host}
    if request.rack_id is not None:
        changes["rack_id"] = request.rack_id
    if request.rebalance_timeout_ms != -1:
        changes["rebalance_timeout_ms"] = request.rebalance_timeout_ms
    if request.topology is not None:
        changes["topology_epoch"] = request.topology.epoch
    if request.process_id is not None:
        changes["process_id"] = request.process_id
    if request.user_endpoint is not None:
        changes["user_endpoint"] = UserEndpoint(request.user_endpoint.host, request.user_endpoint.port)
    if request.client_tags is not None:
        changes["client_tags"] = {tag.key: tag.value for tag in request.client_tags}
    return replace(metadata, **changes)


def _owned_tasks(request: StreamsGroupHeartbeatRequest) -> Tasks | None:
    if request.active_tasks is None or request.standby_tasks is None or request.warmup_tasks is None:
        return None
    return Tasks(
        decode_partitions(request.active_tasks),
        decode_partitions(request.standby_tasks),
        decode_partitions(request.warmup_tasks),
    )


# the answer


def plain_response(**fields: Any) -> StreamsGroupHeartbeatResponse:
    """One that tells of no tasks and no endpoints, which is not the same as that there are none."""
    response = StreamsGroupHeartbeatResponse(**{"status": None, **fields})
    response.active_tasks = response.standby_tasks = response.warmup_tasks = None
    response.partitions_by_user_endpoint = None
    return response


def _respond(turn: Turn, updated: Member) -> StreamsGroupHeartbeatResponse:
    config = turn.world.config(turn.group.group_id)
    problems = [*turn.problems, *([turn.configured.problem] if turn.configured.problem else [])]
    if turn.group.soft.shutdown_member_id is not None:
        problems.append(_shutdown(turn.group.soft.shutdown_member_id))
    return plain_response(
        member_id=updated.member_id,
        member_epoch=updated.current.member_epoch,
        heartbeat_interval_ms=config.streams_heartbeat_interval_ms,
        status=[Status(*problem) for problem in problems],
    )


def _shutdown(member_id: str) -> Problem:
    return Problem(
        SHUTDOWN_APPLICATION,
        f"Streams group member {member_id} encountered a fatal error and requested a shutdown for the entire "
        "application.",
    )


def _tell_tasks(response: StreamsGroupHeartbeatResponse, updated: Member) -> None:
    assigned = updated.current.assigned
    response.active_tasks = _task_ids(assigned.active)
    response.standby_tasks = _task_ids(assigned.standby)
    response.warmup_tasks = _task_ids(assigned.warmup)


def _task_ids(tasks: Mapping[str, Any]) -> list[ResponseTaskIds]:
    return [ResponseTaskIds(*entry) for entry in in_order(tasks)]


def _tell_endpoints(
    turn: Turn,
    request: StreamsGroupHeartbeatRequest,
    updated: Member,
    response: StreamsGroupHeartbeatResponse,
) -> None:
    """Of a group that is about to be made nothing is remembered but its records: it begins with epoch 0."""
    group, world = turn.group, turn.world
    if group.soft.endpoint_epoch != request.endpoint_information_epoch:
        response.partitions_by_user_endpoint = tell_endpoints(group, updated, turn.configured, world.image)
    if group.group_id in world.context.groups:
        response.endpoint_information_epoch = group.soft.endpoint_epoch
