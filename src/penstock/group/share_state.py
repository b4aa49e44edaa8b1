"""One shard of the share coordinator: the machine over one partition of `__share_group_state`.

It remembers, for each share partition (a group's view of a topic partition), where its window begins and what became
of the records in it. The first record of a share partition is a snapshot; updates follow, each with what has changed
since, and after so many of them comes another snapshot. What lies before the oldest snapshot that is still needed is
cut off the log.

Three epochs guard it. The snapshot epoch counts snapshots. The state epoch is the group's epoch when the state was
initialised: a later one means that the state was made anew, and whoever writes with an older one is fenced. The leader
epoch is that of the topic partition's leader, which alone writes: an old leader is fenced.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from penstock.controller.image import ClusterImage
from penstock.errors import ApiError, ErrorCode
from penstock.group.share_batches import merge_batches
from penstock.machine import Outcome, Producer, RecordContext, Ticket, TimerKey
from penstock.settings.broker import BrokerSettings
from penstock.wire.messages import delete_share_group_state as delete
from penstock.wire.messages import initialize_share_group_state as initialize
from penstock.wire.messages import read_share_group_state as read
from penstock.wire.messages import read_share_group_state_summary as summary
from penstock.wire.messages import write_share_group_state as write
from penstock.wire.schema import RecordTypes, StoredMessage
from penstock.wire.stored import share_state as share_state_records
from penstock.wire.stored.share_state import (
    ShareSnapshotKey,
    ShareSnapshotValue,
    ShareUpdateKey,
    ShareUpdateValue,
    StateBatch,
)

UNINITIALIZED = -1
NO_EPOCH = -1
PRUNE, SNAPSHOT = ("prune",), ("snapshot",)


class SharePartitionKey(NamedTuple):
    group_id: str
    topic_id: bytes
    partition: int


class PruneLog(NamedTuple):
    """An effect: the records below this offset are needed no more."""

    offset: int


class ShareState:
    """What is stored of one share partition."""

    __slots__ = ("highest_leader_epoch", "highest_state_epoch", "snapshot", "snapshot_offset", "update_count")

    def __init__(self, snapshot: ShareSnapshotValue, offset: int, before: "ShareState | None") -> None:
        self.snapshot = snapshot
        """The last snapshot, with all updates since."""
        self.snapshot_offset = offset
        self.update_count = 0
        self.highest_leader_epoch = snapshot.leader_epoch
        self.highest_state_epoch = snapshot.state_epoch
        if before is not None:
            self.highest_leader_epoch = max(before.highest_leader_epoch, snapshot.leader_epoch)
            self.highest_state_epoch = max(before.highest_state_epoch, snapshot.state_epoch)

    def update(self, value: ShareUpdateValue) -> None:
        snapshot = self.snapshot
        if value.start_offset != UNINITIALIZED:
            snapshot.start_offset = value.start_offset
        if value.leader_epoch != NO_EPOCH:
            snapshot.leader_epoch = value.leader_epoch
        snapshot.delivery_complete_count = value.delivery_complete_count
        snapshot.state_batches = merge_batches(
            list(snapshot.state_batches), value.state_batches, snapshot.start_offset
        )
        self.highest_leader_epoch = max(self.highest_leader_epoch, value.leader_epoch)
        self.update_count += 1

    @property
    def is_cold(self) -> bool:
        """Whether its last snapshot was made because nothing happened."""
        return self.snapshot.create_timestamp != self.snapshot.write_timestamp


class ShareStateShard:
    RECORD_TYPES: ClassVar[RecordTypes] = share_state_records.RECORD_TYPES

    def __init__(self, image: ClusterImage, settings: Callable[[], BrokerSettings]) -> None:
        self._image = image
        self._settings = settings
        self.states: dict[SharePartitionKey, ShareState] = {}
        self._last_offset = 0

    # replay

    def replay(self, key: StoredMessage, value: StoredMessage | None, context: RecordContext) -> None:
        assert isinstance(key, (ShareSnapshotKey, ShareUpdateKey))
        where = SharePartitionKey(key.group_id, key.topic_id, key.partition)
        self._last_offset = context.offset
        if value is None:
            self.states.pop(where, None)
        elif isinstance(value, ShareSnapshotValue):
            self.states[where] = ShareState(_copy(value), context.offset, self.states.get(where))
        elif isinstance(value, ShareUpdateValue) and where in self.states:
            self.states[where].update(value)

    def replay_end_transaction(self, producer: Producer, *, is_commit: bool) -> None:
        """Nothing of this topic is ever written in a transaction."""

    # asking

    def handle_initialize(
        self, key: SharePartitionKey, asked: initialize.PartitionData, ticket: Ticket, now_ms: int
    ) -> Outcome:
        self._check_key(key)
        known = self.states.get(key)
        if known is not None and NO_EPOCH != asked.state_epoch < known.highest_state_epoch:
            raise ApiError(ErrorCode.FENCED_STATE_EPOCH, STATE_EPOCH_FENCED)
        self._check_exists(key)
        outcome = Outcome()
        outcome.write(
            ShareSnapshotKey(*key),
            ShareSnapshotValue(
                snapshot_epoch=0 if known is None else known.snapshot.snapshot_epoch + 1,
                state_epoch=asked.state_epoch,
                start_offset=asked.start_offset,
                delivery_complete_count=UNINITIALIZED if asked.start_offset == UNINITIALIZED else 0,
                create_timestamp=now_ms,
                write_timestamp=now_ms,
            ),
        )
        outcome.reply(ticket, initialize.PartitionResult(key.partition))
        return outcome

    def handle_read(
        self, key: SharePartitionKey, asked: read.PartitionData, ticket: Ticket, now_ms: int
    ) -> Outcome:
        state = self._find(key, "Read")
        self._check_leader_epoch(state, asked.leader_epoch)
        self._check_exists(key)
        snapshot = state.snapshot
        outcome = Outcome()
        outcome.reply(
            ticket,
            read.PartitionResult(
                partition=key.partition,
                state_epoch=snapshot.state_epoch,
                start_offset=snapshot.start_offset,
                state_batches=[
                    read.StateBatch(
                        batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count
                    )
                    for batch in snapshot.state_batches
                ],
            ),
        )
        if asked.leader_epoch not in (NO_EPOCH, state.highest_leader_epoch):
            count = snapshot.delivery_complete_count
            self._write(outcome, key, snapshot.start_offset, count, asked.leader_epoch, (), now_ms)
        return outcome

    def handle_write(
        self, key: SharePartitionKey, asked: write.PartitionData, ticket: Ticket, now_ms: int
    ) -> Outcome:
        state = self._find(key, "Write")
        self._check_leader_epoch(state, asked.leader_epoch)
        if NO_EPOCH != asked.state_epoch < state.highest_state_epoch:
            raise ApiError(ErrorCode.FENCED_STATE_EPOCH, STATE_EPOCH_FENCED)
        self._check_exists(key)
        batches = [
            StateBatch(batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count)
            for batch in asked.state_batches
        ]
        epoch = state.snapshot.leader_epoch
        outcome = Outcome()
        self._write(outcome, key, asked.start_offset, asked.delivery_complete_count, epoch, batches, now_ms)
        outcome.reply(ticket, write.PartitionResult(key.partition))
        return outcome

    def handle_delete(self, key: SharePartitionKey, ticket: Ticket, now_ms: int) -> Outcome:
        self._check_key(key)
        self._check_exists(key)
        outcome = Outcome()
        if key in self.states:
            outcome.write(ShareSnapshotKey(*key))
        outcome.reply(ticket, delete.PartitionResult(key.partition))
        return outcome

    def handle_read_summary(self, key: SharePartitionKey, ticket: Ticket, now_ms: int) -> Outcome:
        self._check_key(key)
        self._check_exists(key)
        result = summary.PartitionResult(partition=key.partition, start_offset=UNINITIALIZED)
        if key in self.states:
            snapshot = self.states[key].snapshot
            result.state_epoch = snapshot.state_epoch
            result.leader_epoch = snapshot.leader_epoch
            result.start_offset = snapshot.start_offset
            result.delivery_complete_count = snapshot.delivery_complete_count
        outcome = Outcome()
        outcome.reply(ticket, result)
        return outcome

    def _write(
        self,
        outcome: Outcome,
        key: SharePartitionKey,
        start_offset: int,
        delivery_complete_count: int,
        leader_epoch: int,
        batches: Sequence[StateBatch],
        now_ms: int,
    ) -> None:
        """Writes an update, or a snapshot if there were enough updates."""
        state = self.states[key]
        current = state.snapshot
        if state.update_count < self._settings().share_coordinator_snapshot_update_records_per_snapshot:
            update = ShareUpdateValue(
                snapshot_epoch=current.snapshot_epoch,
                leader_epoch=leader_epoch,
                start_offset=start_offset,
                delivery_complete_count=delivery_complete_count,
                state_batches=merge_batches([], batches, start_offset),
            )
            outcome.write(ShareUpdateKey(*key), update)
            return
        snapshot = _copy(current)
        snapshot.snapshot_epoch += 1
        snapshot.leader_epoch = leader_epoch
        snapshot.delivery_complete_count = delivery_complete_count
        snapshot.create_timestamp = snapshot.write_timestamp = now_ms
        if start_offset != UNINITIALIZED:
            snapshot.start_offset = start_offset
        snapshot.state_batches = merge_batches(list(current.state_batches), batches, snapshot.start_offset)
        outcome.write(ShareSnapshotKey(*key), snapshot)

    # checks

    def _find(self, key: SharePartitionKey, operation: str) -> ShareState:
        self._check_key(key)
        state = self.states.get(key)
        if state is None:
            message = f"{operation} operation on uninitialized share partition not allowed."
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
        return state

    def _check_key(self, key: SharePartitionKey) -> None:
        if key.partition < 0:
            raise ApiError(ErrorCode.INVALID_REQUEST, "The partition id cannot be a negative number.")

    def _check_leader_epoch(self, state: ShareState, leader_epoch: int) -> None:
        if NO_EPOCH != leader_epoch < state.highest_leader_epoch:
            raise ApiError(ErrorCode.FENCED_LEADER_EPOCH, LEADER_EPOCH_FENCED)

    def _check_exists(self, key: SharePartitionKey) -> None:
        topic = self._image.topic_by_id(key.topic_id)
        if topic is None or key.partition >= len(topic.partitions):
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_PARTITION)

    # by itself

    def on_loaded(self, now_ms: int) -> Outcome:
        outcome = self._forget_deleted_topics()
        self._start_timers(outcome)
        return outcome

    def _start_timers(self, outcome: Outcome) -> None:
        settings = self._settings()
        outcome.start_timer(PRUNE, settings.share_coordinator_state_topic_prune_interval_ms)
        outcome.start_timer(SNAPSHOT, settings.share_coordinator_cold_partition_snapshot_interval_ms)

    def on_timer(self, key: TimerKey, now_ms: int) -> Outcome:
        settings = self._settings()
        outcome = Outcome()
        if key == PRUNE:
            outcome.effects.append(PruneLog(self.first_needed_offset()))
            outcome.start_timer(PRUNE, settings.share_coordinator_state_topic_prune_interval_ms)
        else:
            interval_ms = settings.share_coordinator_cold_partition_snapshot_interval_ms
            self._snapshot_cold(outcome, interval_ms, now_ms)
            outcome.start_timer(SNAPSHOT, interval_ms)
        return outcome

    def first_needed_offset(self) -> int:
        return min((state.snapshot_offset for state in self.states.values()), default=self._last_offset)

    def _snapshot_cold(self, outcome: Outcome, interval_ms: int, now_ms: int) -> None:
        """Lets share partitions that rest not hold back the pruning."""
        if all(state.is_cold for state in self.states.values()):
            return
        for key, state in self.states.items():
            if now_ms - state.snapshot.write_timestamp >= interval_ms:
                snapshot = _copy(state.snapshot)
                snapshot.snapshot_epoch += 1
                snapshot.write_timestamp = now_ms
                outcome.write(ShareSnapshotKey(*key), snapshot)

    def on_topics_changed(self, names: frozenset[str], now_ms: int) -> Outcome:
        if all(name in self._image.topics for name in names):
            return Outcome()
        return self._forget_deleted_topics()

    def _forget_deleted_topics(self) -> Outcome:
        outcome = Outcome()
        for key in self.states:
            if self._image.topic_by_id(key.topic_id) is None:
                outcome.write(ShareSnapshotKey(*key))
        return outcome


STATE_EPOCH_FENCED = (
    "The share coordinator rejected the request because the share-group state epoch did not match."
)
LEADER_EPOCH_FENCED = "The leader epoch in the request is older than the epoch on the broker."
UNKNOWN_PARTITION = "This server does not host this topic-partition."


def _copy(value: ShareSnapshotValue) -> ShareSnapshotValue:
    """For what is replayed is what was written, and changes with the updates."""
    return ShareSnapshotValue(
        value.snapshot_epoch,
        value.state_epoch,
        value.leader_epoch,
        value.start_offset,
        value.delivery_complete_count,
        value.create_timestamp,
        value.write_timestamp,
        list(value.state_batches),
    )
