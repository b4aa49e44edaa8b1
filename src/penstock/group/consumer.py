"""Consumer groups (KIP-848): the part of a shard that answers for them."""

from collections.abc import Mapping

from penstock.group import consumer_classic
from penstock.group.classic import ClassicGroups
from penstock.group.consumer_describe import describe_consumer_group
from penstock.group.consumer_group import FOLDED_RECORDS, ConsumerGroup
from penstock.group.consumer_heartbeat import heartbeat
from penstock.group.consumer_leaving import find_consumer_group, remove_members
from penstock.group.consumer_member import Member, MemberState
from penstock.group.consumer_records import write_group_epoch, write_regex
from penstock.group.consumer_world import (
    REBALANCE,
    REGEXES,
    REGEXES_TIMER,
    REJOIN,
    SESSION,
    SYNC,
    ConsumerWorld,
    rebalance_timer,
)
from penstock.group.groups import CONSUMER, GroupContext
from penstock.group.parts import OnTimer, Part, Replay
from penstock.group.topic_regexes import Matching
from penstock.machine import Caller, Outcome, RecordContext, Ticket, TimerKey
from penstock.wire.messages.consumer_group_describe import DescribedGroup
from penstock.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.wire.messages.heartbeat import HeartbeatRequest
from penstock.wire.messages.join_group import JoinGroupRequest
from penstock.wire.messages.leave_group import LeaveGroupRequest
from penstock.wire.messages.sync_group import SyncGroupRequest
from penstock.wire.schema import StoredMessage
from penstock.wire.stored.group import ConsumerGroupMetadataKey


class ConsumerGroups(Part):
    def __init__(self, context: GroupContext, classic: ClassicGroups) -> None:
        super().__init__(context)
        self.world = ConsumerWorld(context, classic)

    # requests

    def handle_heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome:
        outcome = Outcome()
        outcome.reply(ticket, heartbeat(self.world, request, caller, outcome, now_ms))
        return outcome

    def describe(self, group_id: str) -> DescribedGroup:
        group = find_consumer_group(self.world, group_id)
        return describe_consumer_group(group, self.world.assignors()[0], self.context.image)

    # requests of the classic protocol

    def handle_classic_join(
        self, request: JoinGroupRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome:
        outcome = Outcome()
        consumer_classic.join(self.world, request, caller, ticket, outcome, now_ms)
        return outcome

    def handle_classic_sync(
        self, request: SyncGroupRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome:
        outcome = Outcome()
        consumer_classic.sync(self.world, request, caller, ticket, outcome)
        return outcome

    def handle_classic_heartbeat(
        self, request: HeartbeatRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome:
        outcome = Outcome()
        consumer_classic.heartbeat(self.world, request, ticket, outcome)
        return outcome

    def handle_classic_leave(
        self, request: LeaveGroupRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome:
        outcome = Outcome()
        consumer_classic.leave(self.world, request, caller, ticket, outcome, now_ms)
        return outcome

    # replay

    def replays(self) -> Mapping[type[StoredMessage], Replay]:
        return {**dict.fromkeys(FOLDED_RECORDS, self._replay), ConsumerGroupMetadataKey: self._replay_group}

    def _replay(self, key: StoredMessage, value: StoredMessage | None, context: RecordContext) -> None:
        group_id: str = key.group_id  # type: ignore[attr-defined]
        group = self.context.groups.get(group_id)
        if not isinstance(group, ConsumerGroup):
            if value is None:
                return
            group = self.context.groups[group_id] = ConsumerGroup(group_id)
        group.fold(key, value)

    def _replay_group(
        self, key: ConsumerGroupMetadataKey, value: StoredMessage | None, context: RecordContext
    ) -> None:
        if value is not None:
            self._replay(key, value, context)
        elif isinstance(self.context.groups.get(key.group_id), ConsumerGroup):
            del self.context.groups[key.group_id]

    # news

    def on_loaded(self, now_ms: int, outcome: Outcome) -> None:
        self.world.topics_version = now_ms
        for group in self._groups():
            for member in group.members.values():
                self.world.start_session(group.group_id, member, outcome)
                if member.current.state == MemberState.UNREVOKED_PARTITIONS:
                    outcome.start_timer(
                        rebalance_timer(group.group_id, member.member_id),
                        member.metadata.rebalance_timeout_ms,
                    )

    def on_topics_changed(self, names: frozenset[str], now_ms: int, outcome: Outcome) -> None:
        self.world.topics_version = max(now_ms, self.world.topics_version + 1)
        for group in self._groups():
            if any(name in group.subscriptions for name in names):
                group.checked_epoch = None

    def _groups(self) -> list[ConsumerGroup]:
        return [group for group in self.context.of_kind(CONSUMER) if isinstance(group, ConsumerGroup)]

    # timers

    def timers(self) -> Mapping[str, OnTimer]:
        return {
            SESSION: self._on_overdue,
            REJOIN: self._on_overdue,
            SYNC: self._on_overdue,
            REBALANCE: self._on_rebalance_timeout,
            REGEXES: self._on_regexes_due,
        }

    def _on_overdue(self, key: TimerKey, now_ms: int) -> Outcome:
        """A member was silent too long, or did not do in time what it was told to."""
        outcome = Outcome()
        member = self._find_member(key)
        if member is not None:
            group = find_consumer_group(self.world, str(key[1]))
            remove_members(self.world, group, [member], outcome, now_ms)
        return outcome

    def _on_rebalance_timeout(self, key: TimerKey, now_ms: int) -> Outcome:
        """A member did not give up partitions in time; if it has by now, all is well."""
        member = self._find_member(key)
        if member is None or not member.current.revoking:
            return Outcome()
        return self._on_overdue(key, now_ms)

    def _find_member(self, key: TimerKey) -> Member | None:
        group = self.context.groups.get(str(key[1]))
        return group.members.get(str(key[2])) if isinstance(group, ConsumerGroup) else None

    def _on_regexes_due(self, key: TimerKey, now_ms: int) -> Outcome:
        """The next group has a turn, and one more after the others where it takes long."""
        outcome = Outcome()
        world = self.world
        group_id = next(iter(world.matchings), None)
        if group_id is None:
            return outcome
        matching = world.matchings.pop(group_id)
        group = self.context.groups.get(group_id)
        if not isinstance(group, ConsumerGroup):
            world.refreshing.pop(group_id, None)
        elif matching.take_turn(group.subscriptions.regexes, self.context.image.topics, world.topics_version):
            world.refreshing.pop(group_id, None)
            self._write_regexes(group, matching, outcome, now_ms)
        else:
            world.refreshing[group_id] = now_ms
            world.matchings[group_id] = matching
        self._maybe_match_on(outcome)
        outcome.on_refused = lambda _: self._maybe_match_on(Outcome())
        return outcome

    def _maybe_match_on(self, outcome: Outcome) -> Outcome:
        if self.world.matchings:
            outcome.start_timer(REGEXES_TIMER, 0)
        return outcome

    def _write_regexes(self, group: ConsumerGroup, matching: Matching, outcome: Outcome, now_ms: int) -> None:
        """All that is found, when all of it is."""
        subscriptions = group.subscriptions
        topics, version = self.context.image.topics, self.world.topics_version
        found = matching.resolved(subscriptions.regexes, topics, version, now_ms)
        is_changed = False
        for regex, resolved in found.items():
            old = subscriptions.resolved.get(regex)
            is_changed |= (old.topics if old else frozenset()) != resolved.topics
            write_regex(outcome, group.group_id, regex, resolved)
        wanted = set(subscriptions.names).union(*(resolved.topics for resolved in found.values()))
        metadata_hash = self.world.topic_hashes.of_group(wanted)
        if is_changed or metadata_hash != group.metadata_hash:
            write_group_epoch(outcome, group.group_id, group.group_epoch + 1, metadata_hash)
