"""Names and options that writing and reading Avro share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import quote_plus

from penstock.pipeline.connect.data import Schema, Type

AvroJson: TypeAlias = Any
"""A text, a list or a dict: a name, a union, a definition."""

NAMESPACE: Final = "io.confluent.connect.avro"
UNION: Final = f"{NAMESPACE}.Union"
ENUM: Final = f"{NAMESPACE}.Enum"
RECORD_DOC: Final = f"{NAMESPACE}.record.doc"
FIELD_DOC: Final = f"{NAMESPACE}.field.doc."
MAP_ENTRY: Final = "MapEntry"
PRECISION: Final = "connect.decimal.precision"
FIXED_SIZE: Final = "connect.fixed.size"
DEFAULT_PRECISION: Final = 64

PRIMITIVES: Final = {
    Type.INT8: "int",
    Type.INT16: "int",
    Type.INT32: "int",
    Type.INT64: "long",
    Type.FLOAT32: "float",
    Type.FLOAT64: "double",
    Type.BOOLEAN: "boolean",
    Type.STRING: "string",
    Type.BYTES: "bytes",
}


@dataclass(frozen=True, slots=True)
class AvroOptions:
    enhanced: bool = False
    connect_meta_data: bool = True
    scrub_invalid_names: bool = False
    allow_optional_map_keys: bool = False
    ignore_default_for_nullables: bool = False

    def name(self, name: str) -> str:
        return _scrubbed(name) if self.scrub_invalid_names else name

    def full_name(self, name: str) -> str:
        return ".".join(map(self.name, name.split(".")))

    def writes_as_map(self, schema: Schema) -> bool:
        keys = schema.key_schema
        assert keys is not None
        return keys.type is Type.STRING and (not keys.optional or self.allow_optional_map_keys)


def _scrubbed(name: str) -> str:
    """A name that Avro takes: other characters as URLs have them, with _ for the rest."""
    if not name or re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        return name
    encoded = quote_plus(name)
    return re.sub(r"\W", "_", f"x{encoded}" if encoded[0].isdigit() else encoded, flags=re.ASCII)


def is_union(schema: Schema) -> bool:
    return schema.type is Type.STRUCT and schema.name == UNION


def is_enum(schema: Schema) -> bool:
    return schema.type is Type.STRING and ENUM in schema.parameters


def branch_name(schema: Schema, options: AvroOptions) -> str:
    """What Avro calls a branch of a union that is of this schema."""
    if schema.type is Type.STRUCT:
        return options.full_name(schema.name or f"{NAMESPACE}.ConnectDefault")
    return schema.parameters[ENUM] if is_enum(schema) else PRIMITIVES.get(schema.type, schema.type.value)
