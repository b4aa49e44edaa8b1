"""What the partition knows about its producers: enough to see a retry for what it is.

Per producer id: the epoch, the sequences and offsets of its last five batches (as many as a producer may
have in flight), and the first offset of its open transaction. A batch that repeats one of the five is a
duplicate and gets the original offsets as its answer; one that does not continue the sequence is refused. A
producer that is not known (never seen, expired, or its records deleted) may start at any sequence.

The state is a fold over the log. It changes only in `replay`, live and at load; a `.snapshot` file holds it
as of the offset in the file's name, so that load starts there.

Transactions: the first transactional batch of a producer opens one, its control batch completes it. Records
from the first offset of the oldest open transaction on are unstable; so are those of a completed one until
its marker is below the high watermark.
"""

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from penstock.errors import ApiError, ErrorCode
from penstock.log.transaction_index import AbortedTransaction
from penstock.log.verification import Verification
from penstock.records.batch import (
    MAX_SEQUENCE,
    NO_PRODUCER_EPOCH,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    Batch,
    decrement_sequence,
)
from penstock.records.control import EndTransactionMarker, read_end_transaction_marker

BATCHES_TO_RETAIN = 5
MAX_PRODUCER_EPOCH = 32767
NO_OFFSET = -1


class AppendOrigin(Enum):
    """Who appends decides what is checked."""

    CLIENT = "client"  # sequences and epochs
    COORDINATOR = "coordinator"  # epochs: markers and offset commits have no sequences
    RAISING_COORDINATOR = "raising coordinator"  # the same, and that a marker raises the epoch (KIP-890)


class BatchMetadata(NamedTuple):
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        return decrement_sequence(self.last_sequence, self.offset_delta)

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


class CompletedTransaction(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    is_aborted: bool


class ProducerEntry:
    __slots__ = (
        "batches",
        "coordinator_epoch",
        "current_transaction_first_offset",
        "last_timestamp",
        "producer_epoch",
        "producer_id",
    )

    def __init__(
        self,
        producer_id: int,
        producer_epoch: int = NO_PRODUCER_EPOCH,
        coordinator_epoch: int = -1,
        last_timestamp: int = NO_TIMESTAMP,
        current_transaction_first_offset: int = NO_OFFSET,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.coordinator_epoch = coordinator_epoch
        self.last_timestamp = last_timestamp
        self.current_transaction_first_offset = current_transaction_first_offset
        self.batches: list[BatchMetadata] = []

    def copy(self) -> "ProducerEntry":
        twin = ProducerEntry(
            self.producer_id,
            self.producer_epoch,
            self.coordinator_epoch,
            self.last_timestamp,
            self.current_transaction_first_offset,
        )
        twin.batches = self.batches.copy()
        return twin

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_data_offset(self) -> int:
        return self.batches[-1].last_offset if self.batches else NO_OFFSET

    @property
    def last_offset_delta(self) -> int:
        return self.batches[-1].offset_delta if self.batches else 0

    def find_duplicate(self, batch: Batch) -> BatchMetadata | None:
        if batch.producer_epoch != self.producer_epoch:
            return None
        last_sequence = batch.last_sequence
        for metadata in self.batches:
            if metadata.last_sequence == last_sequence and metadata.first_sequence == batch.base_sequence:
                return metadata
        return None

    def add_batch(self, batch: Batch) -> None:
        self._enter_epoch(batch.producer_epoch)
        if len(self.batches) == BATCHES_TO_RETAIN:
            del self.batches[0]
        last_offset = batch.base_offset + batch.last_offset_delta
        self.batches.append(
            BatchMetadata(batch.last_sequence, last_offset, batch.last_offset_delta, batch.max_timestamp)
        )
        self.last_timestamp = batch.max_timestamp

    def add_marker(self, producer_epoch: int, coordinator_epoch: int, timestamp: int) -> None:
        self._enter_epoch(producer_epoch)
        self.coordinator_epoch = coordinator_epoch
        self.current_transaction_first_offset = NO_OFFSET
        self.last_timestamp = timestamp

    def _enter_epoch(self, producer_epoch: int) -> None:
        if producer_epoch != self.producer_epoch:
            self.batches.clear()
            self.producer_epoch = producer_epoch


class ProducerState:
    __slots__ = ("_ongoing", "_unreplicated", "end_offset", "entries", "verifications")

    def __init__(self) -> None:
        self.entries: dict[int, ProducerEntry] = {}
        self.verifications: dict[int, Verification] = {}
        self.end_offset = 0
        self._ongoing: dict[int, int] = {}  # first offset -> producer id, oldest first
        self._unreplicated: dict[int, int] = {}  # first offset -> offset of the marker

    # Check: no change

    def find_duplicate(self, batch: Batch) -> BatchMetadata | None:
        entry = self.entries.get(batch.producer_id)
        return entry.find_duplicate(batch) if entry else None

    def is_in_transaction(self, batch: Batch) -> bool:
        """Whether the transaction that a batch belongs to has records here already."""
        entry = self.entries.get(batch.producer_id)
        return (
            entry is not None
            and entry.current_transaction_first_offset != NO_OFFSET
            and entry.producer_epoch == batch.producer_epoch
        )

    def check_epoch(self, batch: Batch) -> None:
        entry = self.entries.get(batch.producer_id)
        if entry is not None and batch.producer_epoch < entry.producer_epoch:
            raise _stale_epoch(entry, batch)

    def start_verification(self, batch: Batch, now_ms: int, *, raises_epoch: bool) -> Verification:
        """Before the coordinator is asked whether a batch's transaction includes this partition."""
        self.check_epoch(batch)
        verification = self.verifications.get(batch.producer_id)
        if verification is None:
            verification = Verification(batch, now_ms, raises_epoch=raises_epoch)
            self.verifications[batch.producer_id] = verification
        else:
            verification.note(batch, raises_epoch=raises_epoch)
        return verification

    def check(self, batches: list[Batch], origin: AppendOrigin) -> None:
        """Refuse what an up-to-date producer would not send now; each batch as if those before it were appended."""
        if self.verifications and origin is AppendOrigin.CLIENT:
            self._check_verified_sequence(batches[0])
        if len(batches) == 1:
            entry = self.entries.get(batches[0].producer_id)
            if entry is not None:
                check_batch(entry, batches[0], origin)
        else:
            self._check_in_turn(batches, origin)

    def _check_verified_sequence(self, batch: Batch) -> None:
        verification = self.verifications.get(batch.producer_id)
        if verification is None:
            return
        entry = self.entries.get(batch.producer_id)
        has_state = entry is not None and bool(entry.batches)
        if verification.raises_epoch and batch.base_sequence != 0 and not has_state:
            raise _out_of_order(
                batch, "Expected sequence 0 for transactions v2 producer with no existing state"
            )
        if batch.base_sequence > verification.lowest_sequence:
            raise _out_of_order(batch, f"{verification.lowest_sequence} (earliest seen sequence)")

    def _check_in_turn(self, batches: list[Batch], origin: AppendOrigin) -> None:
        changed: dict[int, ProducerEntry] = {}
        for batch in batches:
            if batch.producer_id < 0:
                continue
            entry = changed.get(batch.producer_id) or self.entries.get(batch.producer_id)
            if entry is not None:
                check_batch(entry, batch, origin)
            entry = entry.copy() if entry is not None else ProducerEntry(batch.producer_id)
            if not batch.is_control:
                entry.add_batch(batch)
            changed[batch.producer_id] = entry

    # Change

    def replay(self, batch: Batch) -> CompletedTransaction | None:
        """Take in a batch that is in the log; reports a transaction that it ends, for `complete`."""
        self.end_offset = batch.next_offset
        if batch.producer_id < 0:
            return None
        entry = self.entries.get(batch.producer_id)
        if entry is None:
            entry = self.entries[batch.producer_id] = ProducerEntry(batch.producer_id)
        if self.verifications and batch.is_transactional:
            self._forget_verification(batch)
        if batch.is_control:
            return self._replay_control(entry, batch)
        entry.add_batch(batch)
        if batch.is_transactional and entry.current_transaction_first_offset == NO_OFFSET:
            entry.current_transaction_first_offset = batch.base_offset
            self._ongoing[batch.base_offset] = batch.producer_id
        return None

    def _forget_verification(self, batch: Batch) -> None:
        verification = self.verifications.get(batch.producer_id)
        if verification is not None and not verification.outlives(batch):
            del self.verifications[batch.producer_id]

    def _replay_control(self, entry: ProducerEntry, batch: Batch) -> CompletedTransaction | None:
        marker = read_end_transaction_marker(batch)
        if marker is None:
            return None
        first_offset = entry.current_transaction_first_offset
        entry.add_marker(batch.producer_epoch, marker.coordinator_epoch, batch.max_timestamp)
        if first_offset == NO_OFFSET:
            return None
        return CompletedTransaction(batch.producer_id, first_offset, batch.base_offset, not marker.is_commit)

    def complete(self, transaction: CompletedTransaction) -> AbortedTransaction | None:
        """Finish a transaction; the entry for the transaction index, if it was aborted."""
        del self._ongoing[transaction.first_offset]
        self._unreplicated[transaction.first_offset] = transaction.last_offset
        if not transaction.is_aborted:
            return None
        stable = next(iter(self._ongoing), transaction.last_offset + 1)
        return AbortedTransaction(
            transaction.producer_id, transaction.first_offset, transaction.last_offset, stable
        )

    def first_unstable_offset(self, high_watermark: int) -> int | None:
        if not self._ongoing and not self._unreplicated:
            return None
        self.forget_replicated(high_watermark)
        oldest = self.first_undecided_offset
        if not self._unreplicated:
            return oldest
        unreplicated = min(self._unreplicated)
        return unreplicated if oldest is None else min(oldest, unreplicated)

    def forget_replicated(self, high_watermark: int) -> None:
        done = [first for first, last in self._unreplicated.items() if last < high_watermark]
        for first in done:
            del self._unreplicated[first]

    @property
    def first_undecided_offset(self) -> int | None:
        return next(iter(self._ongoing), None)

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        """Forget producers that are idle for long; those inside a transaction stay."""
        expired = [e.producer_id for e in self.entries.values() if is_expired(e, now_ms, expiration_ms)]
        for producer_id in expired:
            del self.entries[producer_id]
        stale = [one for one, it in self.verifications.items() if now_ms - it.started_ms >= expiration_ms]
        for producer_id in stale:
            del self.verifications[producer_id]

    def load(self, entries: Iterable[ProducerEntry], end_offset: int) -> None:
        """Start from a snapshot as of `end_offset`."""
        self.entries = {entry.producer_id: entry for entry in entries}
        self.end_offset = end_offset
        self._unreplicated.clear()
        self._ongoing = dict(sorted(self._open_transactions()))

    def _open_transactions(self) -> Iterator[tuple[int, int]]:
        for entry in self.entries.values():
            if entry.current_transaction_first_offset != NO_OFFSET:
                yield entry.current_transaction_first_offset, entry.producer_id


def is_expired(entry: ProducerEntry, now_ms: int, expiration_ms: int) -> bool:
    idle = now_ms - entry.last_timestamp >= expiration_ms
    return idle and entry.current_transaction_first_offset == NO_OFFSET


def check_batch(entry: ProducerEntry, batch: Batch, origin: AppendOrigin) -> None:
    if batch.producer_epoch < entry.producer_epoch:
        raise _stale_epoch(entry, batch)
    if batch.is_control:
        if origin is AppendOrigin.RAISING_COORDINATOR:
            _check_marker_raises_epoch(entry, batch)
        _check_coordinator_epoch(entry, batch)
        return
    if origin is AppendOrigin.CLIENT:
        _check_sequence(entry, batch)
    if entry.current_transaction_first_offset != NO_OFFSET and not batch.is_transactional:
        raise ApiError(
            ErrorCode.INVALID_TXN_STATE,
            f"Expected transactional write from producer {batch.producer_id}",
        )


def _check_marker_raises_epoch(entry: ProducerEntry, batch: Batch) -> None:
    """A marker that does not is late, unless it repeats the one that ended the last transaction."""
    if batch.producer_epoch > entry.producer_epoch or batch.producer_epoch == MAX_PRODUCER_EPOCH:
        return
    if entry.current_transaction_first_offset != NO_OFFSET:
        raise _stale_epoch(entry, batch)


def _stale_epoch(entry: ProducerEntry, batch: Batch) -> ApiError:
    return ApiError(
        ErrorCode.INVALID_PRODUCER_EPOCH,
        f"Epoch of producer {batch.producer_id} is {batch.producer_epoch}, which is smaller than the last seen "
        f"epoch {entry.producer_epoch}",
    )


def _out_of_order(batch: Batch, expected: str) -> ApiError:
    return ApiError(
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"Out of order sequence number for producer {batch.producer_id}: {batch.base_sequence} (incoming seq. "
        f"number), {expected}",
    )


def _check_sequence(entry: ProducerEntry, batch: Batch) -> None:
    first = batch.base_sequence
    if batch.producer_epoch != entry.producer_epoch:
        if first != 0 and entry.producer_epoch != NO_PRODUCER_EPOCH:
            raise ApiError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Invalid sequence number for new epoch of producer {batch.producer_id}: "
                f"{batch.producer_epoch} (request epoch), {first} (seq. number), {entry.producer_epoch} "
                "(current producer epoch)",
            )
    elif entry.producer_epoch != NO_PRODUCER_EPOCH and not _continues(entry.last_sequence, first):
        raise _out_of_order(batch, f"{entry.last_sequence} (current end sequence number)")


def _continues(last_sequence: int, next_sequence: int) -> bool:
    return next_sequence == last_sequence + 1 or (next_sequence == 0 and last_sequence == MAX_SEQUENCE)


def _check_coordinator_epoch(entry: ProducerEntry, batch: Batch) -> None:
    marker: EndTransactionMarker | None = read_end_transaction_marker(batch)
    if marker is not None and entry.coordinator_epoch > marker.coordinator_epoch:
        raise ApiError(
            ErrorCode.TRANSACTION_COORDINATOR_FENCED,
            f"Invalid coordinator epoch for producerId {batch.producer_id}: {marker.coordinator_epoch} "
            f"(zombie), {entry.coordinator_epoch} (current)",
        )
