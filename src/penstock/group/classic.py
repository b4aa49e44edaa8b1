"""Classic groups: the part of a shard that serves JoinGroup, SyncGroup, Heartbeat and LeaveGroup.

`classic_join` decides who joins, `classic_rebalance` what follows, `classic_group` is what they work on.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

from penstock.errors import ApiError, ErrorCode
from penstock.group.classic_group import JOIN, SESSION, SYNC, ClassicGroup, State, start_session
from penstock.group.classic_join import Joining, has_room_for, refused
from penstock.group.classic_rebalance import (
    Step,
    answer_sync,
    maybe_complete_join,
    note_sync,
    on_join_timer,
    on_session_timer,
    on_sync_timer,
    prepare_rebalance,
    remove_member,
    remove_pending,
    sync_from_leader,
    synced,
)
from penstock.group.groups import CONSUMER, STREAMS, GroupContext, check_group_id
from penstock.group.parts import OnTimer, Part, Replay
from penstock.machine import Caller, Outcome, RecordContext, Ticket, TimerKey
from penstock.wire.messages.describe_groups import DescribedGroup
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.messages.join_group import JoinGroupRequest
from penstock.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from penstock.wire.schema import StoredMessage
from penstock.wire.stored.group import GroupMetadataKey, GroupMetadataValue

log = logging.getLogger("penstock.group.classic")

FIRST_SYNC_VERSION_WITH_PROTOCOL = 5
FIRST_LEAVE_VERSION_WITH_MANY = 3
FIRST_DESCRIBE_VERSION_WITH_NOT_FOUND = 6


class ClassicGroups(Part):
    def __init__(self, context: GroupContext) -> None:
        super().__init__(context)
        self._unborn: dict[str, ClassicGroup] = {}
        """Groups that somebody has just joined; they are real when their first record is."""

    def _step(self, now_ms: int) -> Step:
        return Step(Outcome(), now_ms, self.context.settings)

    def _find(self, group_id: str) -> ClassicGroup | None:
        group = self.context.groups.get(group_id)
        return group if isinstance(group, ClassicGroup) else None

    def _find_with_member(
        self, group_id: str, member_id: str, group_instance_id: str | None, generation: int
    ) -> ClassicGroup:
        group = self._find(group_id)
        if group is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        group.check_member(member_id, group_instance_id)
        if generation != group.generation:
            raise ApiError(ErrorCode.ILLEGAL_GENERATION)
        return group

    # the log

    def replays(self) -> Mapping[type[StoredMessage], Replay]:
        return {GroupMetadataKey: self.replay_group_metadata}

    def replay_group_metadata(
        self, key: GroupMetadataKey, value: GroupMetadataValue | None, context: RecordContext
    ) -> None:
        groups = self.context.groups
        unborn = self._unborn.pop(key.group, None)
        if value is None:
            if self._find(key.group) is not None:
                del groups[key.group]
        elif unborn is not None:
            groups[key.group] = unborn
        else:
            group = self._find(key.group) or ClassicGroup(key.group)
            groups[key.group] = group
            group.adopt(value)

    def on_loaded(self, now_ms: int, outcome: Outcome) -> None:
        step = Step(outcome, now_ms, self.context.settings)
        for group in list(self.context.groups.values()):
            if isinstance(group, ClassicGroup):
                self.start_sessions(group, outcome)
                if len(group.members) > step.settings.group_max_size:
                    prepare_rebalance(group, step)

    @staticmethod
    def start_sessions(group: ClassicGroup, outcome: Outcome) -> None:
        """For members that have come with the log, or from a group of another kind."""
        for member in group.members.values():
            start_session(group, member, outcome)

    # timers

    def timers(self) -> Mapping[str, OnTimer]:
        return {
            SESSION: self._on_session_timer,
            JOIN: partial(self._on_group_timer, on_join_timer),
            SYNC: partial(self._on_group_timer, on_sync_timer),
        }

    def _on_session_timer(self, key: TimerKey, now_ms: int) -> Outcome:
        step = self._step(now_ms)
        group = self._find(cast(str, key[1]))
        if group is not None:
            on_session_timer(group, cast(str, key[2]), step)
        return step.outcome

    def _on_group_timer(
        self, on_timer: Callable[[ClassicGroup, Step], None], key: TimerKey, now_ms: int
    ) -> Outcome:
        step = self._step(now_ms)
        group = self._find(cast(str, key[1]))
        if group is not None:
            on_timer(group, step)
        return step.outcome

    # JoinGroup

    def handle_classic_join(
        self, request: JoinGroupRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome:
        check_group_id(request.group_id)
        step = self._step(now_ms)
        settings = step.settings
        shortest, longest = settings.group_min_session_timeout_ms, settings.group_max_session_timeout_ms
        if not shortest <= request.session_timeout_ms <= longest:
            raise ApiError(ErrorCode.INVALID_SESSION_TIMEOUT)
        joining = Joining(request, caller, ticket)
        group = self._find(request.group_id)
        if group is None:
            self._join_new_group(joining, step)
        elif not has_room_for(group, request.member_id, settings.group_max_size):
            joining.turn_away(group, step)
        else:
            joining.check(group)
            joining.join(group, self._new_id_for(request), step)
        return step.outcome

    def _new_id_for(self, request: JoinGroupRequest) -> str:
        return "" if request.member_id else self.context.new_id()

    def _join_new_group(self, joining: Joining, step: Step) -> None:
        """The first one in a group makes it, in the place of an empty group of another kind if need be."""
        group_id = joining.request.group_id
        other = self.context.groups.get(group_id)
        if other is not None and not (other.KIND in (CONSUMER, STREAMS) and other.is_empty):
            raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        if joining.request.member_id:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        group = ClassicGroup(group_id, step.now_ms)
        joining.check(group)
        if other is not None:
            other.write_tombstones(step.outcome)
        group.write_record(group.birth_record(), step.outcome)
        joining.join(group, self.context.new_id(), step)
        self.expect(group, step.outcome)

    def expect(self, group: ClassicGroup, outcome: Outcome) -> None:
        """The group becomes real when its record, which is in the outcome, is replayed."""
        self._unborn[group.group_id] = group
        outcome.on_refused = partial(self._on_birth_refused, group)

    def _on_birth_refused(self, group: ClassicGroup, code: ErrorCode) -> Outcome:
        del self._unborn[group.group_id]
        outcome = Outcome()
        for member in group.members.values():
            if member.join_ticket is not None:
                outcome.reply(member.join_ticket, refused(code, ""))
        return outcome

    # SyncGroup

    def handle_classic_sync(
        self, request: SyncGroupRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome:
        if caller.version >= FIRST_SYNC_VERSION_WITH_PROTOCOL and None in (
            request.protocol_type,
            request.protocol_name,
        ):
            raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        check_group_id(request.group_id)
        group = self._find_with_member(
            request.group_id, request.member_id, request.group_instance_id, request.generation_id
        )
        _check_protocol(group, request)
        if group.state is State.PREPARING_REBALANCE:
            raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS)
        step = self._step(now_ms)
        member = group.members[request.member_id]
        note_sync(group, member, step)
        if group.state is State.STABLE:
            step.outcome.reply(ticket, synced(group, member.assignment))
            return step.outcome
        answer_sync(member, SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS), step)
        member.sync_ticket = ticket
        if member.member_id == group.leader:
            sync_from_leader(group, {one.member_id: one.assignment for one in request.assignments}, step)
        return step.outcome

    # Heartbeat

    def handle_classic_heartbeat(
        self, request: HeartbeatRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome:
        check_group_id(request.group_id)
        group = self._find_with_member(
            request.group_id, request.member_id, request.group_instance_id, request.generation_id
        )
        outcome = Outcome()
        start_session(group, group.members[request.member_id], outcome)
        is_rebalancing = group.state is State.PREPARING_REBALANCE
        code = ErrorCode.REBALANCE_IN_PROGRESS if is_rebalancing else ErrorCode.NONE
        outcome.reply(ticket, HeartbeatResponse(error_code=code))
        return outcome

    # LeaveGroup

    def handle_classic_leave(
        self, request: LeaveGroupRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome:
        check_group_id(request.group_id)
        group = self._find(request.group_id)
        if group is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        step = self._step(now_ms)
        answers = [_leave(group, leaving, step) for leaving in leaving_members(request, caller.version)]
        if any(answer.error_code == ErrorCode.NONE for answer in answers):
            if group.state is State.PREPARING_REBALANCE:
                maybe_complete_join(group, step)
            elif group.state is not State.EMPTY:
                prepare_rebalance(group, step)
        step.outcome.reply(ticket, left(answers, caller.version))
        return step.outcome

    # DescribeGroups

    def describe(self, group_id: str, version: int) -> DescribedGroup:
        group = self.context.groups.get(group_id)
        if isinstance(group, ClassicGroup):
            return group.described()
        dead = DescribedGroup(group_id=group_id, group_state=State.DEAD.value)
        if version >= FIRST_DESCRIBE_VERSION_WITH_NOT_FOUND:
            dead.error_code = ErrorCode.GROUP_ID_NOT_FOUND
            what = "not found" if group is None else "is not a classic group"
            dead.error_message = f"Group {group_id} {what}."
        return dead


def _check_protocol(group: ClassicGroup, request: SyncGroupRequest) -> None:
    if request.protocol_type not in (None, group.protocol_type) or request.protocol_name not in (
        None,
        group.protocol_name,
    ):
        raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _leave(group: ClassicGroup, leaving: MemberIdentity, step: Step) -> MemberResponse:
    code = ErrorCode.NONE
    try:
        _take_out(group, leaving, step)
    except ApiError as error:
        code = error.code
    return MemberResponse(leaving.member_id, leaving.group_instance_id, code)


def _take_out(group: ClassicGroup, leaving: MemberIdentity, step: Step) -> None:
    member_id = leaving.member_id
    if not member_id:  # an administrator names static members by their instance
        member_id = group.static_member_ids.get(leaving.group_instance_id or "", "")
    elif member_id in group.pending_member_ids:
        remove_pending(group, member_id, step)
        return
    group.check_member(member_id, leaving.group_instance_id)
    log.info(
        "member %s leaves group %s: %s", member_id, group.group_id, leaving.reason or "no reason provided"
    )
    remove_member(group, group.members[member_id], step)


def leaving_members(request: LeaveGroupRequest, version: int) -> Sequence[MemberIdentity]:
    if version >= FIRST_LEAVE_VERSION_WITH_MANY:
        return request.members
    return [MemberIdentity(request.member_id)]


def left(answers: Sequence[MemberResponse], version: int) -> LeaveGroupResponse:
    if version >= FIRST_LEAVE_VERSION_WITH_MANY:
        return LeaveGroupResponse(members=answers)
    return LeaveGroupResponse(error_code=answers[0].error_code)
