"""The log of one partition: a list of segments, of which the last one is written.

Used by one thread. The owner runs what blocks for long elsewhere: fsyncs (`plan_flush`, `FlushPlan.run`,
`mark_flushed`), the removal of retired files, the copying half of compaction.

Life of an append: producer state is asked (a duplicate ends here), batches get their offsets in place, a full segment
is rolled, one write, then the state in memory changes. A write that fails leaves everything as it was.

Offsets: `log_start_offset` <= what can be read < `log_end_offset`; up to `recovery_point` everything is on stable
storage, and recovery after a crash starts there. The owner checkpoints `recovery_point` (after a flush, and right
after a truncation) and `log_start_offset`.
"""

from bisect import bisect_right
from operator import attrgetter
from pathlib import Path
from uuid import UUID

from penstock.errors import ApiError, ErrorCode
from penstock.log import names, recovery
from penstock.log.append_result import AppendResult
from penstock.log.epochs import LeaderEpochCache
from penstock.log.file_slice import FileSlice
from penstock.log.flush import FlushPlan
from penstock.log.fs import Bytes, File, FileSystem
from penstock.log.index import MAX_RELATIVE_OFFSET
from penstock.log.partition_metadata import read_partition_metadata, write_partition_metadata
from penstock.log.producer_state import (
    AppendOrigin,
    BatchMetadata,
    ProducerEntry,
    ProducerState,
)
from penstock.log.retention import SegmentFacts, decide_deletable
from penstock.log.segment import Segment
from penstock.log.snapshots import ProducerSnapshots
from penstock.log.timestamps import TimestampedOffset, find_newest_record, find_offset_for_timestamp
from penstock.log.transaction_index import AbortedTransaction
from penstock.records.batch import LOG_APPEND_TIME_FLAG, Batch, contiguous_bytes, split_batches
from penstock.settings.topic import TopicSettings
from penstock.types import TopicPartition

DAY_MS = 24 * 60 * 60 * 1000
_base_offset = attrgetter("base_offset")


class PartitionLog:
    __slots__ = (
        "_active",
        "_directory_changed",
        "_flush_generation",
        "_fs",
        "_index_interval_bytes",
        "_path",
        "_segment_bytes",
        "_segment_ms",
        "_settings",
        "_snapshots",
        "epochs",
        "log_end_offset",
        "log_start_offset",
        "producer_expiration_ms",
        "producer_state",
        "recovery_point",
        "segments",
        "topic_id",
        "topic_partition",
    )

    def __init__(
        self, fs: FileSystem, directory: str, topic_partition: TopicPartition, settings: TopicSettings
    ) -> None:
        self._fs = fs
        self._path = directory
        self.topic_partition = topic_partition
        self.topic_id: UUID | None = None
        self.segments: list[Segment] = []
        self._active: Segment
        self.log_start_offset = 0
        self.log_end_offset = 0
        self.recovery_point = 0
        self.producer_expiration_ms = DAY_MS
        self.producer_state = ProducerState()
        self.epochs = LeaderEpochCache(fs, directory, self._current_log_end_offset)
        self._snapshots = ProducerSnapshots(fs, directory, [])
        self._flush_generation = 0
        self._directory_changed = False
        self.settings = settings

    @property
    def directory(self) -> Path:
        return Path(self._path)

    @property
    def settings(self) -> TopicSettings:
        return self._settings

    @settings.setter
    def settings(self, settings: TopicSettings) -> None:
        self._settings = settings
        self._segment_bytes = settings.internal_segment_bytes or settings.segment_bytes
        self._index_interval_bytes = settings.index_interval_bytes
        compacts = "compact" in settings.cleanup_policy
        self._segment_ms = (
            min(settings.segment_ms, settings.max_compaction_lag_ms) if compacts else settings.segment_ms
        )
        if self.segments:
            self._apply_settings(self._active)

    @property
    def segment_bytes(self) -> int:
        return self._segment_bytes

    def _apply_settings(self, segment: Segment) -> None:
        segment.index_interval_bytes = self._index_interval_bytes
        segment.max_index_bytes = self._settings.segment_index_bytes

    def _current_log_end_offset(self) -> int:
        return self.log_end_offset

    # Open and close

    @classmethod
    def open(
        cls,
        fs: FileSystem,
        directory: Path | str,
        topic_partition: TopicPartition,
        settings: TopicSettings,
        *,
        topic_id: UUID | None,
        now_ms: int,
        recovery_point: int = 0,
        log_start_offset: int = 0,
        clean: bool = True,
        producer_expiration_ms: int = DAY_MS,
    ) -> "PartitionLog":
        log = cls(fs, str(directory), topic_partition, settings)
        log.producer_expiration_ms = producer_expiration_ms
        if not fs.is_directory(log._path):
            fs.make_directory(log._path)
            log._directory_changed = True
        log._load(now_ms, recovery_point, log_start_offset, clean)
        log._settle_topic_id(topic_id)
        return log

    def _load(self, now_ms: int, recovery_point: int, log_start_offset: int, clean: bool) -> None:
        listing = recovery.clear_leftovers(self._fs, self._path)
        snapshots = [names.offset_of(name) for name in listing if name.endswith(names.PRODUCER_SNAPSHOT)]
        self._snapshots.offsets = sorted(offset for offset in snapshots if offset is not None)
        loaded = self._loader(now_ms).load(
            listing,
            self._snapshots,
            recovery_point=recovery_point,
            log_start_offset=log_start_offset,
            clean=clean,
        )
        self.segments = loaded.segments
        self.log_start_offset = loaded.log_start_offset
        self.log_end_offset = loaded.log_end_offset
        self.recovery_point = loaded.recovery_point
        self._directory_changed |= not clean
        if not self.segments:
            self._add_segment(self.log_end_offset, now_ms)
        self._active = self.segments[-1]
        self._apply_settings(self._active)
        for segment in self.segments:
            segment.release_file()

    def _loader(self, now_ms: int) -> recovery.Loader:
        return recovery.Loader(
            self._fs,
            self._path,
            self.producer_state,
            self.epochs,
            now_ms=now_ms,
            producer_expiration_ms=self.producer_expiration_ms,
            index_interval_bytes=self._index_interval_bytes,
            may_have_gaps="compact" in self._settings.cleanup_policy,
        )

    def _settle_topic_id(self, topic_id: UUID | None) -> None:
        self.topic_id = read_partition_metadata(self._fs, self._path)
        if self.topic_id is None and topic_id is not None:
            write_partition_metadata(self._fs, self._path, topic_id)
            self.topic_id = topic_id
            self._directory_changed = True
        elif topic_id is not None and topic_id != self.topic_id:
            raise ApiError(
                ErrorCode.INCONSISTENT_TOPIC_ID,
                f"{self._path} belongs to topic id {self.topic_id}, not to {topic_id}",
            )

    def prepare_close(self) -> FlushPlan:
        """Write everything out. Once the plan has run (in any thread), `finish_close` ends it: a clean log."""
        self._active.finish()
        if self.log_end_offset > self.log_start_offset:
            self._snapshots.take(self.producer_state, self.log_end_offset)
        return self.plan_flush()

    def finish_close(self, plan: FlushPlan) -> None:
        self.mark_flushed(plan)
        self.close_after_failure()

    def close(self) -> None:
        plan = self.prepare_close()
        plan.run()
        self.finish_close(plan)

    def close_after_failure(self) -> None:
        """Let go of the files, write nothing; also what is left to do when the disk has failed."""
        for segment in self.segments:
            segment.release_file()

    def relocate(self, directory: str) -> None:
        """The owner has given the log's directory another name; files that are open stay so."""
        self._path = directory
        self.epochs.relocate(directory)
        self._snapshots.directory = directory
        for segment in self.segments:
            segment.relocate(directory)

    def release_idle_files(self) -> None:
        """Close the files and indexes of all segments but the active one; the next read opens them again."""
        for segment in self.segments[:-1]:
            if segment.base_offset >= self.recovery_point:
                break
            segment.release_file()
            segment.drop_indexes()

    # Append

    def append_as_leader(
        self,
        batches: list[Batch],
        *,
        leader_epoch: int,
        now_ms: int,
        origin: AppendOrigin = AppendOrigin.CLIENT,
    ) -> AppendResult:
        """Append checked batches; they get their offsets in place.

        A single batch whose sequence was seen before is answered with its original offsets.
        """
        first_batch = batches[0]
        has_producers = first_batch.producer_id >= 0 or (
            len(batches) > 1 and any(batch.producer_id >= 0 for batch in batches)
        )
        if has_producers:
            duplicate = self._check_producers(batches, origin)
            if duplicate is not None:
                return AppendResult(
                    duplicate.first_offset,
                    duplicate.last_offset,
                    duplicate.timestamp,
                    self.log_start_offset,
                    True,
                )
        self._check_fits(batches)
        first_offset = next_offset = self.log_end_offset
        for batch in batches:
            batch.assign(next_offset, leader_epoch)
            next_offset += batch.last_offset_delta + 1
        if leader_epoch > self.epochs.latest_epoch:
            self.epochs.assign(leader_epoch, first_offset)
        self._write(batches, contiguous_bytes(batches), next_offset, now_ms, has_producers)
        append_time = first_batch.max_timestamp if first_batch.attributes & LOG_APPEND_TIME_FLAG else -1
        return AppendResult(first_offset, next_offset - 1, append_time, self.log_start_offset, False)

    def append_as_follower(self, records: memoryview, *, now_ms: int = 0) -> AppendResult:
        """Append what the leader sent, offsets and epochs as they are; a batch cut off at the end is ignored."""
        batches = split_batches(records)
        if not batches:
            raise ApiError(ErrorCode.CORRUPT_MESSAGE, f"{self.topic_partition}: no whole batch was fetched")
        next_offset = self.log_end_offset
        for batch in batches:
            if batch.base_offset < next_offset or not batch.is_valid():
                raise ApiError(
                    ErrorCode.CORRUPT_MESSAGE,
                    f"{self.topic_partition}: {batch} can't follow offset {next_offset - 1}",
                )
            next_offset = batch.next_offset
        for batch in batches:
            if batch.leader_epoch > self.epochs.latest_epoch:
                self.epochs.assign(batch.leader_epoch, batch.base_offset)
        self._check_fits(batches)
        has_producers = any(batch.producer_id >= 0 for batch in batches)
        self._write(batches, contiguous_bytes(batches), next_offset, now_ms, has_producers)
        return AppendResult(batches[0].base_offset, next_offset - 1, -1, self.log_start_offset, False)

    def _check_fits(self, batches: list[Batch]) -> None:
        """Refuses, before anything is changed, what no segment could hold."""
        size = batches[0].size if len(batches) == 1 else sum(batch.size for batch in batches)
        if size > self._segment_bytes:
            raise ApiError(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"{self.topic_partition}: {size} bytes exceed the segment size of {self._segment_bytes}",
            )

    def _check_producers(self, batches: list[Batch], origin: AppendOrigin) -> BatchMetadata | None:
        if len(batches) == 1 and origin is AppendOrigin.CLIENT:
            duplicate = self.producer_state.find_duplicate(batches[0])
            if duplicate is not None:
                return duplicate
        self.producer_state.check(batches, origin)
        return None

    def _write(
        self, batches: list[Batch], data: Bytes, next_offset: int, now_ms: int, has_producers: bool
    ) -> None:
        segment = self._active
        size = len(data)
        if segment.size and self._must_roll(segment, batches[-1], size, next_offset - 1, now_ms):
            segment = self.roll(now_ms)
        segment.append(batches, data)
        self.log_end_offset = next_offset
        if has_producers:
            for batch in batches:
                recovery.replay_into(self.producer_state, batch, segment)

    def _must_roll(self, segment: Segment, batch: Batch, size: int, last_offset: int, now_ms: int) -> bool:
        return (
            segment.size + size > self._segment_bytes
            or segment.index_is_full
            or last_offset - segment.base_offset > MAX_RELATIVE_OFFSET
            or self._is_old(segment, now_ms, batch.max_timestamp)
        )

    def _is_old(self, segment: Segment, now_ms: int, timestamp: int) -> bool:
        jitter_ms = self._settings.segment_jitter_ms
        limit_ms = self._segment_ms - segment.roll_jitter_ms(jitter_ms) if jitter_ms else self._segment_ms
        return segment.waited_for_roll_ms(now_ms, timestamp) > limit_ms

    def maybe_roll(self, now_ms: int) -> bool:
        """Roll a segment that is old, without waiting for the next append."""
        active = self._active
        if active.size == 0 or not (active.index_is_full or self._is_old(active, now_ms, now_ms)):
            return False
        self.roll(now_ms)
        return True

    def roll(self, now_ms: int) -> Segment:
        """Start a new segment. The old one is complete; a flush should follow (see `has_unflushed_segments`)."""
        old = self._active
        if old.size == 0:
            return old
        old.finish()
        old.write_indexes()
        self._snapshots.take(self.producer_state, self.log_end_offset)
        self._add_segment(self.log_end_offset, now_ms)
        self._active = self.segments[-1]
        return self._active

    def _add_segment(self, base_offset: int, now_ms: int) -> None:
        preallocate = self._segment_bytes if self._settings.preallocate else 0
        segment = Segment.create(
            self._fs, self._path, base_offset, now_ms=now_ms, preallocate_bytes=preallocate
        )
        self._apply_settings(segment)
        self.segments.append(segment)
        self._directory_changed = True

    # Read

    def read(self, offset: int, max_bytes: int, *, max_offset: int, at_least_one: bool) -> FileSlice | None:
        """Bytes from the batch that holds `offset` on, none at or above `max_offset`.

        None where there is nothing (yet); a slice of size 0 if the first batch exceeds `max_bytes` and
        `at_least_one` is not asked for.
        """
        end_offset = self.log_end_offset
        if offset < self.log_start_offset or offset > end_offset:
            raise ApiError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"Received request for offset {offset} for partition {self.topic_partition}, but we only have log "
                f"segments from offset {self.log_start_offset} up to {end_offset}.",
            )
        if offset >= max_offset or offset == end_offset:
            return None
        active = self._active
        if offset >= active.base_offset:
            end = active.size if max_offset >= end_offset else self._position_of(active, max_offset)
            return active.read(offset, max_bytes, end_position=end, at_least_one=at_least_one)
        return self._read_older(offset, max_bytes, max_offset, at_least_one)

    def _read_older(
        self, offset: int, max_bytes: int, max_offset: int, at_least_one: bool
    ) -> FileSlice | None:
        number = self._segment_number(offset)
        while number < len(self.segments) and self.segments[number].base_offset < max_offset:
            segment = self.segments[number]
            end = segment.size
            if max_offset < self._next_base_offset(number):
                end = self._position_of(segment, max_offset)
            found = segment.read(offset, max_bytes, end_position=end, at_least_one=at_least_one)
            if found is not None:
                return found
            number += 1  # compaction has left nothing at or after the offset in that segment
        return None

    def _position_of(self, segment: Segment, offset: int) -> int:
        position = segment.position_of(offset)
        return segment.size if position is None else position

    def _segment_number(self, offset: int) -> int:
        return max(bisect_right(self.segments, offset, key=_base_offset) - 1, 0)

    def _next_base_offset(self, number: int) -> int:
        following = number + 1
        return self.segments[following].base_offset if following < len(self.segments) else self.log_end_offset

    def offset_for_timestamp(self, timestamp_ms: int, max_offset: int) -> TimestampedOffset | None:
        """The first record below `max_offset` that is not older than `timestamp_ms`."""
        found = find_offset_for_timestamp(self.segments, timestamp_ms, self.log_start_offset)
        return found if found is not None and found.offset < max_offset else None

    def offset_of_max_timestamp(self, max_offset: int) -> TimestampedOffset | None:
        """The record with the newest timestamp; None if that is not below `max_offset`."""
        found = find_newest_record(self.segments)
        return found if found is not None and found.offset < max_offset else None

    def size_bytes(self) -> int:
        return sum(segment.size for segment in self.segments)

    # Transactions and producers

    def last_stable_offset(self, high_watermark: int) -> int:
        """Up to here every transaction is decided."""
        unstable = self.producer_state.first_unstable_offset(high_watermark)
        if unstable is None or unstable >= high_watermark:
            return high_watermark
        return max(unstable, self.log_start_offset)

    def aborted_transactions(self, from_offset: int, to_offset: int) -> list[AbortedTransaction]:
        found: list[AbortedTransaction] = []
        for segment in self.segments[self._segment_number(from_offset) :]:
            entries, is_complete = segment.transaction_index.collect(from_offset, to_offset)
            found += entries
            if is_complete:
                break
        return found

    def producers(self) -> list[ProducerEntry]:
        return list(self.producer_state.entries.values())

    def expire_producers(self, now_ms: int) -> None:
        self.producer_state.expire(now_ms, self.producer_expiration_ms)

    # Retention and truncation

    def delete_old_segments(self, now_ms: int, high_watermark: int) -> list[str]:
        """Retire what retention says; the files, renamed `.deleted`, are the owner's to remove."""
        facts = [self._facts(number) for number in range(len(self.segments))]
        count = decide_deletable(
            facts,
            self._settings,
            log_start_offset=self.log_start_offset,
            high_watermark=high_watermark,
            now_ms=now_ms,
        )
        if count == 0:
            return []
        if count == len(self.segments):
            self.roll(now_ms)
        retired = self._retire(count)
        self._raise_log_start(self.segments[0].base_offset)
        return retired

    def _facts(self, number: int) -> SegmentFacts:
        segment = self.segments[number]
        newest = segment.largest_timestamp() if segment.size else 0
        return SegmentFacts(segment.base_offset, self._next_base_offset(number), segment.size, newest)

    def _retire(self, count: int) -> list[str]:
        retired: list[str] = []
        for segment in self.segments[:count]:
            retired += segment.rename_files(names.DELETED)
            retired += self._snapshots.retire(segment.base_offset)
        del self.segments[:count]
        self._directory_changed = True
        return retired

    def replace_segments(self, old: list[Segment], new: Segment) -> list[str]:
        """Put a cleaned segment in the place of those it was made from; the retired files are the owner's."""
        new.rename_files(names.SWAP)
        retired: list[str] = []
        for segment in old:
            retired += segment.rename_files(names.DELETED)
            if segment.base_offset != new.base_offset:
                retired += self._snapshots.retire(segment.base_offset)
        new.rename_files("")
        start = self.segments.index(old[0])
        self.segments[start : start + len(old)] = [new]
        self._directory_changed = True
        return retired

    def _raise_log_start(self, offset: int) -> None:
        if offset > self.log_start_offset:
            self.log_start_offset = offset
            self.epochs.truncate_from_start(offset)

    def delete_records_before(self, offset: int) -> None:
        """Hide the records below `offset`; their segments go with the next `delete_old_segments`."""
        if offset > self.log_end_offset:
            raise ApiError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"Cannot increment the log start offset of {self.topic_partition} to {offset}, it ends at "
                f"{self.log_end_offset}",
            )
        self._raise_log_start(offset)

    def truncate_to(self, offset: int, *, now_ms: int = 0) -> None:
        """Drop the records at `offset` and above, and epochs without any. The owner checkpoints the recovery point."""
        if offset >= self.log_end_offset:
            self.epochs.truncate_from_end(self.log_end_offset)
            return
        if offset < self.segments[0].base_offset:
            self.truncate_fully_and_start_at(offset, now_ms=now_ms)
            return
        self._flush_generation += 1
        keep = self._segment_number(offset) + 1
        self._remove_segments_from(keep)
        self._active = self.segments[-1]
        self.log_end_offset = self._active.truncate_to(offset)
        self._apply_settings(self._active)
        self._after_truncation(now_ms)

    def truncate_fully_and_start_at(self, offset: int, *, now_ms: int = 0) -> None:
        """Drop everything; the next record gets `offset`."""
        self._flush_generation += 1
        self._remove_segments_from(0)
        self.epochs.clear()
        self.log_start_offset = self.log_end_offset = offset
        self._add_segment(offset, now_ms)
        self._active = self.segments[-1]
        self._after_truncation(now_ms)

    def _remove_segments_from(self, number: int) -> None:
        """The last one first, and for good before what precedes them is cut: a crash on the way leaves no hole."""
        if len(self.segments) == number:
            return
        while len(self.segments) > number:
            self.segments.pop().remove_files()
        self._fs.sync_directory(self._path)

    def _after_truncation(self, now_ms: int) -> None:
        end_offset = self.log_end_offset
        self.recovery_point = min(self.recovery_point, self._active.base_offset)
        self.log_start_offset = min(self.log_start_offset, end_offset)
        self.epochs.truncate_from_end(end_offset)
        self._snapshots.remove_beyond(end_offset)
        self.producer_state.end_offset = -1
        self._loader(now_ms).restore_producers(
            self.segments, self._snapshots, self.log_start_offset, end_offset
        )
        self._directory_changed = True

    # Flush

    @property
    def unflushed_records(self) -> int:
        return self.log_end_offset - self.recovery_point

    @property
    def has_unflushed_segments(self) -> bool:
        """Whether a finished segment waits for its fsync."""
        return self.recovery_point < self._active.base_offset

    def plan_flush(self, *, include_active: bool = True) -> FlushPlan:
        """What has to be synced so that all up to the plan's offset is on stable storage."""
        files: list[File] = []
        for segment in self.segments[self._segment_number(self.recovery_point - 1) :]:
            if segment is not self._active or include_active:
                files += segment.files_to_sync()
        files += self._snapshots.unsynced_files()
        files += self.epochs.unsynced_files()
        directory = self._path if self._directory_changed else None
        self._directory_changed = False
        offset = self.log_end_offset if include_active else self._active.base_offset
        return FlushPlan(self._fs, files, directory, offset, self._flush_generation)

    def mark_flushed(self, plan: FlushPlan) -> None:
        """The plan has run. One that a truncation has overtaken says nothing."""
        if plan.generation != self._flush_generation or plan.offset <= self.recovery_point:
            return
        for segment in self.segments[self._segment_number(self.recovery_point - 1) : -1]:
            if segment.base_offset < plan.offset:
                segment.release_file()
                segment.drop_indexes()
        self.recovery_point = plan.offset

    def flush(self) -> None:
        plan = self.plan_flush()
        plan.run()
        self.mark_flushed(plan)
