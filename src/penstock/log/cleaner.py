"""Compaction, the work. Three steps, so that the event loop never waits for it:

`plan_cleaning`   owner's thread: what to clean, as a job that needs nothing of the log any more
`CleaningJob.run` any thread: reads the segments through files of its own, writes `.cleaned` ones, syncs them
`apply_cleaning`  owner's thread: if the log still has the segments that the job started from, swaps the new ones in
                  by renames: `.cleaned` to `.swap` (from here on a crash goes forward, see recovery), the old ones
                  to `.deleted`, `.swap` to their own names

The active segment is never touched.
"""

from collections.abc import Iterator

from penstock.log import names
from penstock.log.batch_scan import scan_batches
from penstock.log.compaction import (
    BatchFilter,
    Dirtiness,
    DirtyFacts,
    KeyOffsets,
    LastOfProducer,
    TransactionTracker,
    group_by_size,
    measure_dirtiness,
)
from penstock.log.index import MAX_RELATIVE_OFFSET
from penstock.log.partition_log import PartitionLog
from penstock.log.segment import Segment
from penstock.log.transaction_index import AbortedTransaction
from penstock.records.batch import Batch
from penstock.records.reader import decompressed_records, iterate_raw_records
from penstock.settings.topic import TopicSettings

MAX_KEYS = 5_000_000
WRITE_BUFFER_BYTES = 1024 * 1024


class CleaningCancelled(Exception):
    """The owner has no more use for the job."""


class SegmentGroup:
    """Segments that become one."""

    def __init__(self, old: list[Segment], new: Segment) -> None:
        self.old = old
        self.new = new
        self.sources = [_twin(segment) for segment in old]  # other handles on the same files


def _twin(segment: Segment) -> Segment:
    return Segment(
        segment.fs, segment.directory, segment.base_offset, segment.size, created_ms=segment.created_ms
    )


class CleaningJob:
    def __init__(
        self,
        groups: list[SegmentGroup],
        dirtiness: Dirtiness,
        aborted: list[AbortedTransaction],
        producers: dict[int, LastOfProducer],
        settings: TopicSettings,
        *,
        now_ms: int,
        max_keys: int,
    ) -> None:
        self.groups = groups
        self._dirtiness = dirtiness
        self._aborted = aborted
        self._producers = producers
        self._settings = settings
        self._now_ms = now_ms
        self._keys = KeyOffsets(max_keys)
        self._is_cancelled = False
        self.next_dirty_offset = (
            dirtiness.first_dirty_offset
        )  # where the next cleaning starts, once this is applied

    def cancel(self) -> None:
        """May be called from the owner's thread while `run` is under way."""
        self._is_cancelled = True

    def run(self) -> None:
        """Blocks; reads and writes files, touches nothing of the log."""
        try:
            self._map_keys()
            tracker = TransactionTracker(self._aborted)
            for group in self.groups:
                self._clean(group, tracker)
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Remove what was written; the log is as it was."""
        for group in self.groups:
            group.new.remove_files()

    def _batches(self, sources: list[Segment]) -> Iterator[tuple[Batch, bool]]:
        """(batch, whether it is the last) of the segments, one after the other."""
        pending: Batch | None = None
        for source in sources:
            for _, batch in scan_batches(source.file, 0, source.size):
                if self._is_cancelled:
                    raise CleaningCancelled
                if pending is not None:
                    yield pending, False
                pending = batch
            source.release_file()
        if pending is not None:
            yield pending, True

    def _map_keys(self) -> None:
        """The last offset of each key from the first dirty offset on, as far as there is room."""
        tracker = TransactionTracker(self._aborted)
        sources = [source for group in self.groups for source in group.sources]
        for batch, _ in self._batches(sources):
            if batch.base_offset >= self._dirtiness.end_offset:
                break
            holds_keys = _holds_keys(batch, tracker)
            if batch.last_offset < self._dirtiness.first_dirty_offset:
                continue
            if not self._keys.has_room_for(batch.record_count):
                break
            if holds_keys:
                self._map_batch(batch)
            self._keys.latest_offset = batch.last_offset
        self.next_dirty_offset = max(self._keys.latest_offset + 1, self._dirtiness.first_dirty_offset)

    def _map_batch(self, batch: Batch) -> None:
        data = memoryview(decompressed_records(batch))
        for record in iterate_raw_records(data, batch.record_count):
            offset = batch.base_offset + record.offset_delta
            if record.key is not None and offset >= self._dirtiness.first_dirty_offset:
                self._keys.note(record.key, offset)

    def _clean(self, group: SegmentGroup, tracker: TransactionTracker) -> None:
        new = group.new
        new.remove_files()
        new.start_empty()
        keeper = BatchFilter(
            self._keys,
            tracker,
            self._producers,
            now_ms=self._now_ms,
            delete_retention_ms=self._settings.delete_retention_ms,
        )
        pending: list[Batch] = []
        pending_bytes = 0
        for batch, is_last in self._batches(group.sources):
            kept = keeper.filter(batch, is_last=is_last)
            if kept is not None:
                pending.append(kept)
                pending_bytes += kept.size
            if pending and (pending_bytes >= WRITE_BUFFER_BYTES or is_last):
                new.append(pending, b"".join([batch.view for batch in pending]))
                pending, pending_bytes = [], 0
        if keeper.aborted:
            new.transaction_index.replace(keeper.aborted)
        new.finish()
        for file in new.files_to_sync():
            file.sync()
        new.release_file()
        new.fs.sync_directory(new.directory)


def _holds_keys(batch: Batch, tracker: TransactionTracker) -> bool:
    if batch.is_control:
        tracker.end(batch)
        return False
    return not tracker.is_discarded(batch)


def measure(log: PartitionLog, first_dirty_offset: int, high_watermark: int, now_ms: int) -> Dirtiness:
    """How much there is to clean; `first_dirty_offset` is where the last cleaning ended."""
    if not log.log_start_offset <= first_dirty_offset <= log.log_end_offset:
        first_dirty_offset = log.log_start_offset
    settings = log.settings
    return measure_dirtiness(
        [_facts(segment) for segment in log.segments[:-1]],
        active_base_offset=log.segments[-1].base_offset,
        first_dirty_offset=first_dirty_offset,
        last_stable_offset=log.last_stable_offset(high_watermark),
        min_compaction_lag_ms=settings.min_compaction_lag_ms,
        max_compaction_lag_ms=settings.max_compaction_lag_ms,
        now_ms=now_ms,
    )


def _facts(segment: Segment) -> DirtyFacts:
    return DirtyFacts(segment.base_offset, segment.size, segment.largest_timestamp(), segment.first_timestamp)


def plan_cleaning(
    log: PartitionLog, *, first_dirty_offset: int, high_watermark: int, now_ms: int, max_keys: int = MAX_KEYS
) -> CleaningJob | None:
    """A job, if the log is compacted and dirty enough."""
    if "compact" not in log.settings.cleanup_policy:
        return None
    dirtiness = measure(log, first_dirty_offset, high_watermark, now_ms)
    is_dirty = dirtiness.ratio > log.settings.min_cleanable_dirty_ratio or dirtiness.is_overdue
    if not is_dirty or dirtiness.end_offset <= dirtiness.first_dirty_offset:
        return None
    segments = [s for s in log.segments[:-1] if s.base_offset < dirtiness.end_offset]
    aborted = log.aborted_transactions(log.segments[0].base_offset, dirtiness.end_offset)
    producers = {
        entry.producer_id: LastOfProducer(entry.last_data_offset, entry.producer_epoch)
        for entry in log.producers()
    }
    return CleaningJob(
        _group(log, segments), dirtiness, aborted, producers, log.settings, now_ms=now_ms, max_keys=max_keys
    )


def _group(log: PartitionLog, segments: list[Segment]) -> list[SegmentGroup]:
    counts = group_by_size(
        [(segment.base_offset, segment.size) for segment in segments],
        max_bytes=log.segment_bytes,
        max_offset_span=MAX_RELATIVE_OFFSET,
    )
    groups: list[SegmentGroup] = []
    start = 0
    for count in counts:
        old = segments[start : start + count]
        groups.append(SegmentGroup(old, _new_segment(old[0], log.settings)))
        start += count
    return groups


def _new_segment(first: Segment, settings: TopicSettings) -> Segment:
    new = Segment(
        first.fs, first.directory, first.base_offset, 0, created_ms=first.created_ms, suffix=names.CLEANED
    )
    new.index_interval_bytes = settings.index_interval_bytes
    new.max_index_bytes = settings.segment_index_bytes
    return new


def apply_cleaning(log: PartitionLog, job: CleaningJob) -> list[str] | None:
    """Swap the cleaned segments in; returns the retired files, for the owner to remove.

    None if the log has changed under the job (segments deleted or truncated): then nothing is done.
    """
    olds = [segment for group in job.groups for segment in group.old]
    if log.segments[: len(olds)] != olds or len(olds) >= len(log.segments):
        job.discard()
        return None
    retired: list[str] = []
    for group in job.groups:
        retired += log.replace_segments(group.old, group.new)
    return retired
