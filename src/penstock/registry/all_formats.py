"""The formats by schema type. Each is imported when it is used first: a registry of Avro needs none of the others."""

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from penstock.registry.formats.schema_format import ParsedSchema, SchemaFormat


class _Format:
    def __init__(self, name: str) -> None:
        self._name = name
        self._module: SchemaFormat | None = None

    def parse(self, text: str, references: Mapping[str, str], *, is_new: bool = True) -> ParsedSchema:
        if self._module is None:
            self._module = cast(SchemaFormat, import_module(f"penstock.registry.formats.{self._name}"))
        return self._module.parse(text, references, is_new=is_new)


FORMATS: dict[str, SchemaFormat] = {
    "AVRO": _Format("avro"),
    "JSON": _Format("json_schema"),
    "PROTOBUF": _Format("protobuf"),
}
