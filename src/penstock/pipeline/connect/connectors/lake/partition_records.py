"""One partition's records on their way to the lake.

Records wait in memory, already in the shape that they will have there, until a chunk's worth is there or the first of
them is old enough; then the chunk is committed, as files (`file_chunks`) or to a Delta table (`delta_chunks`). A record
that is put again, after an error or because its position was not committed, is known by its offset: it waits already,
or was committed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from penstock.pipeline.connect.data import SinkColumns, SinkRecord
from penstock.pipeline.connect.errors import ConnectError, DataError

Refuse = Callable[[SinkRecord, ConnectError], None]
"""What is done with a record that cannot be written: raises the error, or hands it on."""


class Content(Protocol):
    """What a chunk has."""

    @property
    def is_empty(self) -> bool: ...

    def add_columns(self, columns: SinkColumns) -> bool:
        """False if they are to be added as records."""

    def part_of(self, record: SinkRecord) -> Hashable:
        """What must be added together; ConnectError if the record belongs nowhere."""

    def add(self, part: Any, records: Sequence[SinkRecord]) -> None:
        """Those of one part; all of them, or none and a DataError."""


class Store(Protocol):
    next_offset: int | None
    """The first offset that is not committed; None before the first chunk."""

    def recover(self) -> None:
        """At the beginning, and when a commit did not get through: ends what was begun, and finds what is true."""

    def content(self) -> Content:
        """An empty one."""

    def commit(self, start: int, end: int, content: Any) -> None:
        """The records from `start` up to `end`, which is not in it: all or nothing."""


@dataclass(slots=True)
class _Chunk:
    start: int
    end: int
    first_timestamp: int
    content: Content
    count: int = 0


class PartitionRecords:
    def __init__(self, store: Store, settings: Mapping[str, Any], refuse: Refuse) -> None:
        self._store, self._refuse = store, refuse
        self._flush_size: int = settings["flush.size"]
        self._rotate_ms = settings["rotate.interval.ms"]
        self._writes_no_tombstones = settings["behavior.on.null.values"] == "ignore"
        self._is_sure = False
        self._chunk: _Chunk | None = None

    @property
    def first_waiting(self) -> int | None:
        """The offset behind which nothing is safe; None if nothing waits."""
        return None if self._chunk is None else self._chunk.start

    def put(self, records: Sequence[SinkRecord]) -> None:
        self._make_sure()
        self._write_if(self._is_full)
        seen = self._chunk.end if self._chunk is not None else self._store.next_offset or 0
        new: Sequence[SinkRecord] = (
            records[bisect_left(records.offsets, seen) :]
            if isinstance(records, SinkColumns)
            else [each for each in records if each.original_offset >= seen]
        )
        while new:
            room = self._flush_size - (self._chunk.count if self._chunk is not None else 0)
            self._add(new[:room])
            new = new[room:]
            self._write_if(self._is_full)

    def write_old(self, now_ms: int) -> None:
        """A chunk that is old enough. One whose time is still to come is too: it would wait for ever."""

        def is_old(chunk: _Chunk) -> bool:
            return not 0 <= now_ms - chunk.first_timestamp < self._rotate_ms or self._is_full(chunk)

        self._write_if(is_old)

    def _is_full(self, chunk: _Chunk) -> bool:
        return chunk.count >= self._flush_size

    def _make_sure(self) -> None:
        if self._is_sure:
            return
        self._store.recover()
        self._is_sure = True
        chunk, next_offset = self._chunk, self._store.next_offset
        if chunk is not None and next_offset is not None and next_offset >= chunk.end:
            self._chunk = None  # it got through

    def _add(self, records: Sequence[SinkRecord]) -> None:
        if self._chunk is None:
            start = records[0].original_offset
            self._chunk = _Chunk(start, start, records[0].timestamp or 0, self._store.content())
        last = records[-1].original_offset
        content = self._chunk.content
        if not isinstance(records, SinkColumns) or not content.add_columns(records):
            self._add_records(content, records)
        self._chunk.end = last + 1
        self._chunk.count += len(records)

    def _add_records(self, content: Content, records: Sequence[SinkRecord]) -> None:
        parts: dict[Hashable, list[SinkRecord]] = {}
        for record in records:
            if self._is_tombstone(record):
                continue
            try:
                part = content.part_of(record)
            except ConnectError as error:
                self._refuse(record, error)
                continue
            parts.setdefault(part, []).append(record)
        for part, of_part in parts.items():
            self._add_part(content, part, of_part)

    def _is_tombstone(self, record: SinkRecord) -> bool:
        if record.value is not None:
            return False
        if not self._writes_no_tombstones:
            why = "a tombstone; behavior.on.null.values=ignore leaves them out"
            self._refuse(record, ConnectError(f"{_where(record)}: {why}"))
        return True

    def _add_part(self, content: Content, part: Hashable, records: Sequence[SinkRecord]) -> None:
        """Without those that do not fit: halves of what does not fit together, down to the record."""
        try:
            content.add(part, records)
        except DataError as error:
            if len(records) == 1:
                self._refuse(records[0], DataError(f"{_where(records[0])}: {error}"))
                return
            middle = len(records) // 2
            self._add_part(content, part, records[:middle])
            self._add_part(content, part, records[middle:])

    def _write_if(self, is_due: Callable[[_Chunk], bool]) -> None:
        chunk = self._chunk
        if chunk is None or not is_due(chunk):
            return
        self._make_sure()
        if self._chunk is not None and not chunk.content.is_empty:
            self._is_sure = False
            self._store.commit(chunk.start, chunk.end, chunk.content)
            self._is_sure = True
        self._chunk = None


def _where(record: SinkRecord) -> str:
    return f"{record.original_topic}-{record.original_partition} at offset {record.original_offset}"
