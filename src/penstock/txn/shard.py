"""One shard of the transaction coordinator: the machine over one partition of `__transaction_state`.

It decides when a transaction begins and how it ends. What it decides is in its log before anybody hears of it: first
that the transaction is prepared, which nothing can take back, then, when every partition has its marker, that it is
complete. After a crash, what was prepared is completed; markers that were written before are written again, which
partitions take for what it is.

Nothing of this machine is soft but two things: the timers, and for each transactional id the epoch from which its
current one was reached, by which a repeated InitProducerId is known.
"""

from collections.abc import Callable, Collection, Iterable
from itertools import islice
from typing import ClassVar, cast

from penstock.errors import ApiError, ErrorCode
from penstock.machine import Caller, Outcome, Producer, RecordContext, Ticket, Timer, TimerKey
from penstock.settings.broker import BrokerSettings
from penstock.txn.decisions import (
    check_may_init,
    check_verifiable,
    decide_add,
    decide_end,
    decide_fence,
    decide_init,
)
from penstock.txn.effects import WriteMarkers
from penstock.txn.transaction import (
    FIRST_VERSION_WITH_EPOCH_BUMP,
    FIRST_VERSION_WITH_FLEXIBLE_RECORDS,
    NO_EPOCH,
    NO_PRODUCER_ID,
    PREPARED,
    State,
    Transaction,
    decode_transaction,
    encode_transaction,
)
from penstock.types import TopicPartition
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from penstock.wire.messages.add_partitions_to_txn import AddPartitionsToTxnResponse
from penstock.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from penstock.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from penstock.wire.schema import RecordTypes, StoredMessage
from penstock.wire.stored import transaction as transaction_records
from penstock.wire.stored.transaction import TransactionLogKey, TransactionLogValue

ABORT_TIMED_OUT: TimerKey = ("abort_timed_out",)
REMOVE_EXPIRED: TimerKey = ("remove_expired",)
COMPLETE = "complete"
"""The kind of timer that tries again to write that a transaction is complete."""

COMPLETION_RETRY_MS = 100
MAX_REMOVED_AT_ONCE = 1_000
"""Transactional ids; more than that are removed in several steps, between which others are served."""
FIRST_END_TXN_VERSION_WITH_EPOCH_BUMP = 5


class TransactionShard:
    RECORD_TYPES: ClassVar[RecordTypes] = transaction_records.RECORD_TYPES

    def __init__(
        self,
        settings: Callable[[], BrokerSettings],
        new_producer_id: Callable[[], int],
        transaction_version: Callable[[], int],
    ) -> None:
        self._settings = settings
        self._new_producer_id = new_producer_id
        self._transaction_version = transaction_version
        self.transactions: dict[str, Transaction] = {}
        self._ongoing: set[str] = set()
        self._last_epochs: dict[str, tuple[Producer, int]] = {}
        self._running: set[TimerKey] = set()

    # the log

    def replay(self, key: StoredMessage, value: StoredMessage | None, context: RecordContext) -> None:
        transactional_id = cast(TransactionLogKey, key).transactional_id
        self._ongoing.discard(transactional_id)
        if value is None:
            self.transactions.pop(transactional_id, None)
            self._last_epochs.pop(transactional_id, None)
            return
        transaction = decode_transaction(cast(TransactionLogKey, key), cast(TransactionLogValue, value))
        self.transactions[transactional_id] = transaction
        if transaction.state is State.ONGOING:
            self._ongoing.add(transactional_id)

    def replay_end_transaction(self, producer: Producer, *, is_commit: bool) -> None:
        """Nothing of this topic is ever written in a transaction."""

    def _write(self, outcome: Outcome, transaction: Transaction) -> None:
        is_flexible = self._transaction_version() >= FIRST_VERSION_WITH_FLEXIBLE_RECORDS
        outcome.write(*encode_transaction(transaction), version=1 if is_flexible else 0)
        self._keep_timers_running(outcome, transaction)

    # InitProducerId

    def handle_init_producer_id(
        self, request: InitProducerIdRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome:
        assert request.transactional_id is not None
        settings = self._settings()
        if not 0 < request.transaction_timeout_ms <= settings.transaction_max_timeout_ms:
            raise ApiError(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        expected = None
        if request.producer_id != NO_PRODUCER_ID:
            expected = Producer(request.producer_id, request.producer_epoch)
        transaction = self.transactions.get(request.transactional_id)
        if transaction is None:
            transaction = Transaction(request.transactional_id, self._new_producer_id(), NO_EPOCH, 0)
        check_may_init(transaction, expected)
        if transaction.state is State.ONGOING:
            return self._fence_and_refuse(transaction, ticket, now_ms)
        return self._init(transaction, expected, request.transaction_timeout_ms, ticket, now_ms)

    def _init(
        self,
        transaction: Transaction,
        expected: Producer | None,
        timeout_ms: int,
        ticket: Ticket,
        now_ms: int,
    ) -> Outcome:
        last_epoch = self._last_epoch(transaction)
        new = decide_init(transaction, expected, last_epoch, timeout_ms, self._new_producer_id, now_ms)
        if expected is None:
            last_epoch = NO_EPOCH
        elif new.producer != transaction.producer:
            last_epoch = transaction.producer_epoch
        self._last_epochs[new.transactional_id] = (new.producer, last_epoch)
        outcome = Outcome()
        self._write(outcome, new)
        outcome.reply(
            ticket,
            InitProducerIdResponse(producer_id=new.producer_id, producer_epoch=new.producer_epoch),
        )
        return outcome

    def _last_epoch(self, transaction: Transaction) -> int:
        """What is noted counts only if its write got through."""
        producer, last_epoch = self._last_epochs.get(transaction.transactional_id, (None, NO_EPOCH))
        return last_epoch if producer == transaction.producer else NO_EPOCH

    def _fence_and_refuse(self, transaction: Transaction, ticket: Ticket, now_ms: int) -> Outcome:
        """The open transaction is aborted; the new producer asks again and gets the epoch after that."""
        outcome = Outcome()
        self._fence(outcome, transaction, now_ms)
        outcome.reply(
            ticket,
            InitProducerIdResponse(error_code=ErrorCode.CONCURRENT_TRANSACTIONS, producer_epoch=NO_EPOCH),
        )
        return outcome

    def _fence(self, outcome: Outcome, transaction: Transaction, now_ms: int) -> None:
        version = self._transaction_version()
        self._end(outcome, transaction, decide_fence(transaction, version, self._new_producer_id, now_ms))

    # partitions

    def add_partitions(
        self,
        transactional_id: str,
        producer: Producer,
        partitions: Collection[TopicPartition],
        version: int,
        ticket: Ticket,
        now_ms: int,
        reply: AddPartitionsToTxnResponse | None = None,
    ) -> Outcome:
        """Gives the reply when they are in the transaction."""
        outcome = self._add(transactional_id, producer, partitions, version, now_ms)
        outcome.reply(ticket, reply)
        return outcome

    def handle_add_offsets_to_txn(
        self, request: AddOffsetsToTxnRequest, partition: TopicPartition, ticket: Ticket, now_ms: int
    ) -> Outcome:
        """`partition` is where the group's offsets go."""
        producer = Producer(request.producer_id, request.producer_epoch)
        outcome = self._add(request.transactional_id, producer, (partition,), 0, now_ms)
        outcome.reply(ticket, AddOffsetsToTxnResponse())
        return outcome

    def _add(
        self,
        transactional_id: str,
        producer: Producer,
        partitions: Collection[TopicPartition],
        version: int,
        now_ms: int,
    ) -> Outcome:
        transaction = self._find(transactional_id)
        new = decide_add(transaction, producer, partitions, version, now_ms)
        outcome = Outcome()
        if new is not transaction:
            self._write(outcome, new)
        return outcome

    def verify_partitions(
        self,
        transactional_id: str,
        producer: Producer,
        partitions: Iterable[TopicPartition],
        ticket: Ticket,
    ) -> Outcome:
        """Replies which of them are not in the transaction."""
        transaction = self._find(transactional_id)
        check_verifiable(transaction, producer)
        outcome = Outcome()
        outcome.reply(ticket, [one for one in partitions if one not in transaction.partitions])
        return outcome

    def _find(self, transactional_id: str) -> Transaction:
        if not transactional_id:
            raise ApiError(ErrorCode.INVALID_REQUEST)
        transaction = self.transactions.get(transactional_id)
        if transaction is None:
            raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        return transaction

    # the end of a transaction

    def handle_end_txn(self, request: EndTxnRequest, caller: Caller, ticket: Ticket, now_ms: int) -> Outcome:
        raises_epoch = caller.version >= FIRST_END_TXN_VERSION_WITH_EPOCH_BUMP
        transaction = self._find(request.transactional_id)
        decided = decide_end(
            transaction,
            Producer(request.producer_id, request.producer_epoch),
            FIRST_VERSION_WITH_EPOCH_BUMP if raises_epoch else 0,
            self._new_producer_id,
            now_ms,
            is_commit=request.committed,
        )
        outcome = Outcome()
        after = transaction
        if decided is not transaction:
            self._end(outcome, transaction, decided)
            after = decided.completed(now_ms)
        outcome.reply(ticket, EndTxnResponse(0, 0, *after.producer) if raises_epoch else EndTxnResponse())
        return outcome

    def _end(self, outcome: Outcome, transaction: Transaction, decided: Transaction) -> None:
        if decided.client_transaction_version >= FIRST_VERSION_WITH_EPOCH_BUMP:
            self._last_epochs[decided.transactional_id] = (decided.producer, transaction.producer_epoch)
        self._write(outcome, decided)
        outcome.effects.append(_markers_of(decided))

    def on_markers_written(self, transactional_id: str, producer: Producer, now_ms: int) -> Outcome:
        """Every partition of a prepared transaction has its marker."""
        transaction = self.transactions.get(transactional_id)
        outcome = Outcome()
        if transaction is None or transaction.state not in PREPARED or transaction.producer != producer:
            return outcome
        completed = transaction.completed(now_ms)
        if completed.producer != transaction.producer:
            last_epoch = self._last_epoch(transaction)
            self._last_epochs[transactional_id] = (completed.producer, last_epoch)
        self._write(outcome, completed)
        retry = Timer((COMPLETE, transactional_id, producer), COMPLETION_RETRY_MS)
        outcome.on_refused = lambda error: Outcome(timers=[*outcome.timers, retry])
        return outcome

    # by itself

    def on_loaded(self, now_ms: int) -> Outcome:
        outcome = Outcome()
        for transaction in self.transactions.values():
            if transaction.state in PREPARED:
                outcome.effects.append(_markers_of(transaction))
            self._keep_timers_running(outcome, transaction)
        return outcome

    def _keep_timers_running(self, outcome: Outcome, transaction: Transaction) -> None:
        if REMOVE_EXPIRED not in self._running:
            self._start(outcome, REMOVE_EXPIRED)
        if transaction.state is State.ONGOING and ABORT_TIMED_OUT not in self._running:
            self._start(outcome, ABORT_TIMED_OUT)

    def _start(self, outcome: Outcome, key: TimerKey, delay_ms: int | None = None) -> None:
        settings = self._settings()
        intervals = {
            ABORT_TIMED_OUT: settings.transaction_abort_timed_out_transaction_cleanup_interval_ms,
            REMOVE_EXPIRED: settings.transaction_remove_expired_transaction_cleanup_interval_ms,
        }
        self._running.add(key)
        outcome.start_timer(key, intervals[key] if delay_ms is None else delay_ms)
        outcome.on_refused = lambda error: Outcome(timers=outcome.timers)

    def on_timer(self, key: TimerKey, now_ms: int) -> Outcome:
        if key[0] == COMPLETE:
            return self.on_markers_written(cast(str, key[1]), cast(Producer, key[2]), now_ms)
        self._running.discard(key)
        outcome = Outcome()
        if key == ABORT_TIMED_OUT:
            self._abort_timed_out(outcome, now_ms)
            if self._ongoing:
                self._start(outcome, ABORT_TIMED_OUT)
        else:
            self._remove_expired(outcome, now_ms)
            if len(outcome.records) < MAX_REMOVED_AT_ONCE:
                self._start(outcome, REMOVE_EXPIRED)
            else:
                self._start(outcome, REMOVE_EXPIRED, delay_ms=0)
        return outcome

    def _abort_timed_out(self, outcome: Outcome, now_ms: int) -> None:
        for transactional_id in sorted(self._ongoing):
            transaction = self.transactions[transactional_id]
            if transaction.is_timed_out(now_ms):
                try:
                    self._fence(outcome, transaction, now_ms)
                except ApiError:
                    return  # no producer id at hand to go on with; the next round will have one

    def _remove_expired(self, outcome: Outcome, now_ms: int) -> None:
        expiration_ms = self._settings().transactional_id_expiration_ms
        expired = (one for one in self.transactions.values() if one.is_expired(now_ms, expiration_ms))
        for transaction in islice(expired, MAX_REMOVED_AT_ONCE):
            outcome.write(TransactionLogKey(transaction.transactional_id))

    def on_topics_changed(self, names: frozenset[str], now_ms: int) -> Outcome:
        return Outcome()


def _markers_of(transaction: Transaction) -> WriteMarkers:
    return WriteMarkers(
        transaction.transactional_id,
        transaction.producer,
        transaction.is_commit,
        transaction.partitions,
        transaction.client_transaction_version,
    )
