"""Streams groups: the part of a shard that answers for them."""

from collections.abc import Iterator, Mapping

from penstock.group.groups import STREAMS, GroupContext
from penstock.group.parts import OnTimer, Part, Replay
from penstock.group.streams.describe import describe_streams_group
from penstock.group.streams.group import FOLDED_RECORDS, StreamsGroup
from penstock.group.streams.heartbeat import heartbeat
from penstock.group.streams.leaving import find_streams_group, remove_member
from penstock.group.streams.member import Member, MemberState
from penstock.group.streams.target import compute_target, write_changes
from penstock.group.streams.topics import configure_topology
from penstock.group.streams.world import INITIAL_DELAY, REBALANCE, SESSION, StreamsWorld
from penstock.machine import Caller, Outcome, RecordContext, Ticket, TimerKey
from penstock.wire.messages.streams_group_describe import DescribedGroup
from penstock.wire.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from penstock.wire.schema import StoredMessage
from penstock.wire.stored.streams_group import StreamsGroupMetadataKey


class StreamsGroups(Part):
    def __init__(self, context: GroupContext) -> None:
        super().__init__(context)
        self.world = StreamsWorld(context)

    # requests

    def handle_heartbeat(
        self, request: StreamsGroupHeartbeatRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome:
        """Replies with a `HeartbeatResult`."""
        outcome = Outcome()
        outcome.reply(ticket, heartbeat(self.world, request, caller, outcome, now_ms))
        return outcome

    def describe(self, group_id: str) -> DescribedGroup:
        return describe_streams_group(find_streams_group(self.world, group_id))

    # replay

    def replays(self) -> Mapping[type[StoredMessage], Replay]:
        return {**dict.fromkeys(FOLDED_RECORDS, self._replay), StreamsGroupMetadataKey: self._replay_group}

    def _replay(self, key: StoredMessage, value: StoredMessage | None, context: RecordContext) -> None:
        group_id: str = key.group_id  # type: ignore[attr-defined]
        group = self.context.groups.get(group_id)
        if not isinstance(group, StreamsGroup):
            if value is None:
                return
            group = self.context.groups[group_id] = StreamsGroup(group_id)
        group.fold(key, value)

    def _replay_group(
        self, key: StreamsGroupMetadataKey, value: StoredMessage | None, context: RecordContext
    ) -> None:
        if value is not None:
            self._replay(key, value, context)
        elif isinstance(self.context.groups.get(key.group_id), StreamsGroup):
            del self.context.groups[key.group_id]
            self.world.delayed.discard(key.group_id)

    # news

    def on_loaded(self, now_ms: int, outcome: Outcome) -> None:
        for group in self._groups():
            for member in group.members.values():
                self.world.start_session(group.group_id, member.member_id, outcome)
                if member.current.state == MemberState.UNREVOKED_TASKS:
                    self.world.start_rebalance(group.group_id, member, outcome)

    def on_topics_changed(self, names: frozenset[str], now_ms: int, outcome: Outcome) -> None:
        for group in self._groups():
            if group.topology is not None and not names.isdisjoint(group.topology.required_topics):
                group.soft.checked_epoch = None

    def _groups(self) -> Iterator[StreamsGroup]:
        return (group for group in self.context.of_kind(STREAMS) if isinstance(group, StreamsGroup))

    # timers

    def timers(self) -> Mapping[str, OnTimer]:
        return {
            SESSION: self._on_session_timeout,
            REBALANCE: self._on_rebalance_timeout,
            INITIAL_DELAY: self._on_delay_over,
        }

    def _on_session_timeout(self, key: TimerKey, now_ms: int) -> Outcome:
        return self._remove(key, is_overdue=True)

    def _on_rebalance_timeout(self, key: TimerKey, now_ms: int) -> Outcome:
        """A member did not give up tasks in time; if it has by now, all is well."""
        member = self._find_member(key)
        is_overdue = member is not None and member.current.state == MemberState.UNREVOKED_TASKS
        return self._remove(key, is_overdue=is_overdue)

    def _remove(self, key: TimerKey, *, is_overdue: bool) -> Outcome:
        outcome = Outcome()
        member = self._find_member(key)
        if member is not None and is_overdue:
            remove_member(self.world, find_streams_group(self.world, str(key[1])), member, outcome)
        return outcome

    def _find_member(self, key: TimerKey) -> Member | None:
        group = self.context.groups.get(str(key[1]))
        return group.members.get(str(key[2])) if isinstance(group, StreamsGroup) else None

    def _on_delay_over(self, key: TimerKey, now_ms: int) -> Outcome:
        """No more members are waited for: those that there are by now get the first assignment."""
        outcome = Outcome()
        self.world.delayed.discard(str(key[1]))
        group = self.context.groups.get(str(key[1]))
        if not isinstance(group, StreamsGroup) or group.group_epoch <= group.assignment_epoch:
            return outcome
        if group.topology is not None and group.members:
            configured = group.soft.configured
            if configured is None:
                configured = group.soft.configured = configure_topology(group.topology, self.context.image)
            target = compute_target(group, group.members.values(), configured, group.assignment_configs)
            write_changes(outcome, group, target, group.group_epoch, now_ms)
        return outcome
