"""JoinGroup on a classic group: who may join, as whom, and what follows from it.

A dynamic member that comes without an id is given one and is to come back with it (since v4), so that a client whose
answer is lost does not leave a member behind that nobody is. A static member (one with a group instance id) that comes
without an id takes the place of the member that had this instance id; whoever still uses the old member id is
fenced. If the group is stable and would choose the same protocol again, the replacement is only written down,
and nobody else notices.
"""

from penstock.errors import ApiError, ErrorCode
from penstock.group.classic_group import ClassicGroup, State, session_timer, start_session
from penstock.group.classic_member import ClassicMember, JoinTerms, protocols_of
from penstock.group.classic_rebalance import (
    Step,
    answer_join,
    answer_sync,
    joined,
    maybe_complete_join,
    prepare_rebalance,
    rebalance_or_complete_join,
    remove_member,
    remove_pending,
)
from penstock.machine import Caller, Outcome, Ticket
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from penstock.wire.messages.sync_group import SyncGroupResponse

FIRST_VERSION_WITH_MEMBER_ID_REQUIRED = 4
FIRST_VERSION_WITH_SKIP_ASSIGNMENT = 9
NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000
"""How long a member that can't send heartbeats yet may wait in its first rebalance."""


class Joining:
    """One JoinGroup request."""

    __slots__ = ("caller", "request", "terms", "ticket")

    def __init__(self, request: JoinGroupRequest, caller: Caller, ticket: Ticket) -> None:
        self.request = request
        self.caller = caller
        self.ticket = ticket
        rebalance_timeout_ms = request.rebalance_timeout_ms if caller.version else request.session_timeout_ms
        self.terms = JoinTerms(
            rebalance_timeout_ms, request.session_timeout_ms, protocols_of(request.protocols)
        )

    def check(self, group: ClassicGroup) -> None:
        if not group.supports(self.request.protocol_type, self.terms.protocols):
            raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    def join(self, group: ClassicGroup, new_id: str, step: Step) -> None:
        """`new_id` is for a member that comes without an id."""
        if self.request.member_id:
            self._join_as_known(group, step)
        elif self.request.group_instance_id is not None:
            self._join_as_static(group, f"{self.request.group_instance_id}-{new_id}", step)
        else:
            self._join_as_dynamic(group, f"{self.caller.client_id}-{new_id}", step)

    def turn_away(self, group: ClassicGroup, step: Step) -> None:
        """There is no room, not even for a member that was in the generation before."""
        member_id = self.request.member_id
        if member_id in group.pending_member_ids:
            remove_pending(group, member_id, step)
        elif member_id in group.members:
            remove_member(group, group.members[member_id], step)
        maybe_complete_join(group, step)
        step.outcome.reply(self.ticket, refused(ErrorCode.GROUP_MAX_SIZE_REACHED, ""))

    # without an id

    def _join_as_dynamic(self, group: ClassicGroup, member_id: str, step: Step) -> None:
        if self.caller.version < FIRST_VERSION_WITH_MEMBER_ID_REQUIRED:
            self._add(group, member_id, step)
            return
        group.pending_member_ids.add(member_id)
        step.outcome.start_timer(session_timer(group.group_id, member_id), self.terms.session_timeout_ms)
        step.outcome.reply(self.ticket, refused(ErrorCode.MEMBER_ID_REQUIRED, member_id))

    def _join_as_static(self, group: ClassicGroup, member_id: str, step: Step) -> None:
        old_id = group.static_member_ids.get(self.request.group_instance_id or "")
        if old_id is None:
            self._add(group, member_id, step)
        else:
            self._replace(group, group.members[old_id], member_id, step)

    def _add(self, group: ClassicGroup, member_id: str, step: Step) -> None:
        member = ClassicMember(
            member_id,
            self.request.group_instance_id,
            self.caller.client_id,
            self.caller.client_host,
            self.terms,
        )
        member.is_new = True
        member.join_ticket = self.ticket
        group.has_grown = True
        group.add(member, self.request.protocol_type)
        step.outcome.start_timer(session_timer(group.group_id, member_id), NEW_MEMBER_JOIN_TIMEOUT_MS)
        rebalance_or_complete_join(group, step)

    # a static member that comes back

    def _replace(self, group: ClassicGroup, old: ClassicMember, member_id: str, step: Step) -> None:
        new = old.under_new_id(member_id, self.terms)
        old_leader = group.leader
        self._fence(group, old, step)
        group.replace(old, new)
        start_session(group, new, step.outcome)
        if group.state is not State.STABLE:
            self._park(group, new, step)
            if group.state is State.COMPLETING_REBALANCE:  # the leader may be assigning to the old id
                prepare_rebalance(group, step)
            else:
                maybe_complete_join(group, step)
        elif group.select_protocol() != group.protocol_name:
            self._park(group, new, step)
            prepare_rebalance(group, step)
        else:
            self._write_replacement(group, old, new, old_leader, step)

    def _fence(self, group: ClassicGroup, old: ClassicMember, step: Step) -> None:
        fenced = ErrorCode.FENCED_INSTANCE_ID
        answer_join(group, old, refused(fenced, old.member_id), step)
        answer_sync(old, SyncGroupResponse(error_code=fenced), step)
        step.outcome.stop_timer(session_timer(group.group_id, old.member_id))

    def _write_replacement(
        self, group: ClassicGroup, old: ClassicMember, new: ClassicMember, old_leader: str | None, step: Step
    ) -> None:
        assignments = {member.member_id: member.assignment for member in group.members.values()}
        group.write_record(group.record(assignments), step.outcome)
        response = joined(group, new)
        if self.caller.version >= FIRST_VERSION_WITH_SKIP_ASSIGNMENT:
            response.skip_assignment = new.member_id == group.leader
        else:  # a leader that can't be told to skip the assignment must not know that it is the leader
            response.leader, response.members = old_leader or "", ()
        step.outcome.reply(self.ticket, response)

        def on_refused(code: ErrorCode) -> Outcome:
            group.replace(new, old)
            return Outcome()

        step.outcome.on_refused = on_refused

    # with an id

    def _join_as_known(self, group: ClassicGroup, step: Step) -> None:
        member_id = self.request.member_id
        if member_id in group.pending_member_ids and self.request.group_instance_id is None:
            self._add(group, member_id, step)
            return
        group.check_member(member_id, self.request.group_instance_id)
        member = group.members[member_id]
        if self._changes_nothing(group, member):
            step.outcome.reply(self.ticket, joined(group, member))
            return
        self._park(group, member, step)
        rebalance_or_complete_join(group, step)

    def _changes_nothing(self, group: ClassicGroup, member: ClassicMember) -> bool:
        """Whether the member may have the current generation: its answer was lost, or it wants to sync again.

        A leader that joins a stable group wants a rebalance, for reasons that only it knows.
        """
        if group.state is State.PREPARING_REBALANCE or member.terms.protocols != self.terms.protocols:
            return False
        return group.state is State.COMPLETING_REBALANCE or member.member_id != group.leader

    def _park(self, group: ClassicGroup, member: ClassicMember, step: Step) -> None:
        """The request waits with its member; an earlier one of the same member gives way."""
        rejoin = ErrorCode.REBALANCE_IN_PROGRESS
        answer_join(group, member, refused(rejoin, member.member_id), step)
        group.change_terms(member, self.terms)
        member.join_ticket = self.ticket
        group.joined_count += 1


def has_room_for(group: ClassicGroup, member_id: str, max_size: int) -> bool:
    """In a rebalance those who have joined are counted, so that a group above a lowered limit shrinks to it."""
    if group.state is State.EMPTY:
        return True
    member = group.members.get(member_id)
    if group.state is State.PREPARING_REBALANCE:
        return group.joined_count < max_size or (member is not None and member.join_ticket is not None)
    return member is not None or len(group.members) < max_size


def refused(code: ErrorCode, member_id: str) -> JoinGroupResponse:
    return JoinGroupResponse(error_code=code, member_id=member_id, protocol_name=None)
