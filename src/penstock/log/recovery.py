"""Open a partition's directory: which files count, what is cut off, what state the log was in.

First the leftovers of interrupted work, as Kafka treats them: `.deleted` and `.cleaned` files go; a `.swap`
file is a finished compaction whose renames did not all happen, so the segments it replaces go and it takes
its own name.

After a clean stop the files are what they claim. After an unclean one, every segment from the recovery
point on is read from its start: each batch must be whole, in order and match its CRC. The first that does
not ends the log there, and later segments go with it; so they do if a segment ends before the next one starts.
Indexes, producer state and leader epochs are rebuilt from the batches on the way.

Before the recovery point all was synced once, so a bad batch there is no torn write but damage. It is told with file
and position and stays where it is; the next sound batch behind it is looked for byte by byte, and the log goes on with
that. So it is after a clean stop, where the end of the log is known: an offset that was used is not used again.
"""

import logging
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from penstock.log import names
from penstock.log.batch_scan import scan_headers
from penstock.log.epochs import LeaderEpochCache
from penstock.log.fs import FileSystem
from penstock.log.producer_state import ProducerState
from penstock.log.segment import Segment
from penstock.log.snapshots import ProducerSnapshots
from penstock.records.batch import Batch

logger = logging.getLogger(__name__)


class Loaded(NamedTuple):
    segments: list[Segment]
    log_start_offset: int
    log_end_offset: int
    recovery_point: int


class Loader:
    def __init__(
        self,
        fs: FileSystem,
        directory: str,
        producers: ProducerState,
        epochs: LeaderEpochCache,
        *,
        now_ms: int,
        producer_expiration_ms: int,
        index_interval_bytes: int,
        may_have_gaps: bool,
    ) -> None:
        self._fs = fs
        self._directory = directory
        self._producers = producers
        self._epochs = epochs
        self._now_ms = now_ms
        self._producer_expiration_ms = producer_expiration_ms
        self._index_interval_bytes = index_interval_bytes
        self._may_have_gaps = may_have_gaps

    def load(
        self,
        listing: list[str],
        snapshots: ProducerSnapshots,
        *,
        recovery_point: int,
        log_start_offset: int,
        clean: bool,
    ) -> Loaded:
        segments = self._open_segments(listing)
        if names.LEADER_EPOCH_CHECKPOINT in listing:
            self._epochs.load()
        if not clean:
            self._recover(segments, snapshots, recovery_point, log_start_offset)
        self._drop_failed_roll(segments)
        known = recovery_point if clean else 0
        log_end_offset = segments[-1].read_next_offset(known) if segments else log_start_offset
        if segments and log_end_offset < log_start_offset:
            self._drop_all(segments, log_end_offset, log_start_offset)
            log_end_offset = log_start_offset
        if segments:
            log_start_offset = max(log_start_offset, segments[0].base_offset)
        self._restore_epochs(segments, log_start_offset, log_end_offset)
        snapshots.remove_stray([segment.base_offset for segment in segments], log_end_offset)
        self.restore_producers(segments, snapshots, log_start_offset, log_end_offset)
        recovered_to = log_end_offset if clean else min(recovery_point, log_end_offset)
        return Loaded(segments, log_start_offset, log_end_offset, recovered_to)

    def _open_segments(self, listing: list[str]) -> list[Segment]:
        logs = {names.offset_of(name) for name in listing if name.endswith(names.LOG)} - {None}
        for name in listing:
            is_index = name.endswith((names.OFFSET_INDEX, names.TIME_INDEX, names.TRANSACTION_INDEX))
            if is_index and names.offset_of(name) not in logs:
                self._fs.remove(f"{self._directory}/{name}")
        return [self._open_segment(offset) for offset in sorted(o for o in logs if o is not None)]

    def _open_segment(self, base_offset: int) -> Segment:
        segment = Segment(self._fs, self._directory, base_offset, 0, created_ms=self._now_ms)
        segment.size = self._fs.file_size(segment.path(names.LOG))
        segment.index_interval_bytes = self._index_interval_bytes
        return segment

    def _drop_failed_roll(self, segments: list[Segment]) -> None:
        """An empty segment that starts before the last one ends was made by a roll that failed."""
        if len(segments) < 2 or segments[-1].size > 0:
            return
        if segments[-2].read_next_offset() > segments[-1].base_offset:
            self._drop_segments(segments, len(segments) - 1)

    # Recovery

    def _recover(
        self,
        segments: list[Segment],
        snapshots: ProducerSnapshots,
        recovery_point: int,
        log_start_offset: int,
    ) -> None:
        first = _floor(segments, recovery_point - 1)  # its index may be newer than the recovery point
        if first >= len(segments):
            return
        snapshots.remove_beyond(segments[first].base_offset)  # they may be of records that are lost
        self.restore_producers(segments[:first], snapshots, log_start_offset, segments[first].base_offset)
        for number in range(first, len(segments)):
            segment = segments[number]
            if number > first:
                snapshots.take(self._producers, segment.base_offset)
            cut_off = segment.recover(partial(self._replay_recovered, segment), recovery_point)
            if cut_off:
                logger.warning(
                    "%s: cut off %d bytes from position %d on that are no whole batches",
                    segment.path(names.LOG),
                    cut_off,
                    segment.size,
                )
            if cut_off or self._lacks_its_end(segment, segments[number + 1 : number + 2]):
                self._drop_segments(segments, number + 1)
                break
        for segment in segments[first:]:
            segment.write_indexes()

    def _lacks_its_end(self, segment: Segment, following: list[Segment]) -> bool:
        """Whether records are missing before the next segment. Compaction leaves such gaps, else it is a loss."""
        if not following or self._may_have_gaps:
            return False
        return segment.read_next_offset() != following[0].base_offset

    def _replay_recovered(self, segment: Segment, batch: Batch) -> None:
        if batch.leader_epoch > self._epochs.latest_epoch:
            self._epochs.assign(batch.leader_epoch, batch.base_offset)
        replay_into(self._producers, batch, segment)

    def _drop_segments(self, segments: list[Segment], first: int) -> None:
        if len(segments) == first:
            return
        while len(segments) > first:
            segment = segments.pop()
            logger.warning("%s: dropped, the log ends before it", segment.path(names.LOG))
            segment.remove_files()
        self._fs.sync_directory(
            self._directory
        )  # they must not come back after records that are written later

    def _drop_all(self, segments: list[Segment], log_end_offset: int, log_start_offset: int) -> None:
        logger.warning(
            "%s: all segments dropped, they end at %d, before the log's start %d",
            self._directory,
            log_end_offset,
            log_start_offset,
        )
        self._drop_segments(segments, 0)
        self._epochs.clear()

    # State that is rebuilt

    def _restore_epochs(self, segments: list[Segment], log_start_offset: int, log_end_offset: int) -> None:
        holds_records = log_end_offset > log_start_offset
        if holds_records and (self._epochs.is_damaged or not self._epochs.entries):
            for segment in segments:
                for _, batch in scan_headers(segment.file, 0, segment.size):
                    if batch.leader_epoch > self._epochs.latest_epoch:
                        self._epochs.assign(batch.leader_epoch, batch.base_offset)
                segment.release_file()
        self._epochs.truncate_from_end(log_end_offset)
        self._epochs.truncate_from_start(log_start_offset)

    def restore_producers(
        self, segments: list[Segment], snapshots: ProducerSnapshots, log_start_offset: int, end_offset: int
    ) -> None:
        """Bring the producer state to `end_offset`: the newest snapshot, and the batches that follow it."""
        if self._producers.end_offset == end_offset and end_offset > 0:
            return
        snapshots.load_latest(
            self._producers, end_offset, log_start_offset, self._now_ms, self._producer_expiration_ms
        )
        start = self._producers.end_offset
        for segment in segments[_floor(segments, start) :]:
            if start < end_offset:
                for batch in read_producer_batches(segment, start, end_offset):
                    replay_into(self._producers, batch, None)
        self._producers.end_offset = end_offset


def _floor(segments: list[Segment], offset: int) -> int:
    """The number of the segment that holds `offset`, or would."""
    number = sum(1 for segment in segments if segment.base_offset <= offset)
    return max(number - 1, 0)


def read_producer_batches(segment: Segment, start_offset: int, end_offset: int) -> Iterator[Batch]:
    """The batches of producers with an id in [start, end); control batches come with their records."""
    position = segment.position_of(start_offset)
    if position is None:
        return
    file = segment.file
    for at, batch in scan_headers(file, position, segment.size):
        if batch.base_offset >= end_offset:
            break
        if batch.producer_id >= 0:
            yield Batch(memoryview(file.pread(batch.size, at))) if batch.is_control else batch
    segment.release_file()


def replay_into(producers: ProducerState, batch: Batch, segment: Segment | None) -> None:
    """Fold a batch into the producer state; an aborted transaction goes to the segment's index, if one is given."""
    completed = producers.replay(batch)
    if completed is not None:
        aborted = producers.complete(completed)
        if aborted is not None and segment is not None:
            segment.transaction_index.append(aborted)


def clear_leftovers(fs: FileSystem, directory: str) -> list[str]:
    """Finish or undo what was interrupted; returns the names of the files that count."""
    listing = fs.list_directory(directory)
    cleaned = [names.offset_of(name) for name in listing if name.endswith(names.CLEANED)]
    first_cleaned = min((offset for offset in cleaned if offset is not None), default=None)
    for name in listing:
        unfinished = name.endswith((names.DELETED, names.CLEANED, names.TEMPORARY))
        if unfinished or _is_incomplete_swap(name, first_cleaned):
            fs.remove(f"{directory}/{name}")
    if any(name.endswith(names.SWAP) for name in listing):
        _finish_swaps(fs, directory)
    return fs.list_directory(directory) if _has_leftovers(listing) else listing


def _has_leftovers(listing: list[str]) -> bool:
    return any(name.endswith((names.DELETED, names.CLEANED, names.TEMPORARY, names.SWAP)) for name in listing)


def _is_incomplete_swap(name: str, first_cleaned: int | None) -> bool:
    """A swap at or after a `.cleaned` file is one of several parts of which not all were finished."""
    offset = names.offset_of(name)
    return (
        first_cleaned is not None
        and name.endswith(names.SWAP)
        and offset is not None
        and offset >= first_cleaned
    )


def _finish_swaps(fs: FileSystem, directory: str) -> None:
    swaps = [name for name in fs.list_directory(directory) if name.endswith(names.SWAP)]
    ranges = [_swapped_range(fs, directory, name) for name in swaps if name.endswith(names.LOG + names.SWAP)]
    for name in fs.list_directory(directory):
        offset = names.offset_of(name)
        kind = name[20:]
        replaced = offset is not None and any(start <= offset < end for start, end in ranges)
        if replaced and kind in names.SEGMENT_SUFFIXES:
            fs.remove(f"{directory}/{name}")
    for name in swaps:
        fs.rename(f"{directory}/{name}", f"{directory}/{name.removesuffix(names.SWAP)}")


def _swapped_range(fs: FileSystem, directory: str, name: str) -> tuple[int, int]:
    base_offset = names.offset_of(name)
    assert base_offset is not None
    segment = Segment(
        fs, directory, base_offset, fs.file_size(f"{directory}/{name}"), created_ms=0, suffix=names.SWAP
    )
    return base_offset, max(segment.read_next_offset(), base_offset + 1)
