"""The records of MirrorMaker's own topics, byte for byte as MirrorMaker 2 writes them: Kafka's old struct types, with
16 bits for a text's length. Values of checkpoints and heartbeats begin with a version, which is 0."""

from __future__ import annotations

import struct
from typing import Any, Final, NamedTuple, Self

from penstock.pipeline.connect.errors import DataError
from penstock.types import TopicPartition

VERSION: Final = 0
_LENGTH: Final = struct.Struct(">h")
_PARTITION: Final = struct.Struct(">i")
_SYNC_VALUE: Final = struct.Struct(">qq")
_CHECKPOINT_START: Final = struct.Struct(">hqq")
_HEARTBEAT_VALUE: Final = struct.Struct(">hq")


def _text(value: str) -> bytes:
    data = value.encode()
    return _LENGTH.pack(len(data)) + data


class _Reader:
    """Takes one field after the other; DataError if they are not there."""

    def __init__(self, data: bytes | None, what: str) -> None:
        self._data, self._what, self._at = data or b"", what, 0

    def text(self) -> str:
        (length,) = self.fields(_LENGTH)
        data = self._data[self._at : self._at + length]
        if length < 0 or len(data) < length:
            raise DataError(f"{self._what}: a text of {length} bytes goes beyond the record's end")
        self._at += length
        return data.decode(errors="replace")

    def fields(self, layout: struct.Struct) -> tuple[Any, ...]:
        try:
            found = layout.unpack_from(self._data, self._at)
        except struct.error:
            raise DataError(
                f"{self._what}: {len(self._data)} bytes are fewer than the record has to have"
            ) from None
        self._at += layout.size
        return found

    def versioned(self, layout: struct.Struct) -> tuple[Any, ...]:
        version, *others = self.fields(layout)
        if version != VERSION:
            raise DataError(f"{self._what}: has version {version}, only {VERSION} is known")
        return tuple(others)


class OffsetSync(NamedTuple):
    """The record at `upstream_offset` of a partition of the source is at `downstream_offset` of its copy."""

    partition: TopicPartition
    upstream_offset: int
    downstream_offset: int

    def encode(self) -> tuple[bytes, bytes]:
        key = _text(self.partition.topic) + _PARTITION.pack(self.partition.partition)
        return key, _SYNC_VALUE.pack(self.upstream_offset, self.downstream_offset)

    @classmethod
    def decode(cls, key: bytes | None, value: bytes | None) -> Self:
        reader = _Reader(key, "key of an offset sync")
        partition = TopicPartition(reader.text(), *reader.fields(_PARTITION))
        return cls(partition, *_Reader(value, "offset sync").fields(_SYNC_VALUE))


class Checkpoint(NamedTuple):
    """A group that is at `upstream_offset` in the source goes on at `downstream_offset` in `partition`, the copy."""

    group: str
    partition: TopicPartition
    upstream_offset: int
    downstream_offset: int
    metadata: str

    def encode(self) -> tuple[bytes, bytes]:
        key = _text(self.group) + _text(self.partition.topic) + _PARTITION.pack(self.partition.partition)
        start = _CHECKPOINT_START.pack(VERSION, self.upstream_offset, self.downstream_offset)
        return key, start + _text(self.metadata)

    @classmethod
    def decode(cls, key: bytes | None, value: bytes | None) -> Self:
        names, rest = _Reader(key, "key of a checkpoint"), _Reader(value, "checkpoint")
        group = names.text()
        partition = TopicPartition(names.text(), *names.fields(_PARTITION))
        upstream_offset, downstream_offset = rest.versioned(_CHECKPOINT_START)
        return cls(group, partition, upstream_offset, downstream_offset, rest.text())

    @property
    def source_partition(self) -> dict[str, Any]:
        return {"group": self.group, "topic": self.partition.topic, "partition": self.partition.partition}


class Heartbeat(NamedTuple):
    source: str
    target: str
    timestamp: int

    def encode(self) -> tuple[bytes, bytes]:
        return _text(self.source) + _text(self.target), _HEARTBEAT_VALUE.pack(VERSION, self.timestamp)

    @classmethod
    def decode(cls, key: bytes | None, value: bytes | None) -> Self:
        names = _Reader(key, "key of a heartbeat")
        return cls(names.text(), names.text(), *_Reader(value, "heartbeat").versioned(_HEARTBEAT_VALUE))

    @property
    def source_partition(self) -> dict[str, Any]:
        return {"sourceClusterAlias": self.source, "targetClusterAlias": self.target}
