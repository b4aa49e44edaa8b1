"""Records between a connector and Kafka. A transform makes a new one with `changed`; nothing changes in place.

They are made per record, millions of them: plain slots, positional, nothing computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from penstock.pipeline.connect.data.headers import Headers
from penstock.pipeline.connect.data.schema import Schema


class ConnectRecord:
    """`timestamp` is in milliseconds. `partition` is None where Kafka's partitioner is to choose."""

    __slots__ = ("headers", "key", "key_schema", "partition", "timestamp", "topic", "value", "value_schema")

    topic: str
    partition: int | None
    key_schema: Schema | None
    key: Any
    value_schema: Schema | None
    value: Any
    timestamp: int | None
    headers: Headers
    _names: ClassVar[tuple[str, ...]] = __slots__
    """Of all that a record has."""

    def __init_subclass__(cls) -> None:
        cls._names = tuple(name for each in cls.__mro__ for name in getattr(each, "__slots__", ()))

    def changed(self, **changes: Any) -> Self:
        """A record like this one but for `changes`; its headers are its own."""
        new = self.__class__.__new__(self.__class__)
        for name in self._names:
            setattr(new, name, getattr(self, name))
        if "headers" not in changes:
            new.headers = self.headers.copy()
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in self._names
        )

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._names)
        return f"{type(self).__name__}({inner})"


class SourceRecord(ConnectRecord):
    """What a source read: `source_offset` is where to go on in `source_partition`, both plain JSON objects."""

    __slots__ = ("source_offset", "source_partition")

    def __init__(
        self,
        source_partition: Mapping[str, Any] | None,
        source_offset: Mapping[str, Any] | None,
        topic: str,
        value: Any = None,
        value_schema: Schema | None = None,
        key: Any = None,
        key_schema: Schema | None = None,
        partition: int | None = None,
        timestamp: int | None = None,
        headers: Headers | None = None,
    ) -> None:
        self.source_partition = source_partition
        self.source_offset = source_offset
        self.topic = topic
        self.partition = partition
        self.key_schema = key_schema
        self.key = key
        self.value_schema = value_schema
        self.value = value
        self.timestamp = timestamp
        self.headers = Headers() if headers is None else headers


class SinkRecord(ConnectRecord):
    """What came from Kafka. The `original_` names say where from, whatever transforms did to topic and partition."""

    __slots__ = ("offset", "original_offset", "original_partition", "original_topic", "timestamp_type")

    def __init__(
        self,
        topic: str,
        partition: int,
        offset: int,
        value: Any = None,
        value_schema: Schema | None = None,
        key: Any = None,
        key_schema: Schema | None = None,
        timestamp: int | None = None,
        timestamp_type: str = "CreateTime",
        headers: Headers | None = None,
    ) -> None:
        self.topic = self.original_topic = topic
        self.partition: int = partition
        self.original_partition = partition
        self.offset = self.original_offset = offset
        self.key_schema = key_schema
        self.key = key
        self.value_schema = value_schema
        self.value = value
        self.timestamp = timestamp
        self.timestamp_type = timestamp_type
        self.headers = Headers() if headers is None else headers
