"""One partition's records on their way to files.

Records wait in memory, already in the shape of the file, until a file's worth is there or the first of them is old
enough; then the chunk becomes files, one for each folder and schema that its records have (see `commits`). A record
that is put again, after an error or because its position was not committed, is known by its offset: it waits already,
or lies in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.pipeline.connect.connectors.lake.commits import DataFile, PartitionCommits
from penstock.pipeline.connect.connectors.lake.formats import format_named
from penstock.pipeline.connect.connectors.lake.partitioners import folder_of
from penstock.pipeline.connect.data import Schema, SinkRecord
from penstock.pipeline.connect.errors import ConnectError, DataError

Refuse = Callable[[SinkRecord, ConnectError], None]
"""What is done with a record that cannot be written: raises the error, or hands it on."""


@dataclass(slots=True)
class _Part:
    """What goes to one file."""

    first: int
    last: int
    pieces: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class _Chunk:
    start: int
    end: int
    first_timestamp: int
    count: int = 0
    parts: dict[tuple[str, Schema | None], _Part] = field(default_factory=dict)


class PartitionFiles:
    def __init__(
        self, commits: PartitionCommits, settings: Mapping[str, Any], name: str, refuse: Refuse
    ) -> None:
        self._commits, self._name, self._refuse = commits, name, refuse
        found = format_named(settings["format.class"])
        assert found is not None
        self._format = found
        self._folder_of = folder_of(settings)
        self._topics_dir = settings["topics.dir"].strip("/")
        self._flush_size: int = settings["flush.size"]
        self._rotate_ms = settings["rotate.interval.ms"]
        self._codec = settings["parquet.codec"]
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
        seen = self._chunk.end if self._chunk is not None else self._commits.next_offset or 0
        new = [each for each in records if each.original_offset >= seen]
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
        self._commits.recover()
        self._is_sure = True
        chunk, next_offset = self._chunk, self._commits.next_offset
        if chunk is not None and next_offset is not None and next_offset >= chunk.end:
            self._chunk = None  # it got through

    def _add(self, records: Sequence[SinkRecord]) -> None:
        if self._chunk is None:
            start = records[0].original_offset
            self._chunk = _Chunk(start, start, records[0].timestamp or 0)
        parts: dict[tuple[str, Schema | None], list[SinkRecord]] = {}
        for record in records:
            folder = self._folder(record)
            if folder is not None:
                parts.setdefault((folder, record.value_schema), []).append(record)
        for (folder, schema), of_part in parts.items():
            self._add_piece(folder, schema, of_part)
        self._chunk.end = records[-1].original_offset + 1
        self._chunk.count += len(records)

    def _folder(self, record: SinkRecord) -> str | None:
        if record.value is None:
            if not self._writes_no_tombstones:
                why = "a tombstone; behavior.on.null.values=ignore leaves them out"
                self._refuse(record, ConnectError(f"{_where(record)}: {why}"))
            return None
        try:
            return "/".join(filter(None, (self._topics_dir, record.topic, self._folder_of(record))))
        except ConnectError as error:
            self._refuse(record, error)
            return None

    def _add_piece(self, folder: str, schema: Schema | None, records: Sequence[SinkRecord]) -> None:
        """Without those that do not fit: halves of what does not fit together, down to the record."""
        assert self._chunk is not None
        try:
            piece = self._format.piece(schema, [each.value for each in records])
        except DataError as error:
            if len(records) == 1:
                self._refuse(records[0], DataError(f"{_where(records[0])}: {error}"))
                return
            middle = len(records) // 2
            self._add_piece(folder, schema, records[:middle])
            self._add_piece(folder, schema, records[middle:])
            return
        first, last = records[0].original_offset, records[-1].original_offset
        part = self._chunk.parts.setdefault((folder, schema), _Part(first, last))
        part.last = last
        part.pieces.append(piece)

    def _write_if(self, is_due: Callable[[_Chunk], bool]) -> None:
        chunk = self._chunk
        if chunk is None or not is_due(chunk):
            return
        self._make_sure()
        if self._chunk is not None and chunk.parts:
            files = [self._data_file(folder, part) for (folder, _), part in chunk.parts.items()]
            self._is_sure = False
            self._commits.commit(chunk.start, chunk.end, files)
            self._is_sure = True
        self._chunk = None

    def _data_file(self, folder: str, part: _Part) -> DataFile:
        try:
            content = self._format.file(part.pieces, self._codec)
        except DataError as error:
            raise DataError(f"{self._name}, offsets {part.first} to {part.last}: {error}") from error
        name = f"{folder}/{self._name}+{part.first:010}+{part.last:010}.{self._format.extension}"
        return DataFile(name, content)


def _where(record: SinkRecord) -> str:
    return f"{record.original_topic}-{record.original_partition} at offset {record.original_offset}"
