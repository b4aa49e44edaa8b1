"""One transactional id, as `__transaction_state` remembers it, and the moves from one state to the next.

A `Transaction` never changes: a move makes the next one, which is written to the log and takes its place when the
record is replayed.

    Empty ──add──▶ Ongoing ──end──▶ PrepareCommit ──markers──▶ CompleteCommit
                      ▲       └───▶ PrepareAbort  ──markers──▶ CompleteAbort
                      └────────────────add─────────────────────────┘

PrepareCommit and PrepareAbort are the decision: from then on the transaction ends that way, whatever crashes, and
nothing else is accepted for the transactional id until every partition has its marker.

In protocol 2 (KIP-890) each end raises the producer's epoch, and its markers bear the new epoch, so that a straggler of
the last transaction can't get into the next one. When the epochs of a producer id run out, the transaction ends
with the last epoch there is and goes on with a new producer id, which is kept in `next_producer_id` meanwhile.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

from penstock.machine import Producer
from penstock.types import TopicPartition
from penstock.wire.stored.transaction import PartitionsSchema, TransactionLogKey, TransactionLogValue

NO_PRODUCER_ID = -1
NO_EPOCH = -1
NO_TIME = -1
MAX_EPOCH = 32767

FIRST_VERSION_WITH_FLEXIBLE_RECORDS = 1
FIRST_VERSION_WITH_EPOCH_BUMP = 2
"""Levels of the feature transaction.version."""


class State(IntEnum):
    """With the numbers that stand in the log."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def kafka_name(self) -> str:
        return _NAMES[self]


_NAMES = {
    State.EMPTY: "Empty",
    State.ONGOING: "Ongoing",
    State.PREPARE_COMMIT: "PrepareCommit",
    State.PREPARE_ABORT: "PrepareAbort",
    State.COMPLETE_COMMIT: "CompleteCommit",
    State.COMPLETE_ABORT: "CompleteAbort",
    State.DEAD: "Dead",
    State.PREPARE_EPOCH_FENCE: "PrepareEpochFence",
}
STATES_BY_NAME = {name: state for state, name in _NAMES.items()}

PREPARED = frozenset({State.PREPARE_COMMIT, State.PREPARE_ABORT})
BETWEEN_TRANSACTIONS = frozenset({State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT})


def is_exhausted(producer_epoch: int) -> bool:
    """The last epoch is kept for fencing; no producer is ever given it."""
    return producer_epoch >= MAX_EPOCH - 1


@dataclass(frozen=True, slots=True)
class Transaction:
    transactional_id: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: State = State.EMPTY
    partitions: frozenset[TopicPartition] = frozenset()
    start_ms: int = NO_TIME
    last_update_ms: int = NO_TIME
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    client_transaction_version: int = 0
    """What the client's requests imply: 2 if it lets the broker add partitions and raise epochs, else 0."""

    @property
    def producer(self) -> Producer:
        return Producer(self.producer_id, self.producer_epoch)

    @property
    def is_commit(self) -> bool:
        return self.state is State.PREPARE_COMMIT

    def is_timed_out(self, now_ms: int) -> bool:
        return self.state is State.ONGOING and self.start_ms + self.timeout_ms < now_ms

    def is_expired(self, now_ms: int, expiration_ms: int) -> bool:
        return self.state in BETWEEN_TRANSACTIONS and self.last_update_ms <= now_ms - expiration_ms

    # moves

    def initialised(self, producer: Producer, timeout_ms: int, now_ms: int) -> "Transaction":
        """A producer has taken the transactional id."""
        return replace(
            self,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            previous_producer_id=self.producer_id,
            timeout_ms=timeout_ms,
            state=State.EMPTY,
            partitions=frozenset(),
            start_ms=NO_TIME,
            last_update_ms=now_ms,
        )

    def with_partitions(self, added: Iterable[TopicPartition], version: int, now_ms: int) -> "Transaction":
        is_begun = self.state is State.ONGOING
        return replace(
            self,
            previous_producer_id=self.producer_id,
            state=State.ONGOING,
            partitions=self.partitions.union(added),
            start_ms=self.start_ms if is_begun else now_ms,
            last_update_ms=now_ms,
            client_transaction_version=version,
        )

    def prepared(
        self, state: State, producer_epoch: int, next_producer_id: int, version: int, now_ms: int
    ) -> "Transaction":
        """The transaction is decided. One that was never begun (protocol 2 allows its abort) starts now."""
        return replace(
            self,
            producer_epoch=producer_epoch,
            previous_producer_id=self.producer_id,
            next_producer_id=next_producer_id,
            state=state,
            start_ms=self.start_ms if self.state is State.ONGOING else now_ms,
            last_update_ms=now_ms,
            client_transaction_version=version,
        )

    def completed(self, now_ms: int) -> "Transaction":
        """Every partition has its marker."""
        takes_next_id = (
            self.client_transaction_version >= FIRST_VERSION_WITH_EPOCH_BUMP
            and self.next_producer_id != NO_PRODUCER_ID
        )
        return replace(
            self,
            producer_id=self.next_producer_id if takes_next_id else self.producer_id,
            producer_epoch=0 if takes_next_id else self.producer_epoch,
            previous_producer_id=self.producer_id,
            next_producer_id=NO_PRODUCER_ID,
            state=State.COMPLETE_COMMIT if self.is_commit else State.COMPLETE_ABORT,
            partitions=frozenset(),
            last_update_ms=now_ms,
        )


# the log


def encode_transaction(transaction: Transaction) -> tuple[TransactionLogKey, TransactionLogValue]:
    return TransactionLogKey(transaction.transactional_id), TransactionLogValue(
        producer_id=transaction.producer_id,
        previous_producer_id=transaction.previous_producer_id,
        next_producer_id=transaction.next_producer_id,
        producer_epoch=transaction.producer_epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=transaction.state,
        transaction_partitions=_encode_partitions(transaction),
        transaction_last_update_timestamp_ms=transaction.last_update_ms,
        transaction_start_timestamp_ms=transaction.start_ms,
        client_transaction_version=transaction.client_transaction_version,
    )


def _encode_partitions(transaction: Transaction) -> list[PartitionsSchema] | None:
    if transaction.state is State.EMPTY:
        return None
    by_topic = group_by_topic(transaction.partitions)
    return [PartitionsSchema(topic, partitions) for topic, partitions in by_topic.items()]


def group_by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        by_topic.setdefault(topic, []).append(partition)
    return by_topic


def decode_transaction(key: TransactionLogKey, value: TransactionLogValue) -> Transaction:
    return Transaction(
        transactional_id=key.transactional_id,
        producer_id=value.producer_id,
        producer_epoch=value.producer_epoch,
        timeout_ms=value.transaction_timeout_ms,
        state=State(value.transaction_status),
        partitions=frozenset(
            TopicPartition(topic.topic, partition)
            for topic in value.transaction_partitions or ()
            for partition in topic.partition_ids
        ),
        start_ms=value.transaction_start_timestamp_ms,
        last_update_ms=value.transaction_last_update_timestamp_ms,
        previous_producer_id=value.previous_producer_id,
        next_producer_id=value.next_producer_id,
        client_transaction_version=value.client_transaction_version,
    )
