"""The state of one classic group: its members, and how far its rebalance has come.

    Empty -> PreparingRebalance -> CompletingRebalance -> Stable
      ^           |  ^                  |                   |
      +-----------+  +------------------+-------------------+

The log has a record of each generation that became stable, with its members and their assignments, and of each that
has no members; `adopt` takes such a record over, live as well as at load. In between a group runs ahead of its log:
who has joined so far, the next generation's number and protocol are known to this process only, and after a restart the
members find themselves in the generation before, and rejoin.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from enum import StrEnum

from penstock.errors import ApiError, ErrorCode
from penstock.group.classic_member import (
    NO_ASSIGNMENT,
    ClassicMember,
    JoinTerms,
    restored_member,
    stored_member,
)
from penstock.group.classic_subscription import decode_subscribed_topics
from penstock.group.groups import CLASSIC, CheckPartition, Group, GroupContext
from penstock.machine import Outcome, TimerKey
from penstock.wire.messages.describe_groups import DescribedGroup
from penstock.wire.messages.join_group import JoinGroupResponseMember
from penstock.wire.stored.group import GroupMetadataKey, GroupMetadataValue

CONSUMER_PROTOCOL_TYPE = "consumer"
RECORD_VERSION = 3


class State(StrEnum):
    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"
    """Shown for a group that there is not."""


class ClassicGroup(Group):
    KIND = CLASSIC

    def __init__(self, group_id: str, now_ms: int | None = None) -> None:
        super().__init__(group_id)
        self.state = State.EMPTY
        self.state_since_ms = now_ms
        """Unknown for a group that there is only because of its offsets."""
        self.members: dict[str, ClassicMember] = {}
        self.static_member_ids: dict[str, str] = {}
        self.pending_member_ids: set[str] = set()
        """Were given an id, and are to come back with it."""
        self.to_sync: set[str] = set()
        """The members who have joined this generation and not yet asked for their assignment."""
        self.joined_count = 0
        self.generation = 0
        self.leader: str | None = None
        self.protocol_name: str | None = None
        self.subscribed_topics: frozenset[str] | None = None
        """None if that is unknown: no consumers, or metadata of a kind of their own."""
        self.is_initial_rebalance = False
        self.initial_wait_ms = 0
        """How much longer the first rebalance may be put off."""
        self.has_grown = False
        """A member has joined since the first rebalance was last put off."""
        self._protocol_type: str | None = None
        self._supporters: Counter[str] = Counter()

    # what others see

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def protocol_type(self) -> str:
        return self._protocol_type or ""

    @property
    def is_consumers(self) -> bool:
        return self._protocol_type == CONSUMER_PROTOCOL_TYPE

    def described(self) -> DescribedGroup:
        shown_protocol = self.protocol_name if self.state is State.STABLE else None
        return DescribedGroup(
            group_id=self.group_id,
            group_state=self.state_name,
            protocol_type=self.protocol_type,
            protocol_data=shown_protocol or "",
            members=[member.described(shown_protocol) for member in self.members.values()],
        )

    # members

    @property
    def have_all_joined(self) -> bool:
        return self.joined_count == len(self.members) and not self.pending_member_ids

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((member.terms.rebalance_timeout_ms for member in self.members.values()), default=0)

    def supports(self, protocol_type: str, protocols: Collection[str]) -> bool:
        """Whether a member with these protocols fits in: one of them must be everybody's."""
        if self.state is State.EMPTY:
            return bool(protocol_type and protocols)
        count = len(self.members)
        return protocol_type == self._protocol_type and any(
            self._supporters[name] == count for name in protocols
        )

    def check_member(self, member_id: str, group_instance_id: str | None) -> None:
        if group_instance_id is not None:
            current_id = self.static_member_ids.get(group_instance_id)
            if current_id is None:
                raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
            if current_id != member_id:
                raise ApiError(ErrorCode.FENCED_INSTANCE_ID)
        if member_id not in self.members:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)

    def add(self, member: ClassicMember, protocol_type: str) -> None:
        if not self.members:
            self._protocol_type = protocol_type
        self._put(member)
        self.leader = self.leader or member.member_id
        self.pending_member_ids.discard(member.member_id)

    def _put(self, member: ClassicMember) -> None:
        self.members[member.member_id] = member
        self._supporters.update(member.terms.protocols.keys())
        if member.group_instance_id is not None:
            self.static_member_ids[member.group_instance_id] = member.member_id
        self.joined_count += member.join_ticket is not None

    def remove(self, member: ClassicMember) -> None:
        self._take(member)
        if self.leader == member.member_id:
            self.leader = next(iter(self.members), None)

    def _take(self, member: ClassicMember) -> None:
        del self.members[member.member_id]
        self._lose_supporter(member)
        if member.group_instance_id is not None:
            del self.static_member_ids[member.group_instance_id]
        self.joined_count -= member.join_ticket is not None
        self.to_sync.discard(member.member_id)

    def _lose_supporter(self, member: ClassicMember) -> None:
        self._supporters.subtract(member.terms.protocols.keys())
        for name in member.terms.protocols:
            if not self._supporters[name]:
                del self._supporters[name]

    def replace(self, old: ClassicMember, new: ClassicMember) -> None:
        """Puts a static member in the place of the one that it was before."""
        self._take(old)
        self._put(new)
        if self.leader == old.member_id:
            self.leader = new.member_id

    def change_terms(self, member: ClassicMember, terms: JoinTerms) -> None:
        self._lose_supporter(member)
        self._supporters.update(terms.protocols.keys())
        member.terms = terms

    def select_protocol(self) -> str:
        """Each member votes for the one it likes best among those that all have; most votes win."""
        candidates = {name for name, count in self._supporters.items() if count == len(self.members)}
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return votes.most_common(1)[0][0]

    def elect_joined_leader(self) -> bool:
        """Sees to it that the leader is one who has joined; False if nobody has."""
        joined = [member_id for member_id, member in self.members.items() if member.join_ticket is not None]
        if joined and self.leader not in joined:
            self.leader = joined[0]
        return bool(joined)

    def members_for_leader(self) -> list[JoinGroupResponseMember]:
        assert self.protocol_name is not None
        return [
            JoinGroupResponseMember(
                member.member_id, member.group_instance_id, member.terms.protocols[self.protocol_name]
            )
            for member in self.members.values()
        ]

    # generations

    def become(self, state: State, now_ms: int) -> None:
        self.state = state
        self.state_since_ms = now_ms

    def begin_generation(self, now_ms: int) -> None:
        self.generation += 1
        self.protocol_name = self.select_protocol()
        self.subscribed_topics = self._find_subscribed_topics()
        self.to_sync = set(self.members)
        self.become(State.COMPLETING_REBALANCE, now_ms)

    def _find_subscribed_topics(self) -> frozenset[str] | None:
        if not self.is_consumers or (self.members and self.protocol_name is None):
            return None
        topics: set[str] = set()
        for member in self.members.values():
            subscribed = decode_subscribed_topics(member.terms.protocols[self.protocol_name or ""])
            if subscribed is None:
                return None
            topics |= subscribed
        return frozenset(topics)

    # in the log

    def birth_record(self) -> GroupMetadataValue:
        return GroupMetadataValue(current_state_timestamp=self._stored_since_ms)

    def record(self, assignments: Mapping[str, bytes]) -> GroupMetadataValue:
        """This generation with these assignments."""
        return GroupMetadataValue(
            protocol_type=self.protocol_type,
            generation=self.generation,
            protocol=self.protocol_name,
            leader=self.leader,
            current_state_timestamp=self._stored_since_ms,
            members=[
                stored_member(member, self.protocol_name or "", assignments.get(member_id, NO_ASSIGNMENT))
                for member_id, member in self.members.items()
            ],
        )

    def empty_record(self, now_ms: int) -> GroupMetadataValue:
        """The next generation, which nobody is in."""
        return GroupMetadataValue(
            protocol_type=self.protocol_type, generation=self.generation + 1, current_state_timestamp=now_ms
        )

    @property
    def _stored_since_ms(self) -> int:
        return -1 if self.state_since_ms is None else self.state_since_ms

    def adopt(self, value: GroupMetadataValue) -> None:
        """Takes over what the log says. Members who are here already keep what the log does not have.

        One that an earlier record of the log has restored, and that has joined again since, is restored anew.
        """
        known, self.members = self.members, {}
        self._supporters.clear()
        self.static_member_ids.clear()
        self.joined_count = 0
        self.generation = value.generation
        self.protocol_name = value.protocol
        self.leader = value.leader
        self._protocol_type = value.protocol_type or None
        self.state = State.STABLE if value.members else State.EMPTY
        self.state_since_ms = None if value.current_state_timestamp == -1 else value.current_state_timestamp
        for stored in value.members:
            member = known.get(stored.member_id)
            if member is None or not member.is_as_stored(stored, value.protocol):
                member = restored_member(stored, value.protocol)
            member.assignment = stored.assignment
            self._put(member)
        self.subscribed_topics = self._find_subscribed_topics()

    def write_record(self, value: GroupMetadataValue, outcome: Outcome) -> None:
        outcome.write(GroupMetadataKey(self.group_id), value, RECORD_VERSION)

    def write_tombstones(self, outcome: Outcome) -> None:
        outcome.write(GroupMetadataKey(self.group_id))

    # offsets

    def check_offset_commit(
        self,
        member_id: str,
        group_instance_id: str | None,
        generation_or_epoch: int,
        *,
        is_transactional: bool,
        version: int,
    ) -> CheckPartition | None:
        if generation_or_epoch < 0 and self.state is State.EMPTY:
            return None  # from an admin client, or a consumer that does without group management
        if generation_or_epoch >= 0 or member_id or group_instance_id is not None:
            self.check_member(member_id, group_instance_id)
            if generation_or_epoch != self.generation:
                raise ApiError(ErrorCode.ILLEGAL_GENERATION)
        elif not is_transactional:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        if not is_transactional and self.state is State.COMPLETING_REBALANCE:
            raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS)
        return None

    def on_offset_commit(self, member_id: str, outcome: Outcome) -> None:
        if self.state in (State.STABLE, State.PREPARING_REBALANCE):
            member = self.members.get(member_id)
            if member is not None:
                start_session(self, member, outcome)

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Everybody may look."""

    def check_offset_delete(self) -> None:
        if self.state is not State.EMPTY and not self.is_consumers:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def check_delete(self) -> None:
        if self.state is not State.EMPTY:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def is_subscribed_to(self, topic: str) -> bool:
        if self.subscribed_topics is None:
            return self.is_consumers
        return topic in self.subscribed_topics

    def offsets_expire_from_ms(self, topic: str, committed_at_ms: int) -> int | None:
        if self._protocol_type is None:
            return committed_at_ms
        if self.is_subscribed_to(topic):
            return None
        if self.state is State.EMPTY:
            return committed_at_ms if self.state_since_ms is None else self.state_since_ms
        return committed_at_ms if self.state is State.STABLE and self.is_consumers else None


SESSION = "classic-session"
JOIN = "classic-join"
SYNC = "classic-sync"
"""The timers of classic groups: of a member, of a group whose members are to join, to sync."""


def session_timer(group_id: str, member_id: str) -> TimerKey:
    return (SESSION, group_id, member_id)


def start_session(group: ClassicGroup, member: ClassicMember, outcome: Outcome) -> None:
    outcome.start_timer((SESSION, group.group_id, member.member_id), member.terms.session_timeout_ms)


def ensure_classic_group(context: GroupContext, group_id: str) -> Group:
    """The group, of whichever kind; if there is none, a classic one without members, as a home for its offsets."""
    group = context.groups.get(group_id)
    if group is None:
        group = context.groups[group_id] = ClassicGroup(group_id)
    return group
