"""One segment: a `.log` file of batches and its sparse indexes.

What is opened, and when. A segment that nobody uses holds no file and no index: the log file is opened by the
first read or append, the indexes are read (or rebuilt, if their files are missing or make no sense) by the
first lookup or append. Index entries are written out at flush, roll and close; after an unclean stop recovery
rebuilds them, so a lost index file costs time, never data.

Most fetches want what was just written. So the segment remembers where its most recent batches start (the
tail) and answers those lookups without an index search and without reading headers from the file.
"""

import logging
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from zlib import crc32

from penstock.errors import ApiError, ErrorCode, StorageError
from penstock.log import names
from penstock.log.batch_scan import find_batch, find_sound_batch, scan_batches, scan_headers
from penstock.log.file_slice import FileSlice
from penstock.log.fs import Bytes, File, FileSystem
from penstock.log.index import MAX_RELATIVE_OFFSET, TIME_ENTRY_SIZE, OffsetIndex, TimeIndex
from penstock.log.transaction_index import TransactionIndex
from penstock.records.batch import NO_TIMESTAMP, Batch

logger = logging.getLogger(__name__)

TAIL_BATCHES = 128
DEFAULT_INDEX_INTERVAL_BYTES = 4096
DEFAULT_MAX_INDEX_BYTES = 10 * 1024 * 1024


class Segment:
    __slots__ = (
        "_file",
        "_first_timestamp",
        "_has_torn_bytes",
        "_indexes_saved",
        "_indexes_synced",
        "_is_preallocated",
        "_is_unsynced",
        "_max_timestamp",
        "_max_timestamp_offset",
        "_offset_index",
        "_tail_last_offsets",
        "_tail_positions",
        "_tail_start",
        "_time_index",
        "_transaction_index",
        "base_offset",
        "bytes_since_index_entry",
        "created_ms",
        "directory",
        "fs",
        "index_interval_bytes",
        "index_is_full",
        "max_index_bytes",
        "size",
        "suffix",
    )

    def __init__(
        self,
        fs: FileSystem,
        directory: str,
        base_offset: int,
        size: int,
        *,
        created_ms: int,
        suffix: str = "",
    ) -> None:
        self.fs = fs
        self.directory = directory
        self.base_offset = base_offset
        self.size = size
        self.created_ms = created_ms
        self.suffix = suffix
        self.bytes_since_index_entry = 0
        self._file: File | None = None
        self._offset_index: OffsetIndex | None = None
        self._time_index: TimeIndex | None = None
        self._transaction_index: TransactionIndex | None = None
        self._indexes_saved = True
        self._indexes_synced = True
        self.index_interval_bytes = DEFAULT_INDEX_INTERVAL_BYTES
        self.max_index_bytes = DEFAULT_MAX_INDEX_BYTES
        self.index_is_full = False
        self._first_timestamp: int | None = None
        self._max_timestamp: int | None = None
        self._max_timestamp_offset = base_offset
        self._tail_start = base_offset
        self._tail_last_offsets = array("q")
        self._tail_positions = array("q")
        self._has_torn_bytes = False
        self._is_preallocated = False
        self._is_unsynced = False

    @classmethod
    def create(
        cls, fs: FileSystem, directory: str, base_offset: int, *, now_ms: int, preallocate_bytes: int = 0
    ) -> "Segment":
        segment = cls(fs, directory, base_offset, 0, created_ms=now_ms)
        try:
            segment.start_empty()
            if preallocate_bytes:
                segment.file.allocate(preallocate_bytes)
                segment._is_preallocated = True
        except StorageError:
            segment._try_remove_files()
            raise
        return segment

    def _try_remove_files(self) -> None:
        """A file that could not be made must not be taken for the end of the log; see also recovery."""
        try:
            self.remove_files()
        except StorageError:
            pass

    def start_empty(self) -> None:
        """Make the log file, or empty it."""
        self._file = self.fs.open_file(self.path(names.LOG), create=True)
        self._file.truncate(0)
        self.size = 0
        self.reset_indexes()

    def relocate(self, directory: str) -> None:
        self.directory = directory
        self._transaction_index = None

    def path(self, kind: str) -> str:
        return f"{self.directory}/{names.file_name(self.base_offset, kind)}{self.suffix}"

    @property
    def file(self) -> File:
        if self._file is None:
            self._file = self.fs.open_file(self.path(names.LOG))
        return self._file

    def release_file(self) -> None:
        """Forget the open file; slices that are under way keep it open until they are done."""
        self._file = None

    # Indexes

    @property
    def offset_index(self) -> OffsetIndex:
        if self._offset_index is None:
            self._load_indexes()
        assert self._offset_index is not None
        return self._offset_index

    @property
    def time_index(self) -> TimeIndex:
        if self._time_index is None:
            self._load_indexes()
        assert self._time_index is not None
        return self._time_index

    @property
    def transaction_index(self) -> TransactionIndex:
        if self._transaction_index is None:
            self._transaction_index = TransactionIndex(self.fs, self.path(names.TRANSACTION_INDEX))
        return self._transaction_index

    def reset_indexes(self) -> None:
        self._offset_index = OffsetIndex(self.base_offset, bytearray())
        self._time_index = TimeIndex(self.base_offset, bytearray())
        self._indexes_saved = False
        self._max_timestamp, self._max_timestamp_offset = NO_TIMESTAMP, self.base_offset
        self._first_timestamp = None
        self.bytes_since_index_entry = 0
        self._forget_tail(self.base_offset)

    def _load_indexes(self) -> None:
        offsets = self._read_index_file(names.OFFSET_INDEX)
        times = self._read_index_file(names.TIME_INDEX)
        if offsets is not None and times is not None:
            offset_index = OffsetIndex(self.base_offset, offsets)
            time_index = TimeIndex(self.base_offset, times)
            if offset_index.is_sane(self.size) and time_index.is_sane():
                self._offset_index, self._time_index = offset_index, time_index
                return
        self._rebuild_indexes()

    def _read_index_file(self, kind: str) -> bytearray | None:
        path = self.path(kind)
        return bytearray(self.fs.read_file(path)) if self.fs.exists(path) else None

    def _rebuild_indexes(self) -> None:
        self.reset_indexes()
        end = 0
        for position, batch in self._scan_headers(0):
            self._note_behind(batch, position, end)
            end = position + batch.size
        self.time_index.maybe_append(self.max_timestamp, self._max_timestamp_offset)

    def write_indexes(self) -> None:
        """Bring the index files up to date; an fsync is the business of `files_to_sync`."""
        if self._indexes_saved or self._offset_index is None or self._time_index is None:
            return
        self._write_index_file(names.OFFSET_INDEX, self._offset_index.entries)
        self._write_index_file(names.TIME_INDEX, self._time_index.entries)
        self._indexes_saved, self._indexes_synced = True, False

    def _write_index_file(self, kind: str, entries: bytearray) -> None:
        file = self.fs.open_file(self.path(kind), create=True)
        if file.size() > len(entries):
            file.truncate(len(entries))
        if entries:
            file.pwrite(entries, 0)
        file.close()

    def files_to_sync(self) -> list[File]:
        """The files that have changed since the last flush, index files written out."""
        self.write_indexes()
        files: list[File] = []
        if not self._indexes_synced:
            kinds = (names.OFFSET_INDEX, names.TIME_INDEX, names.TRANSACTION_INDEX)
            paths = [path for kind in kinds if self.fs.exists(path := self.path(kind))]
            files += [self.fs.open_file(path) for path in paths]
        if self._is_unsynced:
            files.append(self.file)
        self._indexes_synced, self._is_unsynced = True, False
        return files

    # Timestamps

    @property
    def max_timestamp(self) -> int:
        """The largest timestamp in the segment, -1 if no record has one."""
        if self._max_timestamp is None:
            self._max_timestamp, self._max_timestamp_offset = self._last_time_entry()
        return self._max_timestamp

    @property
    def max_timestamp_offset(self) -> int:
        """The last offset of the first batch with the largest timestamp."""
        return self._max_timestamp_offset if self.max_timestamp >= 0 else self.base_offset

    def _last_time_entry(self) -> tuple[int, int]:
        path = self.path(names.TIME_INDEX)
        if self._time_index is None and self.fs.exists(path):
            file = self.fs.open_file(path)
            size = file.size()
            if size and size % TIME_ENTRY_SIZE == 0:
                last = file.pread(TIME_ENTRY_SIZE, size - TIME_ENTRY_SIZE)
                return TimeIndex(self.base_offset, bytearray(last)).last_entry()
        return self.time_index.last_entry()

    def largest_timestamp(self) -> int:
        """What retention goes by: the newest record, or the file's age if records have no timestamps."""
        newest = self.max_timestamp
        return newest if newest >= 0 else self.fs.modified_ms(self.path(names.LOG))

    @property
    def first_timestamp(self) -> int:
        """The largest timestamp of the first batch, -1 if there is none."""
        if self._first_timestamp is None:
            if self.size == 0:
                return NO_TIMESTAMP
            first = next(self._scan_headers(0), None)
            self._first_timestamp = first[1].max_timestamp if first else NO_TIMESTAMP
        return self._first_timestamp

    def waited_for_roll_ms(self, now_ms: int, timestamp: int) -> int:
        first = self._first_timestamp if self._first_timestamp is not None else self.first_timestamp
        return timestamp - first if first >= 0 else now_ms - self.created_ms

    def roll_jitter_ms(self, segment_jitter_ms: int) -> int:
        """Spread the rolls of many partitions: a stable share of the jitter for each segment."""
        if segment_jitter_ms == 0:
            return 0
        return crc32(self.path(names.LOG).encode()) % segment_jitter_ms

    # Append

    def can_hold(self, last_offset: int) -> bool:
        return last_offset - self.base_offset <= MAX_RELATIVE_OFFSET

    def append(self, batches: list[Batch], data: Bytes) -> None:
        """Write `data`, the bytes of `batches`, at the end. On failure the segment is as before."""
        position = self.size
        file = self._file if self._file is not None else self.file
        self._is_unsynced = True
        if self._has_torn_bytes:
            self._drop_torn_bytes()
        try:
            file.pwrite(data, position)
        except StorageError:
            self._has_torn_bytes = True
            self._try_drop_torn_bytes()
            raise
        for batch in batches:
            self._note(batch, position)
            position += batch.size
        self.size = position

    def _note(self, batch: Batch, position: int) -> None:
        """Take a batch that lies at `position` into the indexes."""
        last_offset = batch.base_offset + batch.last_offset_delta
        max_timestamp = self._max_timestamp if self._max_timestamp is not None else self.max_timestamp
        if batch.max_timestamp > max_timestamp and batch.record_count:  # compaction leaves empty batches
            self._max_timestamp = batch.max_timestamp
            self._max_timestamp_offset = last_offset
        if position == 0:
            self._first_timestamp = batch.max_timestamp
        if self.bytes_since_index_entry > self.index_interval_bytes:
            self._add_index_entries(last_offset, position)
        self.bytes_since_index_entry += batch.size
        if not self._tail_positions:
            self._tail_start = batch.base_offset
        elif len(self._tail_positions) >= TAIL_BATCHES:
            self._shorten_tail()
        self._tail_last_offsets.append(last_offset)
        self._tail_positions.append(position)

    def _note_behind(self, batch: Batch, position: int, end: int) -> None:
        """Of a batch that does not follow at once, because a damaged one lies between, the index tells the first
        offset: the way to it by the headers is closed."""
        if position != end:
            self._add_index_entries(batch.base_offset, position)
        self._note(batch, position)

    def _add_index_entries(self, last_offset: int, position: int) -> None:
        self.offset_index.append(last_offset, position)
        self.time_index.maybe_append(self.max_timestamp, self._max_timestamp_offset)
        self.bytes_since_index_entry = 0
        self._indexes_saved = False
        limit = self.max_index_bytes
        self.index_is_full = self.offset_index.is_full(limit) or self.time_index.is_full(limit)

    def _shorten_tail(self) -> None:
        half = TAIL_BATCHES // 2
        self._tail_start = self._tail_last_offsets[half - 1] + 1
        del self._tail_last_offsets[:half]
        del self._tail_positions[:half]

    def _forget_tail(self, start: int) -> None:
        self._tail_start = start
        del self._tail_last_offsets[:]
        del self._tail_positions[:]

    def _drop_torn_bytes(self) -> None:
        """Cut what lies behind the last whole append: the bytes of a failed write, preallocated space."""
        self.file.truncate(self.size)
        self._has_torn_bytes = self._is_preallocated = False
        self._is_unsynced = True

    def _try_drop_torn_bytes(self) -> None:
        try:
            self._drop_torn_bytes()
        except StorageError:
            pass  # tried again before the next append, and by recovery

    # Read

    def position_of(self, offset: int) -> int | None:
        """Where the first batch that ends at or after `offset` starts."""
        found = self._find(offset)
        return None if found is None else found[0]

    def _find(self, offset: int) -> tuple[int, int] | None:
        """Position and size of the first batch that ends at or after `offset`."""
        positions = self._tail_positions
        if not positions or offset < self._tail_start:
            return find_batch(self.file, self.offset_index.lookup(offset), self.size, offset)
        number = bisect_left(self._tail_last_offsets, offset)
        if number == len(positions):
            return None
        position = positions[number]
        end = positions[number + 1] if number + 1 < len(positions) else self.size
        return position, end - position

    def read(self, offset: int, max_bytes: int, *, end_position: int, at_least_one: bool) -> FileSlice | None:
        """Bytes from the batch that holds `offset` on; None if there is none before `end_position`."""
        found = self._find(offset)
        if found is None or found[0] >= end_position:
            return None
        position, first = found
        size = end_position - position
        if size > max_bytes:
            if first > max_bytes and not at_least_one:
                return FileSlice(self.file, position, 0, offset)
            size = max(first, max_bytes)
        return FileSlice(self.file, position, size, offset)

    def read_next_offset(self, expected: int = 0) -> int:
        """The offset after the last one in the segment, found on disk; `expected` at the least, which it is known to
        have reached: what was used for a batch that is torn or damaged now is not used again."""
        if self.size == 0:
            return self.base_offset
        return max(self._read_next_offset(), expected)

    def _read_next_offset(self) -> int:
        start = self.offset_index.last_entry()[1]
        next_offset, end = self._find_end(start)
        if end == self.size:
            return next_offset
        if end == start > 0:  # the index leads to the torn batch itself: its offsets say nothing
            next_offset, end = self._find_end(0)
        logger.warning(
            "%s: the last %d bytes, from position %d on, are no whole batch; the log goes on at offset %d",
            self.path(names.LOG),
            self.size - end,
            end,
            next_offset,
        )
        self.size, self._has_torn_bytes = end, True
        self._rebuild_indexes()
        return next_offset

    def _find_end(self, position: int) -> tuple[int, int]:
        """The offset after the last whole batch from `position` on, and where that batch ends."""
        next_offset, has_damage = self.base_offset, False
        for at, batch in self._scan_headers(position):
            if at != position:
                self._tell_of_damage(position, at, next_offset, batch.base_offset)
                has_damage = True
            next_offset, position = batch.next_offset, at + batch.size
        if has_damage:
            self._rebuild_indexes()
        return next_offset, position

    def _scan_headers(self, position: int) -> Iterator[tuple[int, Batch]]:
        """(file position, header) of each whole batch, also of those behind a damaged header: that one may not hide
        them. A damaged one with nothing sound behind it raises."""
        next_offset = self.base_offset
        while True:
            damage: ApiError | None = None
            try:
                for at, batch in scan_headers(self.file, position, self.size):
                    next_offset, position = batch.next_offset, at + batch.size
                    yield at, batch
            except ApiError as error:
                damage = error
            behind = find_sound_batch(self.file, position + 1, self.size, next_offset)
            if behind is None:
                if damage is not None:
                    raise damage
                return
            position = behind

    def _tell_of_damage(self, position: int, end: int, first_offset: int, next_offset: int) -> None:
        logger.error(
            "%s: the batch header at position %d is damaged; offsets %d to %d, up to position %d, can't be read",
            self.path(names.LOG),
            position,
            first_offset,
            next_offset - 1,
            end,
        )

    # Change

    def recover(self, on_batch: Callable[[Batch], None], recovery_point: int = 0) -> int:
        """Check every batch, cut off what follows the last good one, rebuild the indexes.

        What is bad before the recovery point was written whole and has been damaged since: that is stepped over.
        Returns how many bytes were cut off.
        """
        self.reset_indexes()
        if self._transaction_index is not None or self.fs.exists(self.path(names.TRANSACTION_INDEX)):
            self.transaction_index.replace([])
        file_size = self.file.size()
        self._is_unsynced = True
        self.size, next_offset = 0, self.base_offset
        start: int | None = 0
        while start is not None:
            try:
                for position, batch in scan_batches(self.file, start, file_size):
                    self._check_recovered(batch, next_offset)
                    if position != self.size:
                        self._tell_of_damage(self.size, position, next_offset, batch.base_offset)
                    self._note_behind(batch, position, self.size)
                    on_batch(batch)
                    self.size, next_offset = position + batch.size, batch.next_offset
            except ApiError:
                pass  # what is not a valid batch ends the segment, or this part of it
            is_damaged = self.size < file_size and next_offset < recovery_point
            start = find_sound_batch(self.file, self.size + 1, file_size, next_offset) if is_damaged else None
        if self.size < file_size:
            self._drop_torn_bytes()
            self.file.sync()
        self.time_index.maybe_append(self.max_timestamp, self._max_timestamp_offset)
        return file_size - self.size

    def _check_recovered(self, batch: Batch, next_offset: int) -> None:
        in_order = batch.base_offset >= next_offset and self.can_hold(batch.last_offset)
        if not in_order or not batch.is_valid():
            raise ApiError(ErrorCode.CORRUPT_MESSAGE, f"{self.path(names.LOG)}: {batch} is corrupt")

    def truncate_to(self, offset: int) -> int:
        """Drop the batches that end at `offset` or after it; returns the offset that comes next.

        Synced at once: what was cut off must not come back between records that are written later.
        """
        position = self.position_of(offset)
        if position is None:
            return offset
        _, cut = next(scan_headers(self.file, position, self.size))
        offset = min(offset, cut.base_offset)
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        self.transaction_index.truncate_to(offset)
        self.size = position
        self._drop_torn_bytes()
        self.file.sync()
        self._indexes_saved = False
        self._forget_tail(offset)
        self._restore_timestamps()
        return offset

    def _restore_timestamps(self) -> None:
        """After a truncation: the newest timestamp that is left, and the distance to the last index entry."""
        self._first_timestamp = None
        self._max_timestamp, self._max_timestamp_offset = self.time_index.last_entry()
        start = self.offset_index.last_entry()[1]
        self.bytes_since_index_entry = self.size - start
        for _, batch in scan_headers(self.file, start, self.size):
            if batch.max_timestamp > self._max_timestamp and batch.record_count:
                self._max_timestamp, self._max_timestamp_offset = batch.max_timestamp, batch.last_offset

    def finish(self) -> None:
        """No more appends: the largest timestamp goes into the time index, spare space is given back."""
        if self._has_torn_bytes or self._is_preallocated:
            self._drop_torn_bytes()
        if self._offset_index is not None:
            entries = len(self.time_index)
            self.time_index.maybe_append(self.max_timestamp, self._max_timestamp_offset)
            self._indexes_saved &= len(self.time_index) == entries
        elif self.size == 0 and not self.fs.exists(self.path(names.OFFSET_INDEX)):
            self.reset_indexes()

    def drop_indexes(self) -> None:
        """Free the memory of indexes that are on disk."""
        if self._indexes_saved:
            self._offset_index = self._time_index = None

    def remove_files(self) -> None:
        self._file = None
        for kind in names.SEGMENT_SUFFIXES:
            self.fs.remove(self.path(kind))

    def rename_files(self, suffix: str) -> list[str]:
        """Give all files another suffix; returns the new paths."""
        old_paths = [self.path(kind) for kind in names.SEGMENT_SUFFIXES]
        self.suffix = suffix
        paths = []
        for kind, old_path in zip(names.SEGMENT_SUFFIXES, old_paths, strict=True):
            if self.fs.exists(old_path):
                self.fs.rename(old_path, self.path(kind))
                paths.append(self.path(kind))
        self._transaction_index = None
        return paths
