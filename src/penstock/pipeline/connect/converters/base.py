"""What converters share: most convert headers just as they convert keys and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance, one_of
from penstock.pipeline.connect.api.converter import Converter, HeaderConverter, SchemaAndValue
from penstock.pipeline.connect.data import Schema
from penstock.pipeline.connect.transforms.base import KAFKA_VERSION

CONVERTER_TYPE = "converter.type"


def converter_config_def() -> ConfigDef:
    return ConfigDef().define(
        CONVERTER_TYPE,
        ConfigType.STRING,
        validator=one_of("key", "value", "header"),
        importance=Importance.LOW,
        doc="What the converter is used for; the worker says so.",
    )


class KafkaConverter(Converter, HeaderConverter):
    """One of those that come with Kafka, for keys, values and headers. `overview` is a line for lists and pages."""

    config_def = converter_config_def()
    version: ClassVar[str] = KAFKA_VERSION
    overview: ClassVar[str] = ""

    def configure(self, configs: Mapping[str, Any], is_key: bool = False) -> None:
        self.settings = self.config_def.parse({CONVERTER_TYPE: "key" if is_key else "value", **configs})
        self.on_configured()

    def on_configured(self) -> None:
        """`settings` are there."""

    def from_connect_header(self, topic: str, key: str, schema: Schema | None, value: Any) -> bytes | None:
        return self.from_connect(topic, schema, value)

    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> SchemaAndValue:
        return self.to_connect(topic, data)


def are_in_utf_8(values: Sequence[Any]) -> bool:
    """Whether all are text, and such that UTF-8 has it: that it has not is half a surrogate pair."""
    if set(map(type, values)) != {str}:
        return False
    text = "".join(values)
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False
