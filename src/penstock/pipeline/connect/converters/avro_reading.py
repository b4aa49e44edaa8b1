"""From Avro to Connect: the schema, and the function that makes Connect's values of what fastavro read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from penstock.pipeline.connect.converters.avro_names import (
    DEFAULT_PRECISION,
    ENUM,
    FIELD_DOC,
    FIXED_SIZE,
    MAP_ENTRY,
    NAMESPACE,
    PRECISION,
    RECORD_DOC,
    UNION,
    AvroJson,
    AvroOptions,
)
from penstock.pipeline.connect.converters.avro_values import Convert
from penstock.pipeline.connect.data import Field, Schema, Struct, Type
from penstock.pipeline.connect.data.logical import (
    DATE,
    TIME,
    TIMESTAMP,
    date_from_days,
    decimal_from_bytes,
    decimal_schema,
    time_from_millis,
    timestamp_from_millis,
)
from penstock.pipeline.connect.errors import DataError

NAMED: Final = ("record", "error", "enum", "fixed")
_TYPES: Final = {
    "boolean": Type.BOOLEAN,
    "int": Type.INT32,
    "long": Type.INT64,
    "float": Type.FLOAT32,
    "double": Type.FLOAT64,
    "string": Type.STRING,
    "bytes": Type.BYTES,
}
_SMALL: Final = {"int8": Type.INT8, "int16": Type.INT16}
_PYTHON_TYPES: Final = {
    "boolean": bool,
    "int": int,
    "long": int,
    "float": float,
    "double": float,
    "string": str,
    "bytes": bytes,
    "fixed": bytes,
    "enum": str,
    "array": list,
    "map": dict,
    "record": dict,
}


class Reading(NamedTuple):
    schema: Schema
    read: Convert


def _as_it_is(value: Any) -> Any:
    return value


_DATES: Final = {
    ("int", "date"): Reading(DATE, date_from_days),
    ("int", "time-millis"): Reading(TIME, time_from_millis),
    ("long", "timestamp-millis"): Reading(TIMESTAMP, timestamp_from_millis),
}


def without_logical_types(given: AvroJson) -> AvroJson:
    """What fastavro reads as plain values."""
    if isinstance(given, list):
        return [without_logical_types(each) for each in given]
    if not isinstance(given, dict):
        return given
    plain = {name: each for name, each in given.items() if name != "logicalType"}
    for name in ("type", "items", "values"):
        if name in plain:
            plain[name] = without_logical_types(plain[name])
    if isinstance(plain.get("fields"), list):
        fields = plain["fields"]
        plain["fields"] = [{**each, "type": without_logical_types(each["type"])} for each in fields]
    return plain


class AvroReading:
    """Of one Avro schema, whose names are full."""

    def __init__(self, options: AvroOptions) -> None:
        self._options = options
        self._named: dict[str, AvroJson] = {}
        self._open: list[str] = []

    def of(self, given: AvroJson, optional: bool = False, default: Any = None) -> Reading:
        if isinstance(given, list):
            return self._union(given, default)
        definition = given if isinstance(given, dict) else self._named.get(given, {"type": given})
        if isinstance(definition.get("type"), dict | list):
            return self.of(definition["type"], optional, default)
        kind = definition["type"]
        if kind in NAMED:
            self._named[definition["name"]] = definition
        if kind == "null":
            raise DataError("Standalone null schemas are not supported by this converter")
        base = self._base(kind, definition)
        return self._described(base, definition, optional, default)

    def _base(self, kind: str, given: dict[str, Any]) -> Reading:
        known = _DATES.get((kind, given.get("logicalType", "")))
        if known is not None:
            return known
        if kind in ("bytes", "fixed"):
            return self._bytes(kind, given)
        if kind in _TYPES:
            small = _SMALL.get(given.get("connect.type", "")) if kind == "int" else None
            return Reading(Schema(small or _TYPES[kind]), _as_it_is)
        make = _MAKERS.get(kind)
        if make is None:
            raise DataError(f"Couldn't translate unsupported schema type {kind}.")
        return make(self, given)

    def _bytes(self, kind: str, given: dict[str, Any]) -> Reading:
        size = {FIXED_SIZE: str(given["size"])} if kind == "fixed" else {}
        if given.get("logicalType") != "decimal":
            schema = Schema(Type.BYTES, name=given["name"] if size else None)
            return Reading(_with_parameters(schema, size), _as_it_is)
        scale = int(given.get("scale", 0))
        precision = int(given.get("precision", DEFAULT_PRECISION))
        more = {} if precision == DEFAULT_PRECISION else {PRECISION: str(precision)}
        schema = _with_parameters(decimal_schema(scale), {**more, **size})
        return Reading(schema, lambda value: decimal_from_bytes(value, scale))

    def _enum(self, given: dict[str, Any]) -> Reading:
        symbols = {f"{ENUM}.{symbol}": symbol for symbol in given["symbols"]}
        schema = Schema(Type.STRING, name=given["name"])
        return Reading(_with_parameters(schema, {ENUM: given["name"], **symbols}), _as_it_is)

    def _array(self, given: dict[str, Any]) -> Reading:
        items = given["items"]
        entry = (
            items if isinstance(items, dict) else self._named.get(items, {}) if isinstance(items, str) else {}
        )
        if entry.get("name") == f"{NAMESPACE}.{MAP_ENTRY}" or entry.get("connect.internal.type") == MAP_ENTRY:
            return self._entries(entry)
        item, read = self.of(items)
        schema = Schema(Type.ARRAY, value_schema=item)
        return Reading(schema, lambda value: [None if each is None else read(each) for each in value])

    def _entries(self, entry: dict[str, Any]) -> Reading:
        types = {field["name"]: field["type"] for field in entry["fields"]}
        if set(types) != {"key", "value"}:
            raise DataError(
                "Found map encoded as array of key-value pairs, but array elements do not match "
                "the expected format."
            )
        keys, values = self.of(types["key"]), self.of(types["value"])
        schema = Schema(Type.MAP, key_schema=keys.schema, value_schema=values.schema)
        key, item = _or_null(keys.read), _or_null(values.read)
        return Reading(schema, lambda value: {key(each["key"]): item(each["value"]) for each in value})

    def _map(self, given: dict[str, Any]) -> Reading:
        values = self.of(given["values"])
        schema = Schema(Type.MAP, key_schema=Schema(Type.STRING), value_schema=values.schema)
        item = _or_null(values.read)
        return Reading(schema, lambda value: {name: item(each) for name, each in value.items()})

    def _record(self, given: dict[str, Any]) -> Reading:
        name = given["name"]
        if name in self._open:
            raise DataError(f"{name} has itself inside: recursive schemas are not supported")
        self._open.append(name)
        parts = [
            (field["name"], self.of(field["type"], default=field.get("default"))) for field in given["fields"]
        ]
        self._open.pop()
        fields = tuple(Field(name, index, of.schema) for index, (name, of) in enumerate(parts))
        docs = {f"{FIELD_DOC}{each['name']}": each["doc"] for each in given["fields"] if each.get("doc")}
        if given.get("doc"):
            docs = {RECORD_DOC: given["doc"], **docs}
        docs = docs if self._options.connect_meta_data else {}
        own = None if name.startswith(f"{NAMESPACE}.ConnectDefault") else name
        schema = _with_parameters(Schema(Type.STRUCT, name=own, fields=fields), docs)
        readers = [(name, _or_null(of.read)) for name, of in parts]
        return Reading(schema, lambda value: _StructOf(value, readers))

    def _union(self, branches: list[AvroJson], default: Any) -> Reading:
        others = [each for each in branches if each != "null"]
        has_null = len(others) < len(branches)
        if len(others) == 1:
            return self.of(others[0], optional=has_null, default=default)
        parts = [(self._branch_name(each), self.of(each, optional=True)) for each in others]
        if len({name for name, _ in parts}) < len(parts):
            raise DataError("Multiple union schemas map to the Connect union field name")
        fields = tuple(Field(name, index, of.schema) for index, (name, of) in enumerate(parts))
        schema = Schema(Type.STRUCT, optional=has_null, name=UNION, fields=fields)
        kinds = [(self._definition(each), of.read) for each, (_, of) in zip(others, parts, strict=True)]
        return Reading(schema, lambda value: Struct.of(schema, _chosen(value, kinds)))

    def _definition(self, given: AvroJson) -> dict[str, Any]:
        found: dict[str, Any] = given if isinstance(given, dict) else self._named.get(given, {"type": given})
        return found

    def _branch_name(self, given: AvroJson) -> str:
        definition = self._definition(given)
        if definition["type"] not in NAMED:
            return str(definition["type"])
        name: str = definition["name"]
        return name if self._options.enhanced else name.rpartition(".")[2]

    def _described(self, base: Reading, given: dict[str, Any], optional: bool, default: Any) -> Reading:
        schema = base.schema
        changes: dict[str, Any] = {"optional": optional or schema.optional}
        if self._options.connect_meta_data:
            changes["doc"] = given.get("connect.doc", schema.doc)
        changes["version"] = given.get("connect.version", schema.version)
        changes["name"] = given.get("connect.name", schema.name)
        schema = _with_parameters(replace(schema, **changes), self._parameters(given))
        if default is None:
            default = given.get("connect.default")
        read = _bound(base.read, schema)
        if default is not None:
            schema = replace(schema, default=_default(read, given["type"], default), has_default=True)
            read = _bound(base.read, schema)
        return Reading(schema, read)

    def _parameters(self, given: dict[str, Any]) -> dict[str, str]:
        kept = given.get("connect.parameters") if self._options.connect_meta_data else None
        own = {name: str(value) for name, value in given.items() if name.startswith("avro")}
        return {**own, **(kept if isinstance(kept, dict) else {})}


_MAKERS: Final[dict[str, Callable[[AvroReading, dict[str, Any]], Reading]]] = {
    "enum": AvroReading._enum,
    "array": AvroReading._array,
    "map": AvroReading._map,
    "record": AvroReading._record,
    "error": AvroReading._record,
}


class _StructOf:
    """The values of a record, before it is known what its schema is called."""

    __slots__ = ("values",)

    def __init__(self, record: dict[str, Any], readers: list[tuple[str, Convert]]) -> None:
        self.values = [read(record.get(name)) for name, read in readers]


def _bound(read: Convert, schema: Schema) -> Convert:
    if schema.type is not Type.STRUCT or schema.name == UNION:
        return read
    return lambda value: Struct.of(schema, read(value).values)


def _or_null(read: Convert) -> Convert:
    return lambda value: None if value is None else read(value)


def _with_parameters(schema: Schema, more: dict[str, str]) -> Schema:
    return replace(schema, parameters=MappingProxyType({**schema.parameters, **more})) if more else schema


def _chosen(value: Any, kinds: list[tuple[dict[str, Any], Convert]]) -> list[Any]:
    """The values of a union's struct: one of them. A record says its name, where there are several."""
    name, inner = value if isinstance(value, tuple) else (None, value)
    values: list[Any] = [None] * len(kinds)
    for index, (definition, read) in enumerate(kinds):
        python_type = _PYTHON_TYPES.get(definition["type"])
        if definition.get("name") == name if name is not None else type(inner) is python_type:
            values[index] = read(inner)
            break
    return values


def _default(read: Convert, kind: str, given: Any) -> Any:
    """Of Avro's JSON, where bytes are a text of as many characters."""
    value = given.encode("latin-1") if kind in ("bytes", "fixed") and isinstance(given, str) else given
    return read(float(value) if kind in ("float", "double") else value)
