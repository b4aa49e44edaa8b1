"""Converters: bytes in Kafka to Connect's values, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from penstock.pipeline.connect.api.config_def import ConfigDef
from penstock.pipeline.connect.data import Schema

if TYPE_CHECKING:
    from pyarrow import Table

KafkaHeaders = list[tuple[str, bytes | None]]


class SchemaAndValue(NamedTuple):
    schema: Schema | None
    value: Any


NOTHING = SchemaAndValue(None, None)


class Converter:
    """`headers` are the record's own, for converters that keep a schema's id there."""

    config_def: ClassVar[ConfigDef] = ConfigDef()
    version: ClassVar[str] = "1.0.0"
    adds_headers: bool = False
    """Whether `from_connect` adds to the `headers` that it is given; else it may be called without."""
    takes_any_bytes: bool = False
    """Whether there are no bytes that `to_connect` would refuse."""

    def configure(self, configs: Mapping[str, Any], is_key: bool) -> None:
        pass

    def from_connect(
        self, topic: str, schema: Schema | None, value: Any, headers: KafkaHeaders | None = None
    ) -> bytes | None:
        raise NotImplementedError

    def to_connect(
        self, topic: str, data: bytes | None, headers: KafkaHeaders | None = None
    ) -> SchemaAndValue:
        raise NotImplementedError

    def from_connect_batch(
        self, topic: str, schema: Schema | None, values: Sequence[Any]
    ) -> Sequence[bytes | str | None] | None:
        """As `from_connect` of each, where one loop over all is faster; else None. Text stands for its bytes in
        UTF-8."""
        return None

    def to_table(self, topic: str, data: Sequence[bytes | None]) -> tuple[Schema | None, Table] | None:
        """As `to_connect` of each, where Arrow can do it all at once: a row for each, as `SinkColumns` have them.
        None, and nothing else, where it can't: also if any of them is no row, or not what it should be."""
        return None

    def close(self) -> None:
        pass


class HeaderConverter:
    config_def: ClassVar[ConfigDef] = ConfigDef()
    version: ClassVar[str] = "1.0.0"

    def configure(self, configs: Mapping[str, Any]) -> None:
        pass

    def from_connect_header(self, topic: str, key: str, schema: Schema | None, value: Any) -> bytes | None:
        raise NotImplementedError

    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> SchemaAndValue:
        raise NotImplementedError

    def close(self) -> None:
        pass
