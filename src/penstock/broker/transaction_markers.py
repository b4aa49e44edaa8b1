"""Writes the markers that end transactions, into the partitions that this broker leads, and has peers write the
others.

The coordinator's decision stands before the first marker is written, so a marker that can't be written now is tried
again until it can; a partition whose topic is gone needs none. Markers in `__consumer_offsets` go through the group
coordinator, which takes them as the word on the offsets that were committed in the transaction.

A marker counts when it is committed, here and at a peer alike: a transaction that is said to be complete stays so with
the next leader. With one replica that is at once; then a transaction is complete in the same step in which it was
decided.

Markers for one peer go together: while one request is under way, the markers of other transactions gather for the
next.
"""

import asyncio
import logging
from typing import NamedTuple

from penstock.broker.committing import is_committed, wait_until_committed
from penstock.broker.internal_topics import CONSUMER_OFFSETS
from penstock.broker.partition import Partition
from penstock.broker.partitions import Partitions
from penstock.broker.peers import Peers
from penstock.broker.registration import Registration
from penstock.broker.shards import COORDINATOR_IS_AWAY, Shard, Shards
from penstock.broker.turns import gather_in_turns
from penstock.clock import Clock
from penstock.controller.image import ClusterImage
from penstock.errors import ApiError, ErrorCode
from penstock.group.shard import GroupShard
from penstock.machine import Outcome, Producer
from penstock.replica.replica_set import NO_LEADER
from penstock.txn.effects import WriteMarkers
from penstock.txn.shard import TransactionShard
from penstock.types import TopicPartition
from penstock.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from penstock.wire_client import Disconnected

log = logging.getLogger("penstock.broker.transaction_markers")

MARKERS_AT_ONCE = 100
"""Those of a transaction in more partitions are written in turns with whatever else there is to do."""
RETRY_MS = 100
COMMIT_TIMEOUT_MS = 10_000
"""For the replicas in sync to have a marker; then it is written again."""

OVERTAKEN = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED})
"""The partition has heard of a later epoch: this transaction is decided there."""


class Marker(NamedTuple):
    producer: Producer
    is_commit: bool
    coordinator_epoch: int
    transaction_version: int


class OwnMarkers:
    """Markers in the partitions that this broker leads."""

    def __init__(self, clock: Clock, partitions: Partitions, groups: Shards[GroupShard]) -> None:
        self._clock = clock
        self._partitions = partitions
        self._groups = groups

    def append(self, topic_partition: TopicPartition, marker: Marker) -> Partition | None:
        """The partition, if the marker is not committed yet; raises what a coordinator elsewhere would be told."""
        topic, index = topic_partition
        now_ms = self._clock.now_ms()
        if topic != CONSUMER_OFFSETS.name:
            partition = self._partitions.find(topic, index)
            partition.append_marker(*marker, now_ms=now_ms)
        else:
            try:
                shard = self._groups.at(index)
                shard.end_transaction(*marker, now_ms=now_ms)
            except ApiError as error:
                if error.code in COORDINATOR_IS_AWAY:
                    raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER) from error
                raise
            partition = shard.partition
        return None if is_committed(partition, partition.log.log_end_offset) else partition

    async def write(self, topic_partition: TopicPartition, marker: Marker) -> None:
        """Returns when it is committed."""
        partition = self.append(topic_partition, marker)
        if partition is not None:
            await wait_until_committed(partition, COMMIT_TIMEOUT_MS)


class MarkerWriter:
    """Carries out what the transaction coordinators of this broker have decided."""

    def __init__(
        self, own: OwnMarkers, image: ClusterImage, registration: Registration, peers: Peers
    ) -> None:
        self._own = own
        self._image = image
        self._registration = registration
        self._connections = peers
        self._peers: dict[int, PeerMarkers] = {}
        self._at_work: set[asyncio.Task[None]] = set()

    def begin(self, shard: Shard[TransactionShard], effect: WriteMarkers) -> None:
        marker = _marker_of(shard, effect)
        waiting: dict[TopicPartition, Partition | None] = {}
        for number, one in enumerate(effect.partitions):
            if number >= MARKERS_AT_ONCE or not self._is_settled_at_once(one, marker, waiting):
                waiting.setdefault(one, None)
        if waiting:
            task = asyncio.get_running_loop().create_task(self._finish(shard, effect, waiting))
            self._at_work.add(task)
            task.add_done_callback(self._at_work.discard)
        else:
            shard.run_unasked(lambda machine, now_ms: _complete(machine, effect, now_ms))

    def _is_settled_at_once(
        self, where: TopicPartition, marker: Marker, waiting: dict[TopicPartition, Partition | None]
    ) -> bool:
        """Whether the transaction is ended in a partition, now or before. Notes a marker that is to be committed."""
        if not self._image.has_partition(where):
            return True
        if self._leader_of(where) not in (NO_LEADER, self._registration.broker_id):
            return False
        try:
            waiting[where] = self._own.append(where, marker)
        except ApiError as error:
            return _is_overtaken(where, marker, error)
        if waiting[where] is None:
            del waiting[where]
            return True
        return False

    def _leader_of(self, where: TopicPartition) -> int:
        return self._image.topics[where.topic].partitions[where.partition].leader

    async def _finish(
        self,
        shard: Shard[TransactionShard],
        effect: WriteMarkers,
        waiting: dict[TopicPartition, Partition | None],
    ) -> None:
        """Of the partitions that are left, those that are given have their marker, but it is not committed yet."""
        while True:
            marker = _marker_of(shard, effect)
            asked = (self._settle(one, marker, appended) for one, appended in list(waiting.items()))
            settled = await gather_in_turns(asked)
            waiting = {one: None for one, is_done in zip(waiting, settled, strict=True) if not is_done}
            if not shard.is_active:
                return
            if not waiting:
                shard.run_unasked(lambda machine, now_ms: _complete(machine, effect, now_ms))
                return
            await asyncio.sleep(RETRY_MS / 1000)

    async def _settle(self, where: TopicPartition, marker: Marker, appended: Partition | None) -> bool:
        if not self._image.has_partition(where):
            return True
        leader = self._leader_of(where)
        try:
            if appended is not None:
                await wait_until_committed(appended, COMMIT_TIMEOUT_MS)
            elif leader in (NO_LEADER, self._registration.broker_id):
                await self._own.write(where, marker)
            else:
                await self._at_peer(leader).write(where, marker)
        except ApiError as error:
            return _is_overtaken(where, marker, error)
        return True

    def _at_peer(self, leader: int) -> "PeerMarkers":
        if leader not in self._peers:
            self._peers[leader] = PeerMarkers(self._connections, leader)
        return self._peers[leader]

    def close(self) -> None:
        for task in self._at_work:
            task.cancel()
        for peer in self._peers.values():
            peer.close()


class PeerMarkers:
    """Markers on their way to one other broker."""

    def __init__(self, peers: Peers, broker_id: int) -> None:
        self._peers = peers
        self._broker_id = broker_id
        self._gathered: dict[Marker, dict[TopicPartition, asyncio.Future[None]]] = {}
        self._task: asyncio.Task[None] | None = None

    def write(self, where: TopicPartition, marker: Marker) -> "asyncio.Future[None]":
        """Done when it is committed there; the ApiError if it is not."""
        by_partition = self._gathered.setdefault(marker, {})
        if where not in by_partition:
            by_partition[where] = asyncio.get_running_loop().create_future()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._send())
        return by_partition[where]

    async def _send(self) -> None:
        while self._gathered:
            gathered, self._gathered = self._gathered, {}
            try:
                answer = await self._peers.ask(
                    self._broker_id,
                    WriteTxnMarkersRequest([_writable(marker, list(at)) for marker, at in gathered.items()]),
                    WriteTxnMarkersResponse,
                    purpose="markers",
                    timeout_ms=3 * COMMIT_TIMEOUT_MS,
                )
            except Disconnected as error:
                failure = ApiError(ErrorCode.NETWORK_EXCEPTION, str(error))
                for by_partition in gathered.values():
                    for waiting in by_partition.values():
                        _settle(waiting, failure)
                continue
            for by_partition, result in zip(gathered.values(), answer.markers, strict=True):
                for topic in result.topics:
                    for one in topic.partitions:
                        code = ErrorCode(one.error_code)
                        waiting = by_partition[TopicPartition(topic.name, one.partition_index)]
                        _settle(waiting, ApiError(code) if code else None)

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()


def _settle(waiting: "asyncio.Future[None]", error: ApiError | None) -> None:
    if waiting.done():
        return
    if error is None:
        waiting.set_result(None)
    else:
        waiting.set_exception(error)


def _writable(marker: Marker, partitions: list[TopicPartition]) -> WritableTxnMarker:
    by_topic: dict[str, list[int]] = {}
    for topic, index in partitions:
        by_topic.setdefault(topic, []).append(index)
    return WritableTxnMarker(
        *marker.producer,
        transaction_result=marker.is_commit,
        topics=[WritableTxnMarkerTopic(topic, indexes) for topic, indexes in by_topic.items()],
        coordinator_epoch=marker.coordinator_epoch,
        transaction_version=marker.transaction_version,
    )


def _marker_of(shard: Shard[TransactionShard], effect: WriteMarkers) -> Marker:
    epoch = shard.partition.replica_set.leader_epoch
    return Marker(effect.producer, effect.is_commit, epoch, effect.transaction_version)


def _is_overtaken(where: TopicPartition, marker: Marker, error: ApiError) -> bool:
    is_overtaken = error.code in OVERTAKEN
    level = logging.WARNING if is_overtaken else logging.DEBUG  # what is tried again is not news
    log.log(level, "no marker of %s in %s: %s", marker.producer, where, error)
    return is_overtaken


def _complete(machine: TransactionShard, effect: WriteMarkers, now_ms: int) -> Outcome:
    return machine.on_markers_written(effect.transactional_id, effect.producer, now_ms)
