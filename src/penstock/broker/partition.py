"""One partition that this broker hosts: its log, its replica state, and who waits for it.

Produce appends here, fetch reads here. The log knows nothing of replicas and the replica state nothing of
files; this is where the two meet: an append moves the leader's log end offset, that may move the high
watermark, and that wakes the fetches that wait for it.

A partition has one of two roles at a time, for one leader epoch. The leader takes what clients send and tells followers
how far all are; a follower takes what its leader has (`broker.follower`) and serves nobody but for consumers that it is
told to. Who changes role is the cluster's image; whoever waits here is woken then, and finds out.

Two kinds of requests wait: readers of what is committed, for the high watermark (`waiters`), and followers, for the end
of the log (`followers_waiting`), without whom the high watermark would not move. Who has waited longest is woken first.
"""

import asyncio
from typing import TYPE_CHECKING, Protocol

from penstock.errors import ApiError, ErrorCode, StorageError
from penstock.log.append_result import AppendResult
from penstock.log.file_slice import FileSlice
from penstock.log.partition_log import PartitionLog
from penstock.log.producer_state import AppendOrigin
from penstock.log.verification import Admission
from penstock.machine import Producer
from penstock.records.batch import TRANSACTIONAL_FLAG, Batch, decode_batches, split_batches
from penstock.records.builder import build_end_transaction_marker
from penstock.records.validation import prepare, prepare_own
from penstock.replica.follower import FollowerState, decide_truncation
from penstock.replica.leader import LeaderState
from penstock.replica.replica_set import ReplicaSet
from penstock.txn.transaction import FIRST_VERSION_WITH_EPOCH_BUMP
from penstock.types import TopicPartition

if TYPE_CHECKING:
    from penstock.broker.hosted_directory import HostedDirectory


class Waiter(Protocol):
    """A request that is parked until something changes in one of its partitions."""

    def on_progress(self) -> None: ...


class Future(Protocol):
    """A copy that is to take the log's place, while the partition moves to another log directory."""

    log: PartitionLog
    directory: "HostedDirectory"

    def truncate_to(self, offset: int, now_ms: int) -> None: ...

    def start_anew_at(self, offset: int, now_ms: int) -> None: ...

    def close(self) -> None: ...


class Partition:
    __slots__ = (
        "broker_id",
        "directory",
        "flushed_at_ms",
        "followers_waiting",
        "future",
        "is_deleted",
        "leader",
        "log",
        "replica",
        "topic_id",
        "topic_partition",
        "waiters",
    )

    def __init__(
        self,
        topic_partition: TopicPartition,
        topic_id: bytes,
        broker_id: int,
        replica_set: ReplicaSet,
        log: PartitionLog,
        directory: "HostedDirectory",
        high_watermark: int,
    ) -> None:
        self.topic_partition = topic_partition
        self.topic_id = topic_id
        self.broker_id = broker_id
        self.log = log
        self.directory = directory
        self.is_deleted = False
        self.future: Future | None = None
        self.waiters: dict[Waiter, None] = {}
        self.followers_waiting: dict[Waiter, None] = {}
        self.flushed_at_ms = 0
        self.leader: LeaderState | None = None
        self.replica: LeaderState | FollowerState = FollowerState(
            replica_set, min(high_watermark, log.log_end_offset)
        )

    # roles

    def become_leader(self, replica_set: ReplicaSet, now_ms: int) -> None:
        """Takes the leadership for a new epoch; what the log holds beyond the high watermark stays.

        The log notes the epoch now, and not with its first record: a follower that has records of an epoch in between
        is to be told where it leaves this log.
        """
        if len(replica_set.replicas) > 1:
            try:
                self.log.epochs.assign(replica_set.leader_epoch, self.log.log_end_offset)
            except StorageError as error:
                self.directory.on_failure(error)
        self.replica = self.leader = LeaderState.begin(
            self.broker_id, replica_set, self.replica.high_watermark, self.log.log_end_offset, now_ms
        )
        self.wake_all()

    def become_follower(self, replica_set: ReplicaSet) -> None:
        self.leader = None
        self.replica = FollowerState(replica_set, self.replica.high_watermark)
        self.wake_all()

    def on_replica_set(self, replica_set: ReplicaSet) -> None:
        """Others are replicas, or in sync, in the same leader epoch."""
        if self.leader is None:
            self.replica.replica_set = replica_set
            return
        self.leader.on_replica_set(replica_set)
        self.leader.on_log_end_offset(self.log.log_end_offset)
        self.wake_all()

    def wake_all(self) -> None:
        """Whoever waits looks at the partition anew."""
        if self.waiters or self.followers_waiting:
            self.directory.wake(self)

    @property
    def replica_set(self) -> ReplicaSet:
        return self.replica.replica_set

    @property
    def high_watermark(self) -> int:
        return self.replica.high_watermark

    @property
    def last_stable_offset(self) -> int:
        return self.log.last_stable_offset(self.replica.high_watermark)

    # checks

    def check_online(self) -> None:
        if self.directory.offline:
            raise ApiError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"Partition {self.topic_partition} is in the offline log directory {self.directory.path}",
            )

    def check_leader(self, current_leader_epoch: int = -1) -> None:
        """Refuses a client that talks to the wrong broker or knows another leader epoch."""
        if self.directory.offline:
            self.check_online()
        if current_leader_epoch >= 0:
            self.check_epoch(current_leader_epoch)
        if self.leader is None:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def check_replica(self, current_leader_epoch: int) -> None:
        """Refuses who knows another leader epoch; a follower serves, too."""
        self.check_online()
        if current_leader_epoch >= 0:
            self.check_epoch(current_leader_epoch)

    def check_epoch(self, current_leader_epoch: int) -> None:
        known = self.replica.replica_set.leader_epoch
        if current_leader_epoch < known:
            raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
        if current_leader_epoch > known:
            raise ApiError(ErrorCode.UNKNOWN_LEADER_EPOCH)

    def on_failure(self, error: StorageError) -> ApiError:
        """A file can't be read or written: its directory goes offline, unless the file was deleted with its topic."""
        if self.is_deleted:
            return ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        self.directory.on_failure(error)
        return ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))

    # produce

    def append(
        self,
        records: memoryview,
        produce_version: int,
        acks: int,
        now_ms: int,
        admission: Admission | None = None,
    ) -> AppendResult:
        """Appends what a producer sent. Transactional batches need an admission, see `log.verification`.

        Raises `LongBatch` for what is to be prepared elsewhere first, see `append_prepared`."""
        self._check_open_to_clients(acks)
        batches = decode_batches(records, produce_version=produce_version)
        if batches[0].attributes & TRANSACTIONAL_FLAG:
            self._check_admission(batches[0], admission)
        batches = prepare(batches, self.log.settings, now_ms)
        return self._append(batches, now_ms, AppendOrigin.CLIENT)

    def append_prepared(
        self, batches: list[Batch], acks: int, now_ms: int, admission: Admission | None
    ) -> AppendResult:
        """Appends what was prepared while others were served: much may have changed here since."""
        if self.is_deleted:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        self._check_open_to_clients(acks)
        if batches[0].attributes & TRANSACTIONAL_FLAG:
            self._check_admission(batches[0], admission)
        return self._append(batches, now_ms, AppendOrigin.CLIENT)

    def _check_open_to_clients(self, acks: int) -> None:
        self.check_leader()
        if acks == -1:
            self._check_enough_in_sync()

    def _check_admission(self, batch: Batch, admission: Admission | None) -> None:
        if admission is None:
            raise ApiError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        state = self.log.producer_state
        if not admission.is_verified or state.is_in_transaction(batch):
            return
        verification = state.verifications.get(batch.producer_id)
        if verification is None or verification is not admission.verification:
            state.check_epoch(batch)
            raise ApiError(ErrorCode.INVALID_TXN_STATE, "Record was not part of an ongoing transaction")

    def append_as_coordinator(
        self, batches: list[Batch], now_ms: int, origin: AppendOrigin = AppendOrigin.COORDINATOR
    ) -> AppendResult:
        """Appends what a coordinator on this broker writes: its records, or the marker of a transaction."""
        self.check_leader()
        self._check_enough_in_sync()
        return self._append(prepare_own(batches, self.log.settings, now_ms), now_ms, origin)

    def append_marker(
        self,
        producer: Producer,
        is_commit: bool,
        coordinator_epoch: int,
        transaction_version: int,
        *,
        now_ms: int,
    ) -> None:
        """Ends a transaction in this partition."""
        marker = build_end_transaction_marker(
            is_commit=is_commit,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            coordinator_epoch=coordinator_epoch,
            timestamp=now_ms,
        )
        raises = transaction_version >= FIRST_VERSION_WITH_EPOCH_BUMP
        origin = AppendOrigin.RAISING_COORDINATOR if raises else AppendOrigin.COORDINATOR
        self.append_as_coordinator([marker], now_ms, origin)

    def _check_enough_in_sync(self) -> None:
        minimum = self.log.settings.min_insync_replicas
        leader = self.leader
        assert leader is not None
        if minimum > 1 and not leader.has_enough_in_sync(minimum):  # one there is: who leads
            raise ApiError(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                f"The size of the current ISR {list(self.replica_set.isr)} is insufficient to satisfy the "
                f"min.isr requirement of {minimum} for partition {self.topic_partition}",
            )

    def _append(self, batches: list[Batch], now_ms: int, origin: AppendOrigin) -> AppendResult:
        leader = self.leader
        assert leader is not None
        try:
            result = self.log.append_as_leader(
                batches, leader_epoch=leader.replica_set.leader_epoch, now_ms=now_ms, origin=origin
            )
        except StorageError as error:
            raise self.on_failure(error) from error
        if leader.on_log_end_offset(self.log.log_end_offset) and self.waiters:
            self.directory.wake(self)
        elif self.followers_waiting:
            self.directory.wake_followers(self)
        return result

    # replication

    def on_follower_fetch(
        self, broker_id: int, offset: int, log_start_offset: int, now_ms: int
    ) -> tuple[int, ...] | None:
        """A follower has all from its start to below `offset`; the set in sync that it should join by that, if any."""
        leader = self.leader
        if leader is None or broker_id not in leader.followers:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if offset > self.log.log_end_offset:
            raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)  # it has something else, and is told to begin anew
        leader.followers[broker_id].log_start_offset = log_start_offset
        if leader.on_fetch(broker_id, offset, self.log.log_end_offset, now_ms) and self.waiters:
            self.directory.wake(self)
        return leader.decide_joining(broker_id)

    def append_fetched(
        self, records: memoryview, leader_high_watermark: int, leader_start_offset: int, now_ms: int
    ) -> bool:
        """What this replica's leader has sent; True if the log begins anew with it, earlier than it ended."""
        replica = self.replica
        assert isinstance(replica, FollowerState)
        earlier = self._start_within_a_batch(records)
        try:
            if earlier is not None:
                self._start_log_at(earlier, now_ms)
            if len(records):
                self.log.append_as_follower(records, now_ms=now_ms)
            if leader_start_offset > self.log.log_start_offset:
                self.log.delete_records_before(min(leader_start_offset, self.log.log_end_offset))
        except StorageError as error:
            raise self.on_failure(error) from error
        if replica.on_fetched(leader_high_watermark, self.log.log_end_offset):
            self.wake_all()
        return earlier is not None

    def _start_within_a_batch(self, records: memoryview) -> int | None:
        """Where the first batch begins, if the record that an empty log is to begin with lies further on in it: the
        records before were deleted, and batches are sent whole."""
        end = self.log.log_end_offset
        if self.log.log_start_offset != end or not len(records):
            return None
        first = next(iter(split_batches(records)), None)
        return (
            first.base_offset if first is not None and first.base_offset < end <= first.last_offset else None
        )

    def truncate_to_leader(self, leader_epoch: int, leader_end_offset: int, now_ms: int) -> int:
        """Cuts off what the leader does not have; where the log ends then."""
        replica = self.replica
        assert isinstance(replica, FollowerState)
        offset = decide_truncation(
            leader_epoch,
            leader_end_offset,
            self.log.epochs.end_offset_for,
            self.log.log_end_offset,
            replica.high_watermark,
        )
        return self.truncate_to(offset, now_ms)

    def truncate_to(self, offset: int, now_ms: int) -> int:
        replica = self.replica
        assert isinstance(replica, FollowerState)
        try:
            self.log.truncate_to(offset, now_ms=now_ms)
        except StorageError as error:
            raise self.on_failure(error) from error
        if self.future is not None:
            self.future.truncate_to(self.log.log_end_offset, now_ms)
        replica.on_truncated(self.log.log_end_offset)
        return self.log.log_end_offset

    def start_anew_at(self, offset: int, now_ms: int) -> None:
        """The leader has nothing any more of what this replica would need next."""
        replica = self.replica
        assert isinstance(replica, FollowerState)
        try:
            self._start_log_at(offset, now_ms)
        except StorageError as error:
            raise self.on_failure(error) from error
        replica.high_watermark = offset

    def _start_log_at(self, offset: int, now_ms: int) -> None:
        self.log.truncate_fully_and_start_at(offset, now_ms=now_ms)
        if self.future is not None:
            self.future.start_anew_at(offset, now_ms)

    # fetch

    def read(self, offset: int, max_bytes: int, *, max_offset: int, at_least_one: bool) -> FileSlice | None:
        try:
            return self.log.read(offset, max_bytes, max_offset=max_offset, at_least_one=at_least_one)
        except ApiError as error:
            if error.code == ErrorCode.CORRUPT_MESSAGE:
                self.directory.tell_of_damage(str(error))
            raise
        except StorageError as error:
            raise self.on_failure(error) from error

    def readable_end(self, replica_id: int, isolation_level: int) -> int:
        """The offset that a reader may read up to."""
        if replica_id >= 0:
            return self.log.log_end_offset
        return self.last_stable_offset if isolation_level == 1 else self.replica.high_watermark

    # flushing

    @property
    def must_flush(self) -> bool:
        """Whether flush.messages asks for a sync before the append is answered."""
        return self.log.unflushed_records >= self.log.settings.flush_messages

    def is_flush_due(self, now_ms: int) -> bool:
        if self.log.unflushed_records == 0:
            self.flushed_at_ms = now_ms
        return now_ms - self.flushed_at_ms >= self.log.settings.flush_ms

    async def flush(self, *, include_active: bool) -> None:
        """Syncs what was written so far; the sync itself runs in a thread. Again, if the partition has moved to another
        log directory meanwhile."""
        log = None
        while log is not self.log:
            log = self.log
            try:
                plan = log.plan_flush(include_active=include_active)
                await asyncio.to_thread(plan.run)
            except StorageError as error:
                if log is self.log:
                    raise self.on_failure(error) from error
            else:
                log.mark_flushed(plan)

    # leader epochs

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """Where an epoch ended here: the epoch that is meant, and its end offset; -1 for both if unknown.

        The log notes an epoch with its first record, so the current one may not be in it yet.
        """
        if epoch == self.replica_set.leader_epoch:
            return epoch, self.log.log_end_offset
        return self.log.epochs.end_offset_for(epoch)

    # deletion

    async def delete_records_before(self, offset: int) -> None:
        """Hides the records below `offset` for good."""
        self.hide_records_before(offset)
        await self.directory.checkpoint_log_starts()

    def hide_records_before(self, offset: int) -> None:
        """Until the next start; for good when the directory's log starts are checkpointed."""
        if "delete" not in self.log.settings.cleanup_policy:
            raise ApiError(
                ErrorCode.POLICY_VIOLATION,
                f"Records of partition {self.topic_partition} can not be deleted due to the configured policy",
            )
        if not 0 <= offset <= self.high_watermark:
            raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)
        try:
            self.log.delete_records_before(offset)
        except StorageError as error:
            raise self.on_failure(error) from error
