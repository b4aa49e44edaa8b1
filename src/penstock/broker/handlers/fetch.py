"""Fetch.

v4 has the isolation level and the last stable offset; v5 the log start offset; v7 fetch sessions; v8 no change on the
wire; v9 the leader epoch; v10 zstd; v11 rack-aware fetch; v12 is flexible and tells where logs diverge; v13 names
topics by id; v14 may answer OFFSET_MOVED_TO_TIERED_STORAGE; v15 moves the replica id into a tagged field; v16 returns
the endpoints of new leaders; v17 has the replica's directory id; v18 the follower's high watermark.

A fetch that finds less than min_bytes is parked: it waits in its partitions until enough has come or its time is up. A
fetch offset inside a batch gets the whole batch, and the first batch comes whole even if it is larger than the limits,
so that a consumer always gets on.

A follower's fetch tells how far its log goes, which may move the high watermark and let it join the replicas in sync.
It reads to the end of the log, and waits for the log to grow. One that is not in sync may be held back, see
`broker.throttling`.

A consumer may read from a follower, up to the high watermark that it knows. The leader tells a consumer to, if
`replica.selector.class` chooses a replica in the consumer's rack (KIP-392).
"""

import asyncio
from typing import TYPE_CHECKING

from penstock.broker.endpoints import endpoints_of
from penstock.broker.fetch_sessions import FIRST_VERSION_WITH_TOPIC_ID, FetchPlan, Wanted
from penstock.broker.parked import Parked
from penstock.broker.partition import Partition
from penstock.broker.partitions import LedElsewhere
from penstock.broker.rack_awareness import preferred_replica
from penstock.broker.router import RequestContext, handles
from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

READ_COMMITTED = 1
FIRST_VERSION_WITH_RACK = 11
UNKNOWN = {ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
"""A partition that is not there is no reason to answer before the others have something."""
LARGEST_REASON = {ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH}


@handles(FetchRequest, versions=(4, 18))
def handle_fetch(broker: "Broker", request: FetchRequest, context: RequestContext) -> FetchResponse | Parked:
    try:
        plan = broker.fetch_sessions.plan(request, context.version, broker.clock.monotonic_ms())
    except ApiError as error:
        return FetchResponse(error_code=error.code)
    fetch = Fetch(broker, request, plan, context)
    if fetch.replica_id >= 0:
        fetch.note_progress(request)
        fetch.max_wait_ms = broker.awaited_followers.wait_ms(fetch.replica_id, fetch.max_wait_ms)
    if request.max_wait_ms <= 0 or fetch.is_complete():
        return fetch.response()
    return fetch.park()


class Fetch(Parked):
    """One fetch at work: reads what is there, and waits for more if that is not enough.

    It must not be part of a reference cycle: garbage that only the collector finds makes pauses.
    """

    def __init__(
        self, broker: "Broker", request: FetchRequest, plan: FetchPlan, context: RequestContext
    ) -> None:
        super().__init__()
        self.broker = broker
        self.plan = plan
        self.listener = context.connection.listener
        self.uses_topic_ids = context.version >= FIRST_VERSION_WITH_TOPIC_ID
        self.min_bytes = request.min_bytes
        self.max_wait_ms = request.max_wait_ms
        self.max_bytes = min(request.max_bytes, broker.settings.fetch_max_bytes)
        self.isolation_level = request.isolation_level
        self.replica_id = request.replica_state.replica_id if request.replica_state else request.replica_id
        self.may_read_from_follower = self.replica_id < 0 and context.version >= FIRST_VERSION_WITH_RACK
        self.rack_id = request.rack_id if self.may_read_from_follower else ""
        self.read: list[tuple[Wanted, PartitionData]] = []
        self.waits_in: list[Partition] = []
        self.leaders_elsewhere: set[int] = set()
        self.timer: asyncio.TimerHandle | None = None

    def note_progress(self, request: FetchRequest) -> None:
        """Of a follower, where its log is a prefix of this one."""
        replica = request.replica_state
        epoch = replica.replica_epoch if replica else -1
        now_ms = self.broker.clock.monotonic_ms()
        for wanted in self.plan.wanted:
            fetch = wanted.fetch
            try:
                partition = self.find(wanted)
                partition.check_leader(fetch.current_leader_epoch)
                if fetch.last_fetched_epoch >= 0 and diverging_epoch(partition, fetch) is not None:
                    continue
                joining = partition.on_follower_fetch(
                    self.replica_id, fetch.fetch_offset, fetch.log_start_offset, now_ms
                )
            except ApiError:
                continue  # the answer says so
            self.broker.awaited_followers.on_fetched(self.replica_id, partition)
            if joining is not None:
                self.broker.in_sync.on_caught_up(partition, self.replica_id, epoch, joining)

    def is_complete(self) -> bool:
        """Reads all partitions; True if there is enough to answer, or a reason not to wait."""
        self.read = []
        left = self.max_bytes
        found = 0
        failed, known = False, 0
        for wanted in self.plan.wanted:
            data = self.read_partition(wanted, left, at_least_one=found == 0)
            size = data.records.size if data.records else 0  # type: ignore[union-attr]
            left -= size
            found += size
            if data.error_code not in UNKNOWN:
                known += 1
                failed = (
                    failed
                    or data.error_code != 0
                    or data.diverging_epoch is not None
                    or data.preferred_read_replica >= 0
                )
            self.read.append((wanted, data))
        return failed or known == 0 or found >= self.min_bytes

    def read_partition(self, wanted: Wanted, left: int, *, at_least_one: bool) -> PartitionData:
        fetch = wanted.fetch
        try:
            partition = self.find(wanted)
            if self.may_read_from_follower:
                partition.check_replica(fetch.current_leader_epoch)
            else:
                partition.check_leader(fetch.current_leader_epoch)
        except ApiError as error:
            return self.refusal(wanted, error)
        data = PartitionData(
            partition_index=fetch.partition,
            high_watermark=partition.high_watermark,
            last_stable_offset=partition.last_stable_offset,
            log_start_offset=partition.log.log_start_offset,
            aborted_transactions=None,
            records=b"",
        )
        try:
            if fetch.last_fetched_epoch >= 0:
                data.diverging_epoch = diverging_epoch(partition, fetch)
            if self.rack_id and data.diverging_epoch is None:
                data.preferred_read_replica = preferred_replica(
                    self.broker.settings,
                    self.broker.image.brokers,
                    partition,
                    fetch.fetch_offset,
                    self.rack_id,
                )
            if self.replica_id >= 0 and self.broker.throttles.is_withheld_from(self.replica_id, partition):
                return data
            if data.diverging_epoch is None and data.preferred_read_replica < 0:
                self.fill(partition, fetch, data, left, at_least_one)
        except ApiError as error:
            return self.refusal(wanted, error)
        return data

    def find(self, wanted: Wanted) -> Partition:
        partitions, index = self.broker.partitions, wanted.fetch.partition
        if self.uses_topic_ids:
            return partitions.find_by_id(wanted.topic.topic_id, index)
        return partitions.find(wanted.topic.name, index)

    def fill(
        self, partition: Partition, fetch: FetchPartition, data: PartitionData, left: int, at_least_one: bool
    ) -> None:
        max_offset = partition.readable_end(self.replica_id, self.isolation_level)
        max_bytes = min(fetch.partition_max_bytes, left)
        found = partition.read(
            fetch.fetch_offset, max(max_bytes, 0), max_offset=max_offset, at_least_one=at_least_one
        )
        if found is not None and found.size:
            data.records = found
            if self.isolation_level == READ_COMMITTED:
                data.aborted_transactions = [
                    AbortedTransaction(producer_id=aborted.producer_id, first_offset=aborted.first_offset)
                    for aborted in partition.log.aborted_transactions(fetch.fetch_offset, max_offset)
                ]

    def refusal(self, wanted: Wanted, error: ApiError) -> PartitionData:
        data = PartitionData(
            partition_index=wanted.fetch.partition,
            error_code=error.code,
            high_watermark=-1,
            aborted_transactions=None,
            records=b"",
        )
        if error.code in LARGEST_REASON:
            known = error if isinstance(error, LedElsewhere) else self.find(wanted)
            replica_set = known.replica_set
            self.leaders_elsewhere.add(replica_set.leader)
            data.current_leader = LeaderIdAndEpoch(replica_set.leader, replica_set.leader_epoch)
        return data

    def response(self) -> FetchResponse:
        if not self.read:
            self.is_complete()
        answer = FetchResponse(session_id=self.plan.session_id, responses=self.plan.select(self.read))
        if self.replica_id >= 0:
            self.count_throttled()
        if self.leaders_elsewhere:
            answer.node_endpoints = endpoints_of(
                self.broker.image, self.leaders_elsewhere, self.listener, NodeEndpoint
            )
        return answer

    def count_throttled(self) -> None:
        throttle = self.broker.throttles.leaders
        for wanted, data in self.read:
            if data.records and data.error_code == 0:
                throttle.record(self.find(wanted), data.records.size)  # type: ignore[union-attr]

    # waiting

    def park(self) -> Parked:
        for wanted, data in self.read:
            if data.error_code == 0:
                partition = self.find(wanted)
                (partition.waiters if self.replica_id < 0 else partition.followers_waiting)[self] = None
                self.waits_in.append(partition)
        self.timer = self.broker.loop.call_later(self.max_wait_ms / 1000, self.on_timeout)
        if self.replica_id >= 0:
            self.broker.awaited_followers.on_parked(self.replica_id, self)
        return self

    def on_close(self) -> None:
        self.stop_waiting()

    def stop_waiting(self) -> None:
        for partition in self.waits_in:
            partition.waiters.pop(self, None)
            partition.followers_waiting.pop(self, None)
        self.waits_in = []
        if self.replica_id >= 0:
            self.broker.awaited_followers.on_answered(self.replica_id, self)
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def on_progress(self) -> None:
        if self.waits_in and self.is_complete():
            self.answer()

    def on_timeout(self) -> None:
        self.is_complete()
        self.answer()

    def answer(self) -> None:
        self.stop_waiting()
        self.respond(self.response())


def diverging_epoch(partition: Partition, fetch: FetchPartition) -> EpochEndOffset | None:
    """Where the reader's log leaves ours, if it does: its last epoch ended earlier here."""
    epoch, end_offset = partition.end_offset_for_epoch(fetch.last_fetched_epoch)
    if epoch < 0:
        raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)
    if epoch < fetch.last_fetched_epoch or end_offset < fetch.fetch_offset:
        return EpochEndOffset(epoch=epoch, end_offset=end_offset)
    return None
