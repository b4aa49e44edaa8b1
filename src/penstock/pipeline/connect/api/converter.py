"""Converters: bytes in Kafka to Connect's values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from penstock.pipeline.connect.api.config_def import ConfigDef
from penstock.pipeline.connect.data import Schema

KafkaHeaders = list[tuple[str, bytes | None]]


class SchemaAndValue(NamedTuple):
    schema: Schema | None
    value: Any


NOTHING = SchemaAndValue(None, None)


class Converter:
    """`headers` are the record's own, for converters that keep a schema's id there."""

    config_def: ClassVar[ConfigDef] = ConfigDef()
    version: ClassVar[str] = "1.0.0"

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
