"""A chunk of records as files: one for each folder and schema that its records have (see `commits`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.pipeline.connect.connectors.lake.column_folders import divided, folders_of_columns
from penstock.pipeline.connect.connectors.lake.commits import DataFile, PartitionCommits
from penstock.pipeline.connect.connectors.lake.formats import Format, format_named
from penstock.pipeline.connect.connectors.lake.partitioners import folder_of
from penstock.pipeline.connect.data import Schema, SinkColumns, SinkRecord
from penstock.pipeline.connect.errors import DataError

FilePart = tuple[str, Schema | None]
"""A folder and the values' schema."""


@dataclass(slots=True)
class _File:
    """What goes to one file."""

    first: int
    last: int
    pieces: list[Any] = field(default_factory=list)


class _Layout:
    """Which records go where."""

    def __init__(self, settings: Mapping[str, Any], found: Format) -> None:
        self.format = found
        self.folders_of = folders_of_columns(settings)
        self._folder_of = folder_of(settings)
        self._topics_dir = settings["topics.dir"].strip("/")

    def folder(self, record: SinkRecord) -> str:
        return self.below(record.topic, self._folder_of(record))

    def below(self, topic: str, name: str) -> str:
        return "/".join(filter(None, (self._topics_dir, topic, name)))


class FileContent:
    def __init__(self, layout: _Layout) -> None:
        self._layout = layout
        self.files: dict[FilePart, _File] = {}

    @property
    def is_empty(self) -> bool:
        return not self.files

    def add_columns(self, columns: SinkColumns) -> bool:
        folders_of = self._layout.folders_of
        folders = None if folders_of is None else folders_of(columns)
        if folders is None:
            return False
        for name, table, first, last in divided(columns, folders):
            self._add((self._layout.below(columns.topic, name), columns.schema), table, first, last)
        return True

    def part_of(self, record: SinkRecord) -> FilePart:
        return self._layout.folder(record), record.value_schema

    def add(self, part: FilePart, records: Sequence[SinkRecord]) -> None:
        piece = self._layout.format.piece(part[1], [each.value for each in records])
        self._add(part, piece, records[0].original_offset, records[-1].original_offset)

    def _add(self, part: FilePart, piece: Any, first: int, last: int) -> None:
        file = self.files.setdefault(part, _File(first, last))
        file.last = last
        file.pieces.append(piece)


class FileStore:
    """Of one partition of a topic."""

    def __init__(self, commits: PartitionCommits, settings: Mapping[str, Any], name: str) -> None:
        self._commits, self._name = commits, name
        found = format_named(settings["format.class"])
        assert found is not None
        self._format, self._codec = found, settings["parquet.codec"]
        self._layout = _Layout(settings, found)
        self.next_offset: int | None = None

    def recover(self) -> None:
        self._commits.recover()
        self.next_offset = self._commits.next_offset

    def content(self) -> FileContent:
        return FileContent(self._layout)

    def commit(self, start: int, end: int, content: FileContent) -> None:
        files = [self._data_file(folder, file) for (folder, _), file in content.files.items()]
        self._commits.commit(start, end, files)
        self.next_offset = self._commits.next_offset

    def _data_file(self, folder: str, file: _File) -> DataFile:
        try:
            content = self._format.file(file.pieces, self._codec)
        except DataError as error:
            raise DataError(f"{self._name}, offsets {file.first} to {file.last}: {error}") from error
        name = f"{folder}/{self._name}+{file.first:010}+{file.last:010}.{self._format.extension}"
        return DataFile(name, content)
