"""Groups change protocol while they are in use: from classic to consumer, and back.

The first member that comes with the consumer protocol turns a classic group of consumers into a consumer group. The
members that are there stay as they are: they go on with the classic protocol, and the coordinator gives them their
part of the target assignment in their own language. When the last member of the consumer protocol is gone, the group
becomes a classic one again, and its members elect a leader that assigns.

Either way a group is its records: those of the old kind are removed, those of the new kind are written.
"""

from collections.abc import Iterable, Sequence

from penstock.errors import ApiError, ErrorCode, ProtocolError
from penstock.group.classic_group import JOIN, SYNC, ClassicGroup, session_timer, start_session
from penstock.group.classic_member import ClassicMember, JoinTerms
from penstock.group.classic_rebalance import Step, answer_join, answer_sync, prepare_rebalance
from penstock.group.consumer_group import PROTOCOL_TYPE, ConsumerGroup
from penstock.group.consumer_member import CurrentAssignment, Member, MemberMetadata
from penstock.group.consumer_protocol import (
    AssignedPartitions,
    decode_assignment,
    decode_subscription,
    encode,
    identify_partitions,
    name_partitions,
    version_of,
)
from penstock.group.consumer_records import (
    write_current,
    write_group_epoch,
    write_metadata,
    write_target,
    write_target_epoch,
)
from penstock.group.consumer_world import ConsumerWorld
from penstock.group.groups import Group
from penstock.group.modern_group import Assignment
from penstock.machine import Outcome
from penstock.wire.messages.join_group import JoinGroupResponse
from penstock.wire.messages.sync_group import SyncGroupResponse
from penstock.wire.stored.group import ClassicMemberMetadata, ClassicProtocol

UPGRADES = ("UPGRADE", "BIDIRECTIONAL")
DOWNGRADES = ("DOWNGRADE", "BIDIRECTIONAL")


def consumer_group_to_join(
    world: ConsumerWorld, group_id: str, group: Group | None, outcome: Outcome, now_ms: int
) -> ConsumerGroup:
    """The group that a member of the consumer protocol joins, where there is none of that kind yet."""
    if group is None:
        return ConsumerGroup(group_id)
    if not isinstance(group, ClassicGroup):
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
    if group.is_empty:
        group.write_tombstones(outcome)
        return ConsumerGroup(group_id)
    _check_upgrade(world, group)
    return _upgrade(world, group, outcome, now_ms)


# from classic to consumer


def _check_upgrade(world: ConsumerWorld, group: ClassicGroup) -> None:
    if world.settings.group_consumer_migration_policy.upper() not in UPGRADES:
        raise _cannot_upgrade(group, "online upgrade is disabled")
    if not group.is_consumers:
        raise _cannot_upgrade(group, "the group does not use the consumer embedded protocol")
    if len(group.members) > world.settings.group_consumer_max_size:
        raise _cannot_upgrade(group, "the group size exceeds the consumer group maximum size")


def _cannot_upgrade(group: ClassicGroup, reason: str) -> ApiError:
    return ApiError(
        ErrorCode.GROUP_ID_NOT_FOUND,
        f"Cannot upgrade classic group {group.group_id} to consumer group because {reason}.",
    )


def _upgrade(world: ConsumerWorld, old: ClassicGroup, outcome: Outcome, now_ms: int) -> ConsumerGroup:
    """Writes the group as one of the other kind, and says what it will be."""
    try:
        members = [_upgraded(old, member, world) for member in old.members.values()]
    except ProtocolError as error:
        raise _cannot_upgrade(old, "the embedded consumer protocol is malformed") from error
    _dismiss(old, Step(outcome, now_ms, world.settings))
    old.write_tombstones(outcome)
    first = len(outcome.records)
    _write_group(world, old, members, outcome)
    new = ConsumerGroup(old.group_id)
    for record in outcome.records[first:]:
        new.fold(record.key, record.value)
    for member in members:
        world.start_session(new.group_id, member, outcome)
    return new


def _upgraded(group: ClassicGroup, member: ClassicMember, world: ConsumerWorld) -> Member:
    terms = member.terms
    metadata = terms.protocols.get(group.protocol_name or "") or next(iter(terms.protocols.values()))
    subscription = decode_subscription(metadata)
    assigned: Assignment = {}
    if member.assignment:
        assignment = decode_assignment(member.assignment)
        if assignment.user_data:
            raise _cannot_upgrade(
                group,
                "an unsupported custom assignor is in use. Please refer to the documentation "
                "or switch to a default assignor before re-attempting the upgrade",
            )
        assigned = identify_partitions(assignment.assigned_partitions, world.image)
    return Member(
        member.member_id,
        MemberMetadata(
            instance_id=member.group_instance_id,
            rack_id=subscription.rack_id or None,
            client_id=member.client_id,
            client_host=member.client_host,
            subscribed_topic_names=frozenset(subscription.topics),
            rebalance_timeout_ms=terms.rebalance_timeout_ms,
            classic=classic_metadata(terms.session_timeout_ms, terms.protocols.items()),
        ),
        CurrentAssignment(
            member_epoch=group.generation,
            previous_member_epoch=group.generation,
            assigned={
                topic_id: dict.fromkeys(partitions, group.generation)
                for topic_id, partitions in assigned.items()
            },
        ),
    )


def classic_metadata(
    session_timeout_ms: int, protocols: Iterable[tuple[str, bytes]]
) -> ClassicMemberMetadata:
    return ClassicMemberMetadata(
        session_timeout_ms, [ClassicProtocol(name, metadata) for name, metadata in protocols]
    )


def _dismiss(group: ClassicGroup, step: Step) -> None:
    """Whoever waits in a rebalance of the old group is to join again, in the new one."""
    code = ErrorCode.REBALANCE_IN_PROGRESS
    for member in group.members.values():
        refusal = JoinGroupResponse(error_code=code, member_id=member.member_id, protocol_name=None)
        answer_join(group, member, refusal, step)
        answer_sync(member, SyncGroupResponse(error_code=code), step)
        step.outcome.stop_timer(session_timer(group.group_id, member.member_id))
    for member_id in group.pending_member_ids:
        step.outcome.stop_timer(session_timer(group.group_id, member_id))
    step.outcome.stop_timer((JOIN, group.group_id))
    step.outcome.stop_timer((SYNC, group.group_id))


def _write_group(
    world: ConsumerWorld, group: ClassicGroup, members: Sequence[Member], outcome: Outcome
) -> None:
    group_id, epoch = group.group_id, group.generation
    topics = frozenset[str]().union(*(member.metadata.subscribed_topic_names for member in members))
    for member in members:
        write_metadata(outcome, group_id, member.member_id, member.metadata)
    write_group_epoch(outcome, group_id, epoch, world.topic_hashes.of_group(topics))
    for member in members:
        target = {topic_id: frozenset(epochs) for topic_id, epochs in member.current.assigned.items()}
        write_target(outcome, group_id, member.member_id, target)
    write_target_epoch(outcome, group_id, epoch, 0)
    for member in members:
        write_current(outcome, group_id, member.member_id, member.current)


# from consumer to classic


def may_downgrade(world: ConsumerWorld, group: ConsumerGroup, leaving: Sequence[Member]) -> bool:
    """Whether only members of the classic protocol are left when these are gone."""
    left = len(group.members) - len(leaving)
    classic_left = group.classic_member_count - sum(member.uses_classic_protocol for member in leaving)
    return left > 0 and classic_left == left and _allows_downgrade(world, left)


def may_downgrade_with(world: ConsumerWorld, group: ConsumerGroup, replaced: Member | None) -> bool:
    """Whether there are only members of the classic protocol once such a one takes this static member's place."""
    if replaced is None or replaced.uses_classic_protocol:
        return False
    is_last = group.classic_member_count == len(group.members) - 1
    return is_last and _allows_downgrade(world, len(group.members))


def _allows_downgrade(world: ConsumerWorld, size: int) -> bool:
    policy = world.settings.group_consumer_migration_policy.upper()
    return policy in DOWNGRADES and size <= world.settings.group_max_size


def downgrade(
    world: ConsumerWorld, group: ConsumerGroup, leaving: Sequence[Member], outcome: Outcome, now_ms: int
) -> None:
    """The group goes on as a classic one without these members, and begins with a rebalance."""
    gone = {member.member_id for member in leaving}
    members = [member for member in group.members.values() if member.member_id not in gone]
    targets = {member.member_id: group.target.get(member.member_id, {}) for member in members}
    for member_id in group.members:
        world.stop_timers(group.group_id, member_id, outcome)
    group.write_tombstones(outcome)
    new = _make_classic(world, group, members, targets, outcome, now_ms)
    prepare_rebalance(new, Step(outcome, now_ms, world.settings))


def downgrade_with(
    world: ConsumerWorld,
    group: ConsumerGroup,
    replaced: Member,
    joining: Member,
    outcome: Outcome,
    now_ms: int,
    *,
    is_rebalance_due: bool,
) -> None:
    """A static member is back with the classic protocol, and so was the last of the other one."""
    members = [
        joining if member.member_id == replaced.member_id else member for member in group.members.values()
    ]
    targets = {member.member_id: group.target.get(member.member_id, {}) for member in members}
    targets[joining.member_id] = group.target.get(replaced.member_id, {})
    for member in group.members.values():
        world.stop_timers(group.group_id, member.member_id, outcome)
    group.write_tombstones_of([member.member_id for member in members], outcome)
    new = _make_classic(world, group, members, targets, outcome, now_ms)
    if is_rebalance_due:
        prepare_rebalance(new, Step(outcome, now_ms, world.settings))


def _make_classic(
    world: ConsumerWorld,
    group: ConsumerGroup,
    members: Sequence[Member],
    targets: dict[str, Assignment],
    outcome: Outcome,
    now_ms: int,
) -> ClassicGroup:
    new = ClassicGroup(group.group_id, now_ms)
    for member in members:
        new.add(_downgraded(member), PROTOCOL_TYPE)
    new.generation = group.group_epoch
    new.protocol_name = new.select_protocol()
    for classic in new.members.values():
        subscription = classic.terms.protocols[new.protocol_name]
        classic.assignment = encode_target(targets[classic.member_id], subscription, world)
        start_session(new, classic, outcome)
    record = new.record({classic.member_id: classic.assignment for classic in new.members.values()})
    new.adopt(record)
    new.write_record(record, outcome)
    world.classic.expect(new, outcome)
    return new


def _downgraded(member: Member) -> ClassicMember:
    metadata = member.metadata
    assert metadata.classic is not None
    protocols = {protocol.name: protocol.metadata for protocol in metadata.classic.supported_protocols}
    return ClassicMember(
        member.member_id,
        metadata.instance_id,
        metadata.client_id,
        metadata.client_host,
        JoinTerms(metadata.rebalance_timeout_ms, metadata.classic.session_timeout_ms, protocols),
    )


def encode_target(target: Assignment, subscription: bytes, world: ConsumerWorld) -> bytes:
    """An assignment in the version that the member's subscription came in."""
    assignment = AssignedPartitions(name_partitions(target, world.image))
    return encode(assignment, version_of(subscription))
