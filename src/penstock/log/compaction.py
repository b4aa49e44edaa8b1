"""Compaction, the decisions: when a log is worth cleaning, which of its records stay. No IO.

A record stays if no later record has its key. A tombstone (no value) also stays for `delete.retention.ms` after it
was first seen here: that end, the delete horizon, is written into its batch, in the place of the base timestamp.

Offsets never change, so batches keep their first and last offset whatever is left of them. A batch of which nothing
is left stays as an empty one if it is a producer's last (its sequence must be remembered) or the last of its
segment (the log must go on where the next segment starts).

Transactions: what an aborted one wrote goes. Its marker stays until nothing of the transaction is left, and then for
as long as a tombstone.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from penstock.log.transaction_index import AbortedTransaction
from penstock.records.batch import (
    CODEC_MASK,
    CONTROL_FLAG,
    DELETE_HORIZON_FLAG,
    LOG_APPEND_TIME_FLAG,
    NO_TIMESTAMP,
    TRANSACTIONAL_FLAG,
    Batch,
)
from penstock.records.builder import with_payload
from penstock.records.compression import compress
from penstock.records.control import read_end_transaction_marker
from penstock.records.reader import RawRecord, decompressed_records, iterate_raw_records
from penstock.records.varint import write_varlong

SHORT_KEY_BYTES = 16


class LastOfProducer(NamedTuple):
    last_data_offset: int  # -1 if only a marker is left
    producer_epoch: int


class KeyOffsets:
    """The last offset of each key in the dirty part of a log; long keys count by their hash."""

    def __init__(self, max_keys: int) -> None:
        self._offsets: dict[bytes, int] = {}
        self._max_keys = max_keys
        self.latest_offset = -1

    def __len__(self) -> int:
        return len(self._offsets)

    def has_room_for(self, count: int) -> bool:
        return not self._offsets or len(self._offsets) + count <= self._max_keys

    def note(self, key: bytes, offset: int) -> None:
        self._offsets[_short(key)] = offset

    def is_latest(self, key: bytes, offset: int) -> bool:
        return offset >= self._offsets.get(_short(key), -1)


def _short(key: bytes) -> bytes:
    if len(key) < SHORT_KEY_BYTES:
        return key
    return blake2b(key, digest_size=SHORT_KEY_BYTES).digest()


class TransactionTracker:
    """Which batches belong to aborted transactions, as the log is read from a segment's start."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._coming = deque(sorted(aborted, key=lambda entry: entry.first_offset))
        self._aborting: dict[int, AbortedTransaction] = {}
        self._aborted_with_data: set[int] = set()
        self._committing: set[int] = set()

    def is_discarded(self, batch: Batch) -> bool:
        """For a data batch: whether its transaction was aborted."""
        self._advance(batch.last_offset)
        if not batch.is_transactional:
            return False
        if batch.producer_id in self._aborting:
            self._aborted_with_data.add(batch.producer_id)
            return True
        self._committing.add(batch.producer_id)
        return False

    def end(self, batch: Batch) -> tuple[bool, AbortedTransaction | None]:
        """For a marker: whether nothing of its transaction is left; and the index entry to keep."""
        self._advance(batch.last_offset)
        marker = read_end_transaction_marker(batch)
        if marker is None:
            return False, None
        producer_id = batch.producer_id
        if marker.is_commit:
            has_data = producer_id in self._committing
            self._committing.discard(producer_id)
            return not has_data, None
        aborted = self._aborting.pop(producer_id, None)
        has_data = producer_id in self._aborted_with_data
        self._aborted_with_data.discard(producer_id)
        return not has_data, aborted if has_data else None

    def _advance(self, offset: int) -> None:
        while self._coming and self._coming[0].first_offset <= offset:
            entry = self._coming.popleft()
            self._aborting[entry.producer_id] = entry


class BatchFilter:
    """Turns each batch into what is left of it."""

    def __init__(
        self,
        keys: KeyOffsets,
        tracker: TransactionTracker,
        producers: dict[int, LastOfProducer],
        *,
        now_ms: int,
        delete_retention_ms: int,
    ) -> None:
        self._keys = keys
        self._tracker = tracker
        self._producers = producers
        self._now_ms = now_ms
        self._delete_retention_ms = delete_retention_ms
        self.aborted: list[AbortedTransaction] = []  # index entries of markers seen, for the new segment

    def filter(self, batch: Batch, *, is_last: bool) -> Batch | None:
        must_stay = is_last or self._is_last_of_producer(batch)
        if batch.is_control:
            kept = self._filter_marker(batch)
        elif self._tracker.is_discarded(batch):
            kept = None
        else:
            kept = self._filter_data(batch)
        if kept is None and must_stay:
            return emptied(batch)
        return kept

    def _is_last_of_producer(self, batch: Batch) -> bool:
        last = self._producers.get(batch.producer_id)
        if last is None:
            return False
        if last.last_data_offset >= 0:
            return batch.last_offset == last.last_data_offset
        return batch.is_control and batch.producer_epoch == last.producer_epoch

    def _filter_marker(self, batch: Batch) -> Batch | None:
        is_spent, aborted = self._tracker.end(batch)
        if aborted is not None:
            self.aborted.append(aborted)
        if not is_spent or batch.record_count == 0:
            return batch if batch.record_count else None
        if not batch.has_delete_horizon:
            return self._rewritten(batch, self._records(batch), needs_horizon=True)
        return batch if self._now_ms < batch.base_timestamp else None

    def _filter_data(self, batch: Batch) -> Batch | None:
        data = memoryview(decompressed_records(batch))
        records = list(iterate_raw_records(data, batch.record_count))
        kept = [record for record in records if self._stays(batch, record)]
        if not kept:
            return None
        needs_horizon = not batch.has_delete_horizon and any(record.value_length < 0 for record in kept)
        if len(kept) == len(records) and not needs_horizon:
            return batch
        return self._rewritten(batch, (data, kept), needs_horizon=needs_horizon)

    def _stays(self, batch: Batch, record: RawRecord) -> bool:
        offset = batch.base_offset + record.offset_delta
        if offset > self._keys.latest_offset:
            return True
        if record.key is None or not self._keys.is_latest(record.key, offset):
            return False
        is_expired = batch.has_delete_horizon and self._now_ms >= batch.base_timestamp
        return record.value_length >= 0 or not is_expired

    def _records(self, batch: Batch) -> tuple[memoryview, list[RawRecord]]:
        data = memoryview(decompressed_records(batch))
        return data, list(iterate_raw_records(data, batch.record_count))

    def _rewritten(
        self, batch: Batch, source: tuple[memoryview, list[RawRecord]], *, needs_horizon: bool
    ) -> Batch:
        data, records = source
        attributes, base_timestamp = batch.attributes, batch.base_timestamp
        if needs_horizon:
            attributes |= DELETE_HORIZON_FLAG
            base_timestamp = self._now_ms + self._delete_retention_ms
        payload = _encode_kept(data, records, batch.base_timestamp - base_timestamp)
        max_timestamp = max(batch.base_timestamp + record.timestamp_delta for record in records)
        return with_payload(
            batch,
            compress(batch.codec, payload),
            attributes=attributes,
            record_count=len(records),
            base_timestamp=base_timestamp,
            max_timestamp=batch.max_timestamp if attributes & LOG_APPEND_TIME_FLAG else max_timestamp,
        )


def _encode_kept(data: memoryview, records: Sequence[RawRecord], shift: int) -> bytearray:
    """The records' own bytes; with another base timestamp, only the deltas are written anew."""
    out = bytearray()
    for record in records:
        if shift == 0:
            out += data[record.start : record.end]
            continue
        body = bytearray(1)
        write_varlong(body, record.timestamp_delta + shift)
        body += data[record.after_timestamp : record.end]
        write_varlong(out, len(body))
        out += body
    return out


def emptied(batch: Batch) -> Batch:
    """The batch without records: its offsets and its producer are still there."""
    kept_flags = LOG_APPEND_TIME_FLAG | TRANSACTIONAL_FLAG | CONTROL_FLAG
    return with_payload(
        batch,
        b"",
        attributes=batch.attributes & kept_flags & ~CODEC_MASK,
        record_count=0,
        base_timestamp=NO_TIMESTAMP,
    )


class DirtyFacts(NamedTuple):
    """A segment, as far as cleaning goes."""

    base_offset: int
    size: int
    largest_timestamp: int
    first_timestamp: int  # -1 if its records have none


class Dirtiness(NamedTuple):
    first_dirty_offset: int
    end_offset: int  # cleaning stops before it
    ratio: float
    is_overdue: bool  # max.compaction.lag.ms has passed


def measure_dirtiness(
    inactive: Sequence[DirtyFacts],
    *,
    active_base_offset: int,
    first_dirty_offset: int,
    last_stable_offset: int,
    min_compaction_lag_ms: int,
    max_compaction_lag_ms: int,
    now_ms: int,
) -> Dirtiness:
    dirty = [segment for segment in inactive if segment.base_offset >= first_dirty_offset]
    bounds = [last_stable_offset, active_base_offset]
    if min_compaction_lag_ms > 0:
        bounds += [s.base_offset for s in dirty if s.largest_timestamp > now_ms - min_compaction_lag_ms]
    end_offset = max(min(bounds), first_dirty_offset)
    cleanable = [segment for segment in dirty if segment.base_offset < end_offset]
    cleanable_bytes = sum(segment.size for segment in cleanable)
    clean_bytes = sum(segment.size for segment in inactive if segment.base_offset < first_dirty_offset)
    total = clean_bytes + cleanable_bytes
    oldest = min((s.first_timestamp for s in cleanable if s.first_timestamp >= 0), default=None)
    is_overdue = oldest is not None and now_ms - oldest > max_compaction_lag_ms
    return Dirtiness(first_dirty_offset, end_offset, cleanable_bytes / total if total else 0.0, is_overdue)


def group_by_size(sizes: Sequence[tuple[int, int]], *, max_bytes: int, max_offset_span: int) -> list[int]:
    """How many segments, given as (base offset, size), go into each new one."""
    groups: list[int] = []
    first_base, total = 0, 0
    for number, (base_offset, size) in enumerate(sizes):
        end = sizes[number + 1][0] if number + 1 < len(sizes) else base_offset
        if groups and total + size <= max_bytes and end - first_base <= max_offset_span:
            groups[-1] += 1
            total += size
        else:
            groups.append(1)
            first_base, total = base_offset, size
    return groups
