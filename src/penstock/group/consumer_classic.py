"""Members of the classic protocol in a consumer group.

To such a member the group looks like a classic one, with the member epoch for its generation: it is told to rejoin
whenever there is something to reconcile (its epoch is behind, it has to give up partitions, or partitions that it waits
for have become free), says in JoinGroup what it owns, and gets in SyncGroup what it may own now. It is never the
leader; the coordinator assigns. It does not wait for other members, and they don't wait for it.
"""

from dataclasses import replace

from penstock.errors import ApiError, ErrorCode, ProtocolError
from penstock.group.classic import FIRST_SYNC_VERSION_WITH_PROTOCOL, leaving_members, left
from penstock.group.classic_join import FIRST_VERSION_WITH_MEMBER_ID_REQUIRED, refused
from penstock.group.consumer_group import PROTOCOL_TYPE, ConsumerGroup
from penstock.group.consumer_heartbeat import check_size, join_static
from penstock.group.consumer_leaving import find_consumer_group, known_static_member, remove_members
from penstock.group.consumer_member import Member, MemberMetadata, MemberState
from penstock.group.consumer_protocol import Subscription, decode_subscription, identify_partitions
from penstock.group.consumer_turn import Turn
from penstock.group.consumer_world import ConsumerWorld, rejoin_timer, sync_timer
from penstock.group.migration import classic_metadata, downgrade_with, encode_target, may_downgrade_with
from penstock.group.target_assignment import target_of
from penstock.machine import Caller, Outcome, Ticket
from penstock.wire.messages.consumer_group_heartbeat import TopicPartitions
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from penstock.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity, MemberResponse
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from penstock.wire.stored.group import ClassicMemberMetadata

# JoinGroup


def join(
    world: ConsumerWorld,
    request: JoinGroupRequest,
    caller: Caller,
    ticket: Ticket,
    outcome: Outcome,
    now_ms: int,
) -> None:
    group = find_consumer_group(world, request.group_id)
    _check_join(world, group, request)
    member_id = request.member_id or world.context.new_id()
    if _needs_member_id(request, caller):
        outcome.reply(ticket, refused(ErrorCode.MEMBER_ID_REQUIRED, member_id))
        return
    replaced = group.static_member(request.group_instance_id)
    member = _find_joining(world, group, request, member_id, outcome)
    subscription = _decode_subscription(request)
    turn = Turn(world, group, outcome, now_ms)
    updated = turn.update_metadata(
        member, _update(member.metadata, request, subscription, caller), is_classic=True
    )
    owned = [
        TopicPartitions(topic_id, sorted(partitions))
        for topic_id, partitions in identify_partitions(subscription.owned_partitions, world.image).items()
    ]
    if replaced is not None and may_downgrade_with(world, group, replaced):
        is_rebalance_due = group.assignment_epoch < turn.group_epoch
        if not is_rebalance_due:
            turn.target = target_of(group, updated)
            updated = turn.reconcile(updated, owned)
        downgrade_with(world, group, replaced, updated, outcome, now_ms, is_rebalance_due=is_rebalance_due)
    else:
        turn.update_target(member, updated)
        updated = turn.reconcile(updated, owned)
        _time_sync(world, group, updated, outcome)
    outcome.reply(ticket, _joined(updated))


def _check_join(world: ConsumerWorld, group: ConsumerGroup, request: JoinGroupRequest) -> None:
    settings = world.settings
    shortest, longest = settings.group_min_session_timeout_ms, settings.group_max_session_timeout_ms
    if not shortest <= request.session_timeout_ms <= longest:
        raise ApiError(ErrorCode.INVALID_SESSION_TIMEOUT)
    if settings.group_consumer_migration_policy.upper() == "DISABLED":
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    check_size(world, group, request.member_id)
    fits = request.protocol_type == PROTOCOL_TYPE and any(
        group.classic_protocol_votes[protocol.name] == group.classic_member_count
        for protocol in request.protocols
    )
    if not fits:
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _needs_member_id(request: JoinGroupRequest, caller: Caller) -> bool:
    """A dynamic member without an id is sent back with one, so that a lost answer leaves no member behind."""
    return (
        request.group_instance_id is None
        and not request.member_id
        and caller.version >= FIRST_VERSION_WITH_MEMBER_ID_REQUIRED
    )


def _find_joining(
    world: ConsumerWorld, group: ConsumerGroup, request: JoinGroupRequest, member_id: str, outcome: Outcome
) -> Member:
    instance_id = request.group_instance_id
    if instance_id is None:
        return group.members.get(member_id) or Member(member_id)
    if not request.member_id:
        return join_static(world, group, member_id, instance_id, outcome, is_classic=True)
    return known_static_member(group, member_id, instance_id)


def _decode_subscription(request: JoinGroupRequest) -> Subscription:
    """All protocols have the same subscription."""
    try:
        return decode_subscription(request.protocols[0].metadata)
    except ProtocolError as error:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR) from error


def _update(
    metadata: MemberMetadata, request: JoinGroupRequest, subscription: Subscription, caller: Caller
) -> MemberMetadata:
    rebalance_timeout_ms = request.rebalance_timeout_ms if caller.version else request.session_timeout_ms
    return replace(
        metadata,
        instance_id=request.group_instance_id or metadata.instance_id,
        rack_id=subscription.rack_id or metadata.rack_id,
        rebalance_timeout_ms=rebalance_timeout_ms,
        subscribed_topic_names=frozenset(subscription.topics),
        subscribed_topic_regex="",
        client_id=caller.client_id,
        client_host=caller.client_host,
        classic=classic_metadata(
            request.session_timeout_ms,
            [(protocol.name, protocol.metadata) for protocol in request.protocols],
        ),
    )


def _time_sync(world: ConsumerWorld, group: ConsumerGroup, member: Member, outcome: Outcome) -> None:
    world.rejoining.discard((group.group_id, member.member_id))
    outcome.stop_timer(rejoin_timer(group.group_id, member.member_id))
    world.start_session(group.group_id, member, outcome)
    outcome.start_timer(sync_timer(group.group_id, member.member_id), member.metadata.rebalance_timeout_ms)


def _joined(member: Member) -> JoinGroupResponse:
    return JoinGroupResponse(
        generation_id=member.current.member_epoch,
        protocol_type=PROTOCOL_TYPE,
        protocol_name=_classic_of(member).supported_protocols[0].name,
        member_id=member.member_id,
    )


# SyncGroup


def sync(
    world: ConsumerWorld, request: SyncGroupRequest, caller: Caller, ticket: Ticket, outcome: Outcome
) -> None:
    if caller.version >= FIRST_SYNC_VERSION_WITH_PROTOCOL and None in (
        request.protocol_type,
        request.protocol_name,
    ):
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    group = find_consumer_group(world, request.group_id)
    member = _known_member(group, request.member_id, request.group_instance_id)
    _check_generation(member, request.generation_id)
    _check_protocol(member, request)
    is_behind = group.assignment_epoch > member.current.member_epoch
    if is_behind and member.current.state != MemberState.UNREVOKED_PARTITIONS:
        _await_rejoin(world, group, member, outcome)
        outcome.reply(ticket, SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS))
        return
    outcome.stop_timer(sync_timer(group.group_id, member.member_id))
    world.start_session(group.group_id, member, outcome)
    assigned = {topic_id: frozenset(epochs) for topic_id, epochs in member.current.assigned.items()}
    outcome.reply(
        ticket,
        SyncGroupResponse(
            protocol_type=request.protocol_type,
            protocol_name=request.protocol_name,
            assignment=encode_target(assigned, _classic_of(member).supported_protocols[0].metadata, world),
        ),
    )


def _check_protocol(member: Member, request: SyncGroupRequest) -> None:
    name = _classic_of(member).supported_protocols[0].name
    if request.protocol_type not in (None, PROTOCOL_TYPE) or request.protocol_name not in (None, name):
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


# Heartbeat


def heartbeat(world: ConsumerWorld, request: HeartbeatRequest, ticket: Ticket, outcome: Outcome) -> None:
    group = find_consumer_group(world, request.group_id)
    member = _known_member(group, request.member_id, request.group_instance_id)
    _check_generation(member, request.generation_id)
    world.start_session(group.group_id, member, outcome)
    code = ErrorCode.NONE
    if _shall_rejoin(group, member):
        code = ErrorCode.REBALANCE_IN_PROGRESS
        _await_rejoin(world, group, member, outcome)
    outcome.reply(ticket, HeartbeatResponse(error_code=code))


def _shall_rejoin(group: ConsumerGroup, member: Member) -> bool:
    current = member.current
    if current.member_epoch < group.assignment_epoch or current.state == MemberState.UNREVOKED_PARTITIONS:
        return True
    return current.state == MemberState.UNRELEASED_PARTITIONS and not _waits_for_others(group, member)


def _waits_for_others(group: ConsumerGroup, member: Member) -> bool:
    assigned = member.current.assigned
    return any(
        group.is_owned(topic_id, partition)
        for topic_id, partitions in group.target.get(member.member_id, {}).items()
        for partition in partitions - assigned.get(topic_id, {}).keys()
    )


def _await_rejoin(world: ConsumerWorld, group: ConsumerGroup, member: Member, outcome: Outcome) -> None:
    """It has been told to join again; from the first time on the clock runs."""
    place = (group.group_id, member.member_id)
    if place not in world.rejoining:
        world.rejoining.add(place)
        outcome.start_timer(rejoin_timer(*place), member.metadata.rebalance_timeout_ms)


# LeaveGroup


def leave(
    world: ConsumerWorld,
    request: LeaveGroupRequest,
    caller: Caller,
    ticket: Ticket,
    outcome: Outcome,
    now_ms: int,
) -> None:
    group = find_consumer_group(world, request.group_id)
    answers: list[MemberResponse] = []
    leaving: dict[str, Member] = {}
    for identity in leaving_members(request, caller.version):
        answer = MemberResponse(identity.member_id, identity.group_instance_id)
        try:
            member = _find_leaving(group, identity)
            leaving[member.member_id] = member
        except ApiError as error:
            answer.error_code = error.code
        answers.append(answer)
    remove_members(world, group, list(leaving.values()), outcome, now_ms)
    outcome.reply(ticket, left(answers, caller.version))


def _find_leaving(group: ConsumerGroup, identity: MemberIdentity) -> Member:
    """An administrator names static members by their instance alone."""
    if identity.group_instance_id is None:
        return group.member(identity.member_id)
    static = group.static_member(identity.group_instance_id)
    member_id = identity.member_id or (static.member_id if static is not None else "")
    return known_static_member(group, member_id, identity.group_instance_id)


# checks


def _known_member(group: ConsumerGroup, member_id: str, instance_id: str | None) -> Member:
    if instance_id is None:
        member = group.member(member_id)
    else:
        member = known_static_member(group, member_id, instance_id)
    if not member.uses_classic_protocol:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} does not use the classic protocol.")
    return member


def _check_generation(member: Member, generation: int) -> None:
    if generation != member.current.member_epoch:
        raise ApiError(ErrorCode.ILLEGAL_GENERATION)


def _classic_of(member: Member) -> ClassicMemberMetadata:
    classic = member.metadata.classic
    assert classic is not None
    return classic
