"""Connect's schemas in JSON: {"type":"struct","fields":[{"type":"int64","optional":false,"field":"id"}],...}."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from penstock.pipeline.connect.converters.json_reading import JsonReading
from penstock.pipeline.connect.converters.json_writing import JsonWriting
from penstock.pipeline.connect.data import Schema, SchemaBuilder, Type
from penstock.pipeline.connect.data.numbers import wrapped
from penstock.pipeline.connect.errors import DataError

_NAMES: Final = {Type.FLOAT32: "float", Type.FLOAT64: "double"}
NAME_OF_TYPE: Final = {type: _NAMES.get(type, type.value) for type in Type}
TYPE_OF_NAME: Final = {name: type for type, name in NAME_OF_TYPE.items()}


# --- to JSON


def schema_text(schema: Schema | None, writing: JsonWriting) -> str:
    """With its members in the order in which Kafka writes them."""
    return "null" if schema is None else _object(_members(schema, writing))


def _object(members: dict[str, str]) -> str:
    return "{" + ",".join(f'"{name}":{text}' for name, text in members.items()) + "}"


def _members(schema: Schema, writing: JsonWriting) -> dict[str, str]:
    quoted = writing.quoted
    members = {"type": f'"{NAME_OF_TYPE[schema.type]}"', **_inner(schema, writing)}
    members["optional"] = "true" if schema.optional else "false"
    if schema.name is not None:
        members["name"] = quoted(schema.name)
    if schema.version is not None:
        members["version"] = str(schema.version)
    if schema.doc is not None:
        members["doc"] = quoted(schema.doc)
    if schema.parameters:
        inner = ",".join(f"{quoted(name)}:{quoted(value)}" for name, value in schema.parameters.items())
        members["parameters"] = "{" + inner + "}"
    if schema.default is not None:
        members["default"] = writing.writer_of(schema)(schema.default)
    return members


def _inner(schema: Schema, writing: JsonWriting) -> dict[str, str]:
    if schema.type is Type.ARRAY:
        return {"items": schema_text(schema.value_schema, writing)}
    if schema.type is Type.MAP:
        return {
            "keys": schema_text(schema.key_schema, writing),
            "values": schema_text(schema.value_schema, writing),
        }
    if schema.type is not Type.STRUCT:
        return {}
    fields = (
        _object({**_members(field.schema, writing), "field": writing.quoted(field.name)})
        for field in schema.fields
    )
    return {"fields": f"[{','.join(fields)}]"}


# --- from JSON


def schema_of(given: Any, reading: JsonReading) -> Schema | None:
    if given is None:
        return None
    name = given.get("type") if isinstance(given, dict) else None
    if not isinstance(name, str):
        raise DataError("Schema must contain 'type' field")
    type = TYPE_OF_NAME.get(name)
    if type is None:
        raise DataError(f"Unknown schema type: {name}")
    builder = _BUILDERS.get(type, _plain)(type, given, reading)
    return _with_default(_described(builder, given).build(), given, reading)


def _plain(type: Type, given: dict[str, Any], reading: JsonReading) -> SchemaBuilder:
    return SchemaBuilder(type)


def _array(type: Type, given: dict[str, Any], reading: JsonReading) -> SchemaBuilder:
    items = schema_of(given.get("items"), reading)
    if items is None:
        raise DataError("Array schema did not specify the element type")
    return SchemaBuilder.array(items)


def _map(type: Type, given: dict[str, Any], reading: JsonReading) -> SchemaBuilder:
    for member, kind in (("keys", "key"), ("values", "value")):
        if given.get(member) is None:
            raise DataError(f"Map schema did not specify the {kind} type")
    keys, values = schema_of(given["keys"], reading), schema_of(given["values"], reading)
    assert keys is not None
    assert values is not None
    return SchemaBuilder.map(keys, values)


def _struct(type: Type, given: dict[str, Any], reading: JsonReading) -> SchemaBuilder:
    fields = given.get("fields")
    if not isinstance(fields, list):
        raise DataError('Struct schema\'s "fields" argument is not an array.')
    builder = SchemaBuilder.struct()
    for field in fields:
        name = field.get("field") if isinstance(field, dict) else None
        if not isinstance(name, str):
            raise DataError("Struct schema's field name not specified properly")
        inner = schema_of(field, reading)
        assert inner is not None
        builder.field(name, inner)
    return builder


_BUILDERS: Final[dict[Type, Callable[[Type, dict[str, Any], JsonReading], SchemaBuilder]]] = {
    Type.ARRAY: _array,
    Type.MAP: _map,
    Type.STRUCT: _struct,
}


def _described(builder: SchemaBuilder, given: dict[str, Any]) -> SchemaBuilder:
    if given.get("optional") is True:
        builder.optional()
    if isinstance(name := given.get("name"), str):
        builder.name(name)
    if type(version := given.get("version")) is int:
        builder.version(wrapped(version, 32))
    if isinstance(doc := given.get("doc"), str):
        builder.doc(doc)
    if isinstance(parameters := given.get("parameters"), dict):
        if not all(isinstance(value, str) for value in parameters.values()):
            raise DataError("Schema parameters must have string values.")
        builder.parameters(parameters)
    return builder


def _with_default(schema: Schema, given: dict[str, Any], reading: JsonReading) -> Schema:
    if "default" not in given:
        return schema
    default = reading.reader_of(schema)(given["default"])
    if default is None:
        return schema
    builder = SchemaBuilder.like(schema).default(default)
    for field in schema.fields:
        builder.field(field.name, field.schema)
    return builder.build()
