"""SimpleHeaderConverter: headers as text whose form says the type."""

from __future__ import annotations

from typing import Any, ClassVar

from penstock.pipeline.connect.api.converter import NOTHING, HeaderConverter, SchemaAndValue
from penstock.pipeline.connect.data import Schema
from penstock.pipeline.connect.data.schema import BYTES
from penstock.pipeline.connect.data.values import parse, to_text
from penstock.pipeline.connect.transforms.base import KAFKA_VERSION


class SimpleHeaderConverter(HeaderConverter):
    version: ClassVar[str] = KAFKA_VERSION
    overview: ClassVar[str] = (
        "Text whose form says the type: numbers, true, dates, lists, maps, or just text."
    )

    def from_connect_header(self, topic: str, key: str, schema: Schema | None, value: Any) -> bytes | None:
        text = to_text(value, schema)
        return None if text is None else text.encode("utf-8", "replace")

    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> SchemaAndValue:
        if data is None:
            return NOTHING
        try:
            return SchemaAndValue(*parse(data.decode("utf-8", "replace")))
        except RecursionError:
            return SchemaAndValue(BYTES, data)
