"""What steps of a topology are configured with: serdes, names, stores, windows' results held back.

Each is a frozen value with keywords for what Kafka Streams sets with `with...` methods. A serde is a name ("string",
"json", "long", "bytes" ...), a class whose JSON it stands for, a serializer and deserializer as a pair, or a `Serde`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from penstock.errors import ConfigError
from penstock.pipeline.formats.serdes import SerdeSpec
from penstock.pipeline.plan.nodes import Partitioner, TimestampExtractor


@dataclass(frozen=True)
class Consumed:
    """How a topic is read.

    >>> from penstock.streams import Consumed
    >>> Consumed("string", "json").value_serde
    'json'
    """

    key_serde: SerdeSpec = None
    value_serde: SerdeSpec = None
    timestamp_extractor: TimestampExtractor | None = None
    offset_reset: Literal["earliest", "latest", "none"] | None = None
    name: str | None = None


@dataclass(frozen=True)
class Produced:
    """How a topic is written."""

    key_serde: SerdeSpec = None
    value_serde: SerdeSpec = None
    partitioner: Partitioner | None = None
    name: str | None = None


@dataclass(frozen=True)
class Materialized:
    """The store of a table: by its name, programs can ask it for rows."""

    store_name: str | None = None
    key_serde: SerdeSpec = None
    value_serde: SerdeSpec = None
    retention_ms: int | None = None
    logging_enabled: bool = True


@dataclass(frozen=True)
class Grouped:
    """The name is that of the repartition topic, if there must be one."""

    name: str | None = None
    key_serde: SerdeSpec = None
    value_serde: SerdeSpec = None


@dataclass(frozen=True)
class Repartitioned:
    name: str | None = None
    key_serde: SerdeSpec = None
    value_serde: SerdeSpec = None
    number_of_partitions: int | None = None
    partitioner: Partitioner | None = None


@dataclass(frozen=True)
class Joined:
    """Of a stream with a table."""

    key_serde: SerdeSpec = None
    value_serde: SerdeSpec = None
    name: str | None = None


@dataclass(frozen=True)
class StreamJoined:
    """Of two streams."""

    key_serde: SerdeSpec = None
    value_serde: SerdeSpec = None
    other_value_serde: SerdeSpec = None
    name: str | None = None
    store_name: str | None = None
    logging_enabled: bool = True


@dataclass(frozen=True)
class TableJoined:
    """Of two tables by a foreign key."""

    name: str | None = None


@dataclass(frozen=True)
class Branched:
    """The name of a branch, and what becomes of its stream."""

    name: str | None = None
    function: Callable[[Any], Any] | None = None
    consumer: Callable[[Any], object] | None = None


@dataclass(frozen=True)
class BufferConfig:
    """How much is held back, and what happens when that is too much.

    >>> from penstock.streams import BufferConfig
    >>> BufferConfig.of_max_records(1_000).emit_early_when_full().max_records
    1000
    """

    max_records: int | None = None
    max_bytes: int | None = None
    emits_early: bool = False
    logging_enabled: bool = True

    @classmethod
    def unbounded(cls) -> "BufferConfig":
        return cls()

    @classmethod
    def of_max_records(cls, max_records: int) -> "BufferConfig":
        return cls(max_records=max_records, emits_early=True)

    @classmethod
    def of_max_bytes(cls, max_bytes: int) -> "BufferConfig":
        return cls(max_bytes=max_bytes, emits_early=True)

    def with_max_records(self, max_records: int) -> "BufferConfig":
        return replace(self, max_records=max_records)

    def with_max_bytes(self, max_bytes: int) -> "BufferConfig":
        return replace(self, max_bytes=max_bytes)

    def with_no_bound(self) -> "BufferConfig":
        return replace(self, max_records=None, max_bytes=None, emits_early=False)

    def shut_down_when_full(self) -> "BufferConfig":
        return replace(self, emits_early=False)

    def emit_early_when_full(self) -> "BufferConfig":
        return replace(self, emits_early=True)


@dataclass(frozen=True)
class Suppressed:
    """Which changes of a table are held back: all until a window closes, or those that others replace in time.

    >>> from penstock.streams import BufferConfig, Suppressed
    >>> Suppressed.until_window_closes(BufferConfig.unbounded()).wait_ms
    >>> Suppressed.until_time_limit(5_000, BufferConfig.of_max_records(100)).wait_ms
    5000
    """

    wait_ms: int | None
    """None: until the window closes."""
    buffer: BufferConfig
    name: str | None = None

    @classmethod
    def until_window_closes(cls, buffer: BufferConfig, name: str | None = None) -> "Suppressed":
        if buffer.emits_early:
            raise ConfigError(
                "a buffer for final results: got one that emits early; takes one that is unbounded or shuts down"
            )
        return cls(None, buffer, name)

    @classmethod
    def until_time_limit(cls, wait_ms: int, buffer: BufferConfig, name: str | None = None) -> "Suppressed":
        return cls(wait_ms, buffer, name)


@dataclass(frozen=True)
class EmitStrategy:
    """Whether a windowed aggregate comes out with each update, or once, when its window has closed."""

    on_close: bool

    @classmethod
    def on_window_update(cls) -> "EmitStrategy":
        return cls(on_close=False)

    @classmethod
    def on_window_close(cls) -> "EmitStrategy":
        return cls(on_close=True)
