"""What the sink's task writes to: files, or Delta tables.

A *stream* is what has a position of its own. Files have one for each partition that is read. A Delta table can only
tell its own, so where a transform sends a partition's records to several topics, each of them is a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from penstock.pipeline.connect.connectors.lake.column_folders import folders_of_columns
from penstock.pipeline.connect.connectors.lake.commits import PartitionCommits
from penstock.pipeline.connect.connectors.lake.delta_chunks import DeltaStore
from penstock.pipeline.connect.connectors.lake.delta_tables import delta_place_of
from penstock.pipeline.connect.connectors.lake.file_chunks import FileStore
from penstock.pipeline.connect.connectors.lake.file_systems import files_of
from penstock.pipeline.connect.connectors.lake.formats import is_delta
from penstock.pipeline.connect.connectors.lake.partition_records import Store
from penstock.pipeline.connect.data import SinkColumns, SinkRecord

TopicPartition = tuple[str, int]
Stream = tuple[str, int, str]
"""The partition that is read, and the topic that the records are of when they are written."""


class Lake(Protocol):
    takes_columns: bool

    def streams(self, records: Sequence[SinkRecord]) -> Iterator[tuple[Stream, Sequence[SinkRecord]]]: ...

    def store(self, stream: Stream) -> Store: ...

    def go_on_at(self, partition: TopicPartition, offset: int | None) -> None: ...


def lake_of(settings: Mapping[str, Any], connector: str) -> Lake:
    kind = DeltaLake if is_delta(settings["format.class"]) else FileLake
    return kind(settings, connector)


class FileLake:
    def __init__(self, settings: Mapping[str, Any], connector: str) -> None:
        self._settings, self._connector = settings, connector
        self._files = files_of(settings)
        self.takes_columns = folders_of_columns(settings) is not None

    def streams(self, records: Sequence[SinkRecord]) -> Iterator[tuple[Stream, Sequence[SinkRecord]]]:
        return _by_stream(records, lambda each: each.original_topic)

    def store(self, stream: Stream) -> FileStore:
        topic, partition, _ = stream
        commits = PartitionCommits(self._files, self._connector, topic, partition)
        return FileStore(commits, self._settings, f"{topic}+{partition}")

    def go_on_at(self, partition: TopicPartition, offset: int | None) -> None:
        PartitionCommits(self._files, self._connector, *partition).go_on_at(offset)


class DeltaLake:
    takes_columns = True

    def __init__(self, settings: Mapping[str, Any], connector: str) -> None:
        self._settings, self._connector = settings, connector
        self._place = delta_place_of(settings)

    def streams(self, records: Sequence[SinkRecord]) -> Iterator[tuple[Stream, Sequence[SinkRecord]]]:
        return _by_stream(records, lambda each: each.topic)

    def store(self, stream: Stream) -> DeltaStore:
        topic, partition, table = stream
        application = f"penstock/{self._connector}/{topic}-{partition}"
        return DeltaStore(self._place, table, application, self._settings)

    def go_on_at(self, partition: TopicPartition, offset: int | None) -> None:
        """In every table: nothing says which of them the partition's records went to."""
        for table in files_of(self._settings).folders(self._settings["topics.dir"].strip("/")):
            self.store((*partition, table)).go_on_at(offset)


def _by_stream(
    records: Sequence[SinkRecord], topic_of: Callable[[SinkRecord], str]
) -> Iterator[tuple[Stream, Sequence[SinkRecord]]]:
    if isinstance(records, SinkColumns):
        for partition, run in records.runs():
            yield (records.topic, partition, records.topic), run
        return
    found: dict[Stream, list[SinkRecord]] = {}
    for each in records:
        stream = each.original_topic, each.original_partition, topic_of(each)
        found.setdefault(stream, []).append(each)
    yield from found.items()
