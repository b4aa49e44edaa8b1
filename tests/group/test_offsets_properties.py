"""Random commits, transactions, deletions and time, against a plain dictionary and a replay of the log."""

from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from penstock.errors import ErrorCode
from penstock.group.offsets_store import OffsetStore
from penstock.group.shard import GroupShard
from penstock.machine import Caller, Producer
from penstock.settings.broker import BrokerSettings
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from penstock.wire.messages.offset_fetch import OffsetFetchRequestGroup
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.scripts.world import World
from tests.support.examples import examples

GROUPS, TOPICS, PARTITIONS, PRODUCERS = ("g", "h"), ("orders",), 1, (7, 8)
ADMIN = Caller(9, "admin", "/10.0.0.1")
RETENTION_MS = 600_000

group_ids = st.sampled_from(GROUPS)
topics = st.sampled_from(TOPICS)
partitions = st.integers(0, PARTITIONS - 1)
producers = st.sampled_from(PRODUCERS)

Key = tuple[str, str, int]
Commit = tuple[int, int]
"""Offset, which grows from commit to commit, and time."""


class Offsets(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        broker = BrokerSettings.from_configs({"offsets.retention.minutes": "10"})
        self.world: World[GroupShard] = World(
            lambda world: GroupShard(world.image, lambda: broker, world.new_id)
        )
        for topic in TOPICS:
            self.world.put_topic(topic, PARTITIONS)
        self.committed: dict[Key, Commit] = {}
        self.pending: dict[int, dict[Key, Commit]] = {}
        self.commits = 0

    # what happens

    def _next(self) -> Commit:
        """Every commit has an offset of its own, so that none is taken for another."""
        self.commits += 1
        return self.commits, self.world.now_ms

    @rule(group=group_ids, topic=topics, partition=partitions)
    def commit(self, group: str, topic: str, partition: int) -> None:
        commit = self._next()
        one = OffsetCommitRequestPartition(partition, commit[0])
        request = OffsetCommitRequest(
            group_id=group, topics=[OffsetCommitRequestTopic(topic, partitions=[one])]
        )
        code = self._ask_commit(
            lambda shard, ticket, now_ms: shard.offsets.handle_offset_commit(request, ADMIN, ticket, now_ms)
        )
        assert code == ErrorCode.NONE
        self.committed[group, topic, partition] = commit

    @rule(producer=producers, group=group_ids, topic=topics, partition=partitions)
    def commit_in_transaction(self, producer: int, group: str, topic: str, partition: int) -> None:
        commit = self._next()
        one = TxnOffsetCommitRequestPartition(partition, commit[0])
        request = TxnOffsetCommitRequest(
            transactional_id="t",
            group_id=group,
            producer_id=producer,
            producer_epoch=0,
            topics=[TxnOffsetCommitRequestTopic(topic, [one])],
        )
        code = self._ask_commit(
            lambda shard, ticket, now_ms: shard.offsets.handle_txn_offset_commit(
                request, ADMIN, ticket, now_ms
            )
        )
        assert code == ErrorCode.NONE
        self.pending.setdefault(producer, {})[group, topic, partition] = commit

    def _ask_commit(self, handle: Any) -> int:
        answer = self.world.ask("admin", handle).answer
        code: int = answer.topics[0].partitions[0].error_code
        return code

    @rule(producer=producers, is_commit=st.booleans())
    def end_transaction(self, producer: int, is_commit: bool) -> None:
        self.world.end_transaction(Producer(producer, 1), is_commit=is_commit)
        for key, commit in self.pending.pop(producer, {}).items():
            if is_commit and self.committed.get(key, commit) <= commit:
                self.committed[key] = commit

    def _forget(self, key: Key) -> None:
        self.committed.pop(key, None)
        for pending in self.pending.values():
            pending.pop(key, None)

    @rule(group=group_ids, topic=topics, partition=partitions)
    def delete_offset(self, group: str, topic: str, partition: int) -> None:
        one = OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(partition)])
        request = OffsetDeleteRequest(group, [one])
        self.world.ask(
            "admin", lambda shard, ticket, now_ms: shard.offsets.handle_offset_delete(request, ticket, now_ms)
        )
        self._forget((group, topic, partition))

    @rule(group=group_ids)
    def delete_group(self, group: str) -> None:
        self.world.ask(
            "admin", lambda shard, ticket, now_ms: shard.handle_delete_group(group, ticket, now_ms)
        )
        for key in self._keys():
            if key[0] == group:
                self._forget(key)

    @rule(topic=topics)
    def replace_topic(self, topic: str) -> None:
        self.world.remove_topic(topic)
        self.world.put_topic(topic, PARTITIONS)
        for key in self._keys():
            if key[1] == topic:
                self._forget(key)

    def _keys(self) -> list[Key]:
        return [*self.committed, *(key for pending in self.pending.values() for key in pending)]

    @rule(minutes=st.integers(1, 25))
    def pass_time(self, minutes: int) -> None:
        """One minute at a time; the check comes every ten."""
        for _ in range(minutes):
            due = self.world.timers["expire-offsets",] <= self.world.now_ms + 60_000
            self.world.advance(60_000)
            if due:
                self._expire(self.world.now_ms)

    def _expire(self, now_ms: int) -> None:
        unstable = {key for pending in self.pending.values() for key in pending}
        for key, (_, committed_at_ms) in list(self.committed.items()):
            if now_ms - committed_at_ms >= RETENTION_MS and key not in unstable:
                del self.committed[key]

    @rule()
    def restart(self) -> None:
        self.world.reload()

    # what holds

    @invariant()
    def offsets_are_those_of_the_model(self) -> None:
        shown = {}
        for group in GROUPS:
            wanted = OffsetFetchRequestGroup(group, topics=None)
            found = self.world.machine.offsets.fetch(wanted, 9, require_stable=False)
            for topic in found.topics:
                for one in topic.partitions:
                    shown[group, topic.name, one.partition_index] = one.committed_offset
        assert shown == {key: commit[0] for key, commit in self.committed.items()}

    @invariant()
    def unstable_is_what_is_pending(self) -> None:
        store = self.world.machine.offsets.store
        unstable = {(group, topic, partition) for group, topic, partition, _ in store.open_transactions}
        assert unstable == {key for pending in self.pending.values() for key in pending}

    @invariant()
    def a_replay_of_the_log_is_the_live_state(self) -> None:
        assert contents(self.world.replayed().offsets.store) == contents(self.world.machine.offsets.store)

    @invariant()
    def whoever_has_offsets_is_a_group(self) -> None:
        assert {key[0] for key in self._keys()} <= set(self.world.machine.context.groups)


def contents(store: OffsetStore) -> Any:
    return (
        list_of(store.committed),
        {producer: list_of(some) for producer, some in store.pending.items() if list_of(some)},
        sorted((*key, sorted(producers)) for *key, producers in store.open_transactions),
    )


def list_of(some: Any) -> list[Any]:
    return sorted(
        (group, topic, partition, offset.record_offset, offset.value.offset, offset.value.topic_id)
        for group, topic, partition, offset in some
    )


Offsets.TestCase.settings = settings(max_examples=examples(40), stateful_step_count=50, deadline=None)
TestOffsets = Offsets.TestCase
