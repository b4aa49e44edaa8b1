"""How a classic group gets from one generation to the next.

A rebalance begins when somebody joins, leaves, is lost or changes what it says about itself. All members are then to
join again: their requests are parked until everybody is there, or until the longest rebalance timeout among them is
over, when those who are not there are put out. (Static members stay: their session decides.) The answers tell the
leader who is in the generation; all members ask for their assignment (sync), and when the leader's request brings the
assignments, the generation is written to the log and all are answered.

The first rebalance of a group waits a while for more members, and longer as long as more come, so that consumers that
start together don't rebalance one by one.

Every request that is parked here is answered in the end: by the next step of the rebalance, by an error when its member
is put out, or by the shell when the shard closes.
"""

import logging
from functools import partial
from typing import NamedTuple

from penstock.errors import ErrorCode
from penstock.group.classic_group import JOIN, SYNC, ClassicGroup, State, session_timer, start_session
from penstock.group.classic_member import NO_ASSIGNMENT, ClassicMember
from penstock.machine import Outcome
from penstock.settings.broker import BrokerSettings
from penstock.wire.messages.join_group import JoinGroupResponse
from penstock.wire.messages.sync_group import SyncGroupResponse

log = logging.getLogger("penstock.group.classic")


class Step(NamedTuple):
    """What happens now: the time, and where to write down what follows from it."""

    outcome: Outcome
    now_ms: int
    settings: BrokerSettings


# beginning


def rebalance_or_complete_join(group: ClassicGroup, step: Step) -> None:
    """Something has changed about the members."""
    if group.state is State.PREPARING_REBALANCE:
        maybe_complete_join(group, step)
    else:
        prepare_rebalance(group, step)


def prepare_rebalance(group: ClassicGroup, step: Step) -> None:
    if group.state is State.COMPLETING_REBALANCE:
        _send_syncing_members_back(group, step)
    stop_sync_timer(group, step)
    group.is_initial_rebalance = group.state is State.EMPTY
    group.become(State.PREPARING_REBALANCE, step.now_ms)
    if group.is_initial_rebalance:
        delay_ms = step.settings.group_initial_rebalance_delay_ms
        group.initial_wait_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
        group.has_grown = False
        step.outcome.start_timer((JOIN, group.group_id), delay_ms)
    elif group.have_all_joined:
        complete_join(group, step)
    else:
        step.outcome.start_timer((JOIN, group.group_id), group.rebalance_timeout_ms)


def _send_syncing_members_back(group: ClassicGroup, step: Step) -> None:
    for member in group.members.values():
        member.assignment = NO_ASSIGNMENT
        if member.sync_ticket is not None:
            answer_sync(member, SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS), step)
            start_session(group, member, step.outcome)


# joining


def maybe_complete_join(group: ClassicGroup, step: Step) -> None:
    """The first rebalance is not over when all have joined: more may come."""
    if group.state is State.PREPARING_REBALANCE and group.have_all_joined and not group.is_initial_rebalance:
        complete_join(group, step)


def on_join_timer(group: ClassicGroup, step: Step) -> None:
    if group.state is not State.PREPARING_REBALANCE:
        return
    if group.is_initial_rebalance and group.has_grown and group.initial_wait_ms:
        delay_ms = min(step.settings.group_initial_rebalance_delay_ms, group.initial_wait_ms)
        group.initial_wait_ms -= delay_ms
        group.has_grown = False
        step.outcome.start_timer((JOIN, group.group_id), delay_ms)
    else:
        complete_join(group, step)


def complete_join(group: ClassicGroup, step: Step) -> None:
    step.outcome.stop_timer((JOIN, group.group_id))
    for member in list(group.members.values()):
        if member.join_ticket is None and not member.is_static:
            log.info("group %s goes on without %s, which has not joined", group.group_id, member.member_id)
            remove_member(group, member, step)
    if not group.members:
        _become_empty(group, step)
    elif group.elect_joined_leader():
        _begin_generation(group, step)
    else:  # static members only; their sessions will end, or one of them comes
        step.outcome.start_timer((JOIN, group.group_id), group.rebalance_timeout_ms)


def _become_empty(group: ClassicGroup, step: Step) -> None:
    value = group.empty_record(step.now_ms)
    group.write_record(value, step.outcome)

    def on_refused(code: ErrorCode) -> Outcome:
        log.warning("group %s is empty, which can't be written: %s", group.group_id, code.name)
        group.adopt(value)  # the generation before lives again after a restart, until its sessions end
        return Outcome()

    step.outcome.on_refused = on_refused


def _begin_generation(group: ClassicGroup, step: Step) -> None:
    group.begin_generation(step.now_ms)
    log.info("group %s: generation %d of %d", group.group_id, group.generation, len(group.members))
    for member in group.members.values():
        member.is_new = False
        answer_join(group, member, joined(group, member), step)
        start_session(group, member, step.outcome)
    step.outcome.start_timer((SYNC, group.group_id), group.rebalance_timeout_ms)


def joined(group: ClassicGroup, member: ClassicMember) -> JoinGroupResponse:
    """That the member is in the current generation; the leader is told who else is."""
    is_leader = member.member_id == group.leader
    return JoinGroupResponse(
        generation_id=group.generation,
        protocol_type=group.protocol_type or None,
        protocol_name=group.protocol_name,
        leader=group.leader or "",
        member_id=member.member_id,
        members=group.members_for_leader() if is_leader else (),
    )


# syncing


def sync_from_leader(group: ClassicGroup, assignments: dict[str, bytes], step: Step) -> None:
    """The leader has decided: the generation is written, and whoever waits is told its part of it."""
    waiting = [member for member in group.members.values() if member.sync_ticket is not None]
    value = group.record(assignments)
    group.write_record(value, step.outcome)
    for member in waiting:
        answer_sync(member, synced(group, assignments.get(member.member_id, NO_ASSIGNMENT)), step)
        start_session(group, member, step.outcome)

    step.outcome.on_refused = partial(_on_sync_refused, group, waiting, step.now_ms, step.settings)


def _on_sync_refused(
    group: ClassicGroup,
    waiting: list[ClassicMember],
    now_ms: int,
    settings: BrokerSettings,
    code: ErrorCode,
) -> Outcome:
    """Whoever waited has been told; all are to rejoin."""
    log.warning("generation %d of %s can't be written: %s", group.generation, group.group_id, code.name)
    step = Step(Outcome(), now_ms, settings)
    for member in waiting:
        start_session(group, member, step.outcome)
    prepare_rebalance(group, step)
    return step.outcome


def synced(group: ClassicGroup, assignment: bytes) -> SyncGroupResponse:
    return SyncGroupResponse(
        protocol_type=group.protocol_type or None, protocol_name=group.protocol_name, assignment=assignment
    )


def note_sync(group: ClassicGroup, member: ClassicMember, step: Step) -> None:
    group.to_sync.discard(member.member_id)
    if not group.to_sync:
        stop_sync_timer(group, step)


def stop_sync_timer(group: ClassicGroup, step: Step) -> None:
    group.to_sync.clear()
    step.outcome.stop_timer((SYNC, group.group_id))


def on_sync_timer(group: ClassicGroup, step: Step) -> None:
    """Those who joined and never asked for their assignment are put out."""
    if group.state not in (State.COMPLETING_REBALANCE, State.STABLE) or not group.to_sync:
        return
    for member_id in sorted(group.to_sync):
        log.info("group %s goes on without %s, which has not synced", group.group_id, member_id)
        remove_member(group, group.members[member_id], step)
    prepare_rebalance(group, step)


# leaving


def remove_member(group: ClassicGroup, member: ClassicMember, step: Step) -> None:
    """Takes a member out; whether that makes a rebalance is up to the caller."""
    unknown = ErrorCode.UNKNOWN_MEMBER_ID
    step.outcome.stop_timer(session_timer(group.group_id, member.member_id))
    answer_join(group, member, JoinGroupResponse(error_code=unknown, protocol_name=None), step)
    answer_sync(member, SyncGroupResponse(error_code=unknown), step)
    group.remove(member)


def remove_pending(group: ClassicGroup, member_id: str, step: Step) -> None:
    step.outcome.stop_timer(session_timer(group.group_id, member_id))
    group.pending_member_ids.discard(member_id)


def on_session_timer(group: ClassicGroup, member_id: str, step: Step) -> None:
    if member_id in group.pending_member_ids:
        remove_pending(group, member_id, step)
        _complete_join_without(group, step)
        return
    member = group.members.get(member_id)
    if member is None or member.is_waiting:
        return
    log.info("member %s of group %s has not been heard of in time", member_id, group.group_id)
    remove_member(group, member, step)
    if group.state is State.PREPARING_REBALANCE:
        _complete_join_without(group, step)
    else:
        prepare_rebalance(group, step)


def _complete_join_without(group: ClassicGroup, step: Step) -> None:
    if group.state is State.PREPARING_REBALANCE and group.have_all_joined:
        complete_join(group, step)


# answering


def answer_join(group: ClassicGroup, member: ClassicMember, response: JoinGroupResponse, step: Step) -> None:
    ticket = member.take_join_ticket()
    if ticket is not None:
        group.joined_count -= 1
        step.outcome.reply(ticket, response)


def answer_sync(member: ClassicMember, response: SyncGroupResponse, step: Step) -> None:
    ticket = member.take_sync_ticket()
    if ticket is not None:
        step.outcome.reply(ticket, response)
