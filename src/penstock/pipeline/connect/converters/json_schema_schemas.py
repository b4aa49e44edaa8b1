"""JSON Schemas of Connect's schemas, and back, as Confluent's converter relates them.

What JSON Schema has no words for stands in members that begin with `connect.`: the type of a number, the place of a
field, a version, parameters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from penstock.pipeline.connect.converters.json_schema_values import (
    ONE_OF,
    JsonSchemaReading,
    JsonSchemaWriting,
    has_text_keys,
    is_union,
)
from penstock.pipeline.connect.data import Field, Schema, Type
from penstock.pipeline.connect.data.logical import DECIMAL_NAME
from penstock.pipeline.connect.data.numbers import BITS
from penstock.pipeline.connect.errors import DataError

NAMESPACE: Final = "io.confluent.connect.json"
ENUM: Final = f"{NAMESPACE}.Enum"
NULL_MARKER: Final = "<NULL>"
_NUMBERS: Final = {type.value: type for type in (*BITS, Type.FLOAT32, Type.FLOAT64, Type.BYTES)}
_SYNONYMS: Final = ("oneOf", "anyOf")


@dataclass(frozen=True, slots=True)
class JsonSchemaOptions:
    additional_properties: bool = True
    optional_for_nonrequired: bool = False
    numeric_decimals: bool = False


# --- to JSON Schema


class JsonSchemas:
    def __init__(self, options: JsonSchemaOptions) -> None:
        self._options = options
        self._writing = JsonSchemaWriting(numeric_decimals=options.numeric_decimals)

    def made_of(self, schema: Schema, index: int | None = None, plain: bool = False) -> dict[str, Any]:
        place = {} if index is None else {"connect.index": index}
        if is_union(schema):
            null = [{"type": "null"}] if schema.optional else []
            branches = [
                self.made_of(replace(each.schema, optional=False), each.index, plain=True)
                for each in schema.fields
            ]
            return {"oneOf": [*null, *branches], **place}
        made = {**self._base(schema), **self._described(schema)}
        if schema.optional and not plain:
            return {"oneOf": [{"type": "null"}, made], **place}
        return {**made, **place}

    def _base(self, schema: Schema) -> dict[str, Any]:
        if schema.type in BITS:
            return {"type": "integer", "connect.type": schema.type.value}
        if schema.type in (Type.FLOAT32, Type.FLOAT64):
            return {"type": "number", "connect.type": schema.type.value}
        if schema.type is Type.BYTES:
            is_number = schema.name == DECIMAL_NAME and self._options.numeric_decimals
            return {"type": "number" if is_number else "string", "connect.type": "bytes"}
        return _MAKERS[schema.type](self, schema)

    def _string(self, schema: Schema) -> dict[str, Any]:
        if ENUM not in schema.parameters:
            return {"type": "string"}
        prefix = f"{ENUM}."
        symbols = [name.removeprefix(prefix) for name in schema.parameters if name.startswith(prefix)]
        return {"enum": [None if symbol == NULL_MARKER else symbol for symbol in symbols]}

    def _array(self, schema: Schema) -> dict[str, Any]:
        assert schema.value_schema is not None
        return {"type": "array", "items": self.made_of(schema.value_schema)}

    def _map(self, schema: Schema) -> dict[str, Any]:
        assert schema.key_schema is not None
        assert schema.value_schema is not None
        if has_text_keys(schema):
            values = self.made_of(schema.value_schema)
            return {"type": "object", "connect.type": "map", "additionalProperties": values}
        entry = {"key": self.made_of(schema.key_schema, 0), "value": self.made_of(schema.value_schema, 1)}
        items = {"type": "object", "properties": entry}
        return {"type": "array", "connect.type": "map", "items": items}

    def _struct(self, schema: Schema) -> dict[str, Any]:
        properties = {each.name: self.made_of(each.schema, each.index) for each in schema.fields}
        closed = {} if self._options.additional_properties else {"additionalProperties": False}
        return {"type": "object", "properties": properties, **closed}

    def _described(self, schema: Schema) -> dict[str, Any]:
        own = {
            name: value for name, value in schema.parameters.items() if not name.startswith(NAMESPACE)
        } or None
        default = None
        if schema.default is not None:
            default = json.loads(self._writing.writer_of(schema)(schema.default))
        said = {
            "title": schema.name,
            "connect.version": schema.version,
            "description": schema.doc,
            "connect.parameters": own,
            "default": default,
        }
        return {name: value for name, value in said.items() if value is not None}


_MAKERS: Final[dict[Type, Callable[[JsonSchemas, Schema], dict[str, Any]]]] = {
    Type.BOOLEAN: lambda schemas, schema: {"type": "boolean"},
    Type.STRING: JsonSchemas._string,
    Type.ARRAY: JsonSchemas._array,
    Type.MAP: JsonSchemas._map,
    Type.STRUCT: JsonSchemas._struct,
}


# --- from JSON Schema


class ConnectSchemas:
    """Of one document; `others` are those that it refers to, by name."""

    def __init__(self, options: JsonSchemaOptions, document: Any, others: Mapping[str, Any]) -> None:
        self._options = options
        self._document = document
        self._others = others
        self._open: list[str] = []
        self._reading = JsonSchemaReading()

    def of(self, given: Any, optional: bool = False, document: Any = None) -> Schema:
        document = self._document if document is None else document
        if not isinstance(given, dict):
            raise DataError(f"a schema that is {json.dumps(given)} says nothing of its type")
        if "$ref" in given:
            return self._referred(given["$ref"], optional, document)
        for word in _SYNONYMS:
            if word in given:
                return self._union(given, given[word], optional, document)
        if "allOf" in given:
            return self._all_of(given, optional, document)
        if isinstance(given.get("type"), list):
            kinds = [{**given, "type": kind} for kind in given["type"]]
            return self._union({}, kinds, optional, document)
        return self._described(self._base(given, document), given, optional)

    def _base(self, given: dict[str, Any], document: Any) -> Schema:
        connect_type = given.get("connect.type")
        if "enum" in given or "const" in given:
            return _enum(given.get("enum", [given.get("const")]))
        kind = given.get("type") or ("object" if "properties" in given else None)
        if kind == "boolean":
            return Schema(Type.BOOLEAN)
        if kind in ("integer", "number"):
            plain = Type.INT64 if kind == "integer" else Type.FLOAT64
            return Schema(_NUMBERS.get(connect_type or "", plain))
        if kind == "string":
            return Schema(Type.BYTES if connect_type == "bytes" else Type.STRING)
        if kind == "array":
            return self._array(given, connect_type, document)
        if kind == "object":
            return self._object(given, connect_type, document)
        raise DataError(f"Unsupported schema type {kind}")

    def _array(self, given: dict[str, Any], connect_type: Any, document: Any) -> Schema:
        items = given.get("items")
        if items is None:
            raise DataError("Array schema did not specify the items type")
        if connect_type == "map":
            entry = items.get("properties", {})
            keys, values = (
                self.of(entry.get("key"), False, document),
                self.of(entry.get("value"), False, document),
            )
            return Schema(Type.MAP, key_schema=keys, value_schema=values)
        return Schema(Type.ARRAY, value_schema=self.of(items, False, document))

    def _object(self, given: dict[str, Any], connect_type: Any, document: Any) -> Schema:
        if connect_type == "map":
            values = self.of(given.get("additionalProperties"), False, document)
            return Schema(Type.MAP, key_schema=Schema(Type.STRING), value_schema=values)
        required = given.get("required", ())
        made: dict[str, Schema] = {}
        for name, inner in _in_order(given.get("properties", {})):
            optional = self._options.optional_for_nonrequired and name not in required
            made[name] = self.of(inner, optional, document)
        fields = tuple(Field(name, index, of) for index, (name, of) in enumerate(made.items()))
        return Schema(Type.STRUCT, fields=fields)

    def _union(self, given: dict[str, Any], branches: list[Any], optional: bool, document: Any) -> Schema:
        others = [each for each in branches if each.get("type") != "null"]
        has_null = len(others) < len(branches) or optional
        if len(others) == 1:
            return self.of(others[0], has_null, document)
        fields = tuple(
            Field(f"{ONE_OF}.field.{index}", index, self.of(each, True, document))
            for index, each in enumerate(others)
        )
        schema = Schema(Type.STRUCT, name=ONE_OF, optional=has_null, fields=fields)
        return self._described(schema, given, has_null)

    def _all_of(self, given: dict[str, Any], optional: bool, document: Any) -> Schema:
        """One schema with all that they say."""
        merged: dict[str, Any] = {name: value for name, value in given.items() if name != "allOf"}
        for each in given["allOf"]:
            part = self._target(each["$ref"], document)[0] if "$ref" in each else each
            properties = {**merged.get("properties", {}), **part.get("properties", {})}
            required = [*merged.get("required", ()), *part.get("required", ())]
            merged = {**part, **merged}
            if properties:
                merged |= {"properties": properties, "required": required}
        return self.of(merged, optional, document)

    def _referred(self, reference: str, optional: bool, document: Any) -> Schema:
        if reference in self._open:
            raise DataError(f"{reference} has itself inside: recursive schemas are not supported")
        target, its_document = self._target(reference, document)
        self._open.append(reference)
        schema = self.of(target, optional, its_document)
        self._open.pop()
        return schema

    def _target(self, reference: str, document: Any) -> tuple[Any, Any]:
        name, _, pointer = reference.partition("#")
        found = document if not name else self._others.get(name)
        if found is None:
            raise DataError(f"$ref {reference!r} is not among the references of the schema")
        target = found
        for step in filter(None, pointer.split("/")):
            key = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(target, dict) or key not in target:
                raise DataError(f"$ref {reference!r} leads nowhere")
            target = target[key]
        return target, found

    def _described(self, base: Schema, given: dict[str, Any], optional: bool) -> Schema:
        parameters = given.get("connect.parameters")
        kept = {**base.parameters, **(parameters if isinstance(parameters, dict) else {})}
        schema = replace(
            base,
            optional=optional,
            name=base.name or given.get("title"),
            version=given.get("connect.version"),
            doc=given.get("description"),
            parameters=MappingProxyType(kept),
        )
        if given.get("default") is None:
            return schema
        return replace(schema, default=self._reading.reader_of(schema)(given["default"]), has_default=True)


def _enum(values: list[Any]) -> Schema:
    named = {f"{ENUM}.{NULL_MARKER if value is None else value}": str(value) for value in values}
    return Schema(Type.STRING, parameters=MappingProxyType({ENUM: "", **named}))


def _in_order(properties: dict[str, Any]) -> list[tuple[str, Any]]:
    """By the place that they had in Connect; others where they stand."""
    placed = [
        (inner.get("connect.index", place) if isinstance(inner, dict) else place, name)
        for place, (name, inner) in enumerate(properties.items())
    ]
    return [(name, properties[name]) for _, name in sorted(placed, key=lambda each: each[0])]
