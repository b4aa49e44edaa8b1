"""Writes the markers that end transactions, into the partitions that this broker leads.

The coordinator's decision stands before the first marker is written, so a marker that can't be written now is tried
again until it can; a partition whose topic is gone needs none. Markers in `__consumer_offsets` go through the
group coordinator, which takes them as the word on the offsets that were committed in the transaction.
"""

import logging
from typing import TYPE_CHECKING, NamedTuple

from penstock.broker.internal_topics import CONSUMER_OFFSETS
from penstock.broker.shards import COORDINATOR_IS_AWAY, Shard
from penstock.errors import ApiError, ErrorCode
from penstock.machine import Outcome, Producer
from penstock.txn.effects import WriteMarkers
from penstock.txn.shard import TransactionShard
from penstock.types import TopicPartition

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

log = logging.getLogger("penstock.broker.transaction_markers")

RETRY_MS = 100

OVERTAKEN = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED})
"""The partition has heard of a later epoch: this transaction is decided there."""


class Marker(NamedTuple):
    producer: Producer
    is_commit: bool
    coordinator_epoch: int
    transaction_version: int


def write_marker(broker: "Broker", topic_partition: TopicPartition, marker: Marker, now_ms: int) -> None:
    """Raises the ApiError that a coordinator elsewhere would be told."""
    topic, index = topic_partition
    if topic != CONSUMER_OFFSETS.name:
        broker.partitions.find(topic, index).append_marker(*marker, now_ms=now_ms)
        return
    try:
        broker.coordinators.groups.at(index).end_transaction(*marker, now_ms=now_ms)
    except ApiError as error:
        if error.code in COORDINATOR_IS_AWAY:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER) from error
        raise


class MarkerWriter:
    """Carries out what the transaction coordinators of this broker have decided."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker

    def begin(self, shard: Shard[TransactionShard], effect: WriteMarkers) -> None:
        self._write(shard, effect, effect.partitions)

    def _write(
        self, shard: Shard[TransactionShard], effect: WriteMarkers, partitions: frozenset[TopicPartition]
    ) -> None:
        if not shard.is_active:
            return
        epoch = shard.partition.replica_set.leader_epoch
        marker = Marker(effect.producer, effect.is_commit, epoch, effect.transaction_version)
        left = frozenset(one for one in partitions if not self._settle(one, marker))
        if left:
            self._broker.loop.call_later(RETRY_MS / 1000, self._write, shard, effect, left)
        else:
            shard.run_unasked(lambda machine, now_ms: _complete(machine, effect, now_ms))

    def _settle(self, topic_partition: TopicPartition, marker: Marker) -> bool:
        """Whether the transaction is ended in a partition, now or before."""
        if not self._broker.image.has_partition(topic_partition):
            return True
        try:
            write_marker(self._broker, topic_partition, marker, self._broker.clock.now_ms())
        except ApiError as error:
            is_overtaken = error.code in OVERTAKEN
            level = logging.WARNING if is_overtaken else logging.DEBUG  # what is tried again is not news
            log.log(level, "no marker of %s in %s: %s", marker.producer, topic_partition, error)
            return is_overtaken
        return True


def _complete(machine: TransactionShard, effect: WriteMarkers, now_ms: int) -> Outcome:
    return machine.on_markers_written(effect.transactional_id, effect.producer, now_ms)
