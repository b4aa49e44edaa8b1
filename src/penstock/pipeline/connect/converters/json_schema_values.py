"""Values of the JSON Schema converter: Connect's JSON, but for maps without texts for keys, and for unions.

A map is a list of {"key":...,"value":...}; of a union there is only the branch that is set.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

from penstock.pipeline.connect.converters.json_reading import (
    JsonReading,
    Reader,
    node_type,
    read_map,
    read_struct,
)
from penstock.pipeline.connect.converters.json_writing import (
    JsonWriting,
    Writer,
    write_map,
    write_other,
    write_struct,
)
from penstock.pipeline.connect.data import Schema, Struct, Type
from penstock.pipeline.connect.data.logical import DECIMAL_NAME
from penstock.pipeline.connect.data.numbers import BITS
from penstock.pipeline.connect.errors import DataError

ONE_OF: Final = "io.confluent.connect.json.OneOf"
_NODE_TYPES: Final = {
    **dict.fromkeys(BITS, "NUMBER"),
    Type.FLOAT32: "NUMBER",
    Type.FLOAT64: "NUMBER",
    Type.BOOLEAN: "BOOLEAN",
    Type.STRING: "STRING",
    Type.BYTES: "STRING",
    Type.ARRAY: "ARRAY",
    Type.MAP: "OBJECT",
    Type.STRUCT: "OBJECT",
}


def is_union(schema: Schema) -> bool:
    return schema.type is Type.STRUCT and schema.name == ONE_OF


def has_text_keys(schema: Schema) -> bool:
    keys = schema.key_schema
    return keys is not None and keys.type is Type.STRING and not keys.optional


# --- writing


def _write_map(writing: JsonWriting, schema: Schema, null: Any) -> Writer:
    if has_text_keys(schema):
        return write_map(writing, schema, null)
    assert schema.key_schema is not None
    assert schema.value_schema is not None
    key, item = writing.writer_of(schema.key_schema), writing.writer_of(schema.value_schema)

    def write(value: Any) -> str:
        if not isinstance(value, dict):
            return write_other(value, schema, null)
        entries = (f'{{"key":{key(name)},"value":{item(each)}}}' for name, each in value.items())
        return f"[{','.join(entries)}]"

    return write


def _write_struct(writing: JsonWriting, schema: Schema, null: Any) -> Writer:
    if not is_union(schema):
        return write_struct(writing, schema, null)
    branches = [writing.writer_of(each.schema) for each in schema.fields]

    def write(value: Any) -> str:
        if not isinstance(value, Struct):
            return write_other(value, schema, null)
        for branch, inner in zip(branches, value.all_values(False), strict=True):
            if inner is not None:
                return branch(inner)
        return null()  # type: ignore[no-any-return]

    return write


class JsonSchemaWriting(JsonWriting):
    makers = MappingProxyType({Type.MAP: _write_map, Type.STRUCT: _write_struct})


# --- reading


def _read_map(reading: JsonReading, schema: Schema, null: Any) -> Reader:
    if has_text_keys(schema):
        return read_map(reading, schema, null)
    assert schema.key_schema is not None
    assert schema.value_schema is not None
    key, item = reading.reader_of(schema.key_schema), reading.reader_of(schema.value_schema)

    def read(value: Any) -> Any:
        if value is None:
            return null()
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise DataError(
                "Maps with non-string fields should be encoded as JSON array of objects, "
                f"but found {node_type(value)}"
            )
        return {key(each.get("key")): item(each.get("value")) for each in value}

    return read


def _read_struct(reading: JsonReading, schema: Schema, null: Any) -> Reader:
    if not is_union(schema):
        return read_struct(reading, schema, null)
    branches = [(each.schema, reading.reader_of(each.schema)) for each in schema.fields]

    def read(value: Any) -> Any:
        if value is None:
            return null()
        best = max(range(len(branches)), key=lambda index: _fit(branches[index][0], value))
        if _fit(branches[best][0], value) < 0:
            raise DataError(f"{node_type(value)} fits no branch of the union")
        values: list[Any] = [None] * len(branches)
        values[best] = branches[best][1](value)
        return Struct.of(schema, values)

    return read


def _fit(schema: Schema, value: Any) -> int:
    """How well a value fits: not, or by how many of its members are fields."""
    numeric = schema.name == DECIMAL_NAME and node_type(value) == "NUMBER"
    if node_type(value) != _NODE_TYPES[schema.type] and not numeric:
        return -1
    if schema.type in BITS:
        return 1 if isinstance(value, int) else -1
    return sum(name in schema.field_of for name in value) if schema.type is Type.STRUCT else 0


class JsonSchemaReading(JsonReading):
    makers = MappingProxyType({Type.MAP: _read_map, Type.STRUCT: _read_struct})
