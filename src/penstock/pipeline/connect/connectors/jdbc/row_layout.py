"""Which fields of a record become which columns: pure, one layout for all records of the same schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.pipeline.connect.connectors.jdbc.dialect import NewColumn
from penstock.pipeline.connect.connectors.jdbc.sink_config import KAFKA, NONE, RECORD_KEY, RECORD_VALUE
from penstock.pipeline.connect.data import Schema, SinkRecord, Struct, Type
from penstock.pipeline.connect.data.schema import INT32, INT64, STRING
from penstock.pipeline.connect.errors import ConnectError

KAFKA_COLUMNS = ("__connect_topic", "__connect_partition", "__connect_offset")
Read = Callable[[SinkRecord], Any]


@dataclass(frozen=True, slots=True)
class RowLayout:
    """`columns` in the order of the rows that `row` makes; those of the primary key come first."""

    columns: tuple[NewColumn, ...]
    keys: tuple[str, ...]
    readers: tuple[Read, ...]

    def row(self, record: SinkRecord) -> tuple[Any, ...]:
        return tuple([read(record) for read in self.readers])

    def key(self, record: SinkRecord) -> tuple[Any, ...]:
        return tuple([read(record) for read in self.readers[: len(self.keys)]])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.columns)


def layout_of(record: SinkRecord, settings: Mapping[str, Any]) -> RowLayout:
    """The layout for all records with the schemas of this one. A tombstone has none but its key's columns."""
    keys = _KEYS_OF[settings["pk.mode"]](record, settings["pk.fields"])
    taken = {column.name for column, _ in keys}
    others = _value_columns(record, taken, settings["fields.whitelist"]) if record.value is not None else []
    if not keys and not others:
        raise ConnectError(f"{_where(record)}: no field is left to write")
    both = [*keys, *others]
    return RowLayout(
        tuple(column for column, _ in both),
        tuple(column.name for column, _ in keys),
        tuple(read for _, read in both),
    )


def _value_columns(
    record: SinkRecord, taken: set[str], wanted: Sequence[str]
) -> list[tuple[NewColumn, Read]]:
    schema = _struct_schema(record, "value", record.value_schema, record.value)
    for name in wanted:
        if name not in schema.field_of and name not in taken:
            raise ConnectError(f"{_where(record)}: fields.whitelist: the value has no field {name!r}")
    return [
        (NewColumn(each.name, each.schema), _of_value(each.name))
        for each in schema.fields
        if each.name not in taken and (not wanted or each.name in wanted)
    ]


def _no_key(record: SinkRecord, fields: Sequence[str]) -> list[tuple[NewColumn, Read]]:
    return []


def _kafka_key(record: SinkRecord, fields: Sequence[str]) -> list[tuple[NewColumn, Read]]:
    names = tuple(fields) or KAFKA_COLUMNS
    schemas = (STRING, INT32, INT64)
    readers: tuple[Read, ...] = (
        lambda each: each.original_topic,
        lambda each: each.original_partition,
        lambda each: each.original_offset,
    )
    return [
        (NewColumn(name, schema, is_key=True), read)
        for name, schema, read in zip(names, schemas, readers, strict=True)
    ]


def _record_key(record: SinkRecord, fields: Sequence[str]) -> list[tuple[NewColumn, Read]]:
    schema = record.key_schema
    if schema is None or record.key is None:
        raise ConnectError(
            f"{_where(record)}: pk.mode is record_key, which needs a key with a schema; "
            f"got {'no key' if record.key is None else 'a key without a schema'}"
        )
    if schema.type is not Type.STRUCT:
        if len(fields) != 1:
            raise ConnectError(
                f"{_where(record)}: pk.fields: the key is a single {schema.type.value}; takes one name for it"
            )
        return [(NewColumn(fields[0], schema, is_key=True), lambda each: each.key)]
    return _key_fields(record, "key", schema, fields, _of_key)


def _record_value(record: SinkRecord, fields: Sequence[str]) -> list[tuple[NewColumn, Read]]:
    schema = _struct_schema(record, "value", record.value_schema, record.value)
    return _key_fields(record, "value", schema, fields, _of_value)


def _key_fields(
    record: SinkRecord, what: str, schema: Schema, fields: Sequence[str], reader: Callable[[str], Read]
) -> list[tuple[NewColumn, Read]]:
    for name in fields:
        if name not in schema.field_of:
            raise ConnectError(f"{_where(record)}: pk.fields: the {what} has no field {name!r}")
    chosen = [schema.field_of[name] for name in fields] if fields else list(schema.fields)
    return [(NewColumn(each.name, each.schema, is_key=True), reader(each.name)) for each in chosen]


_KEYS_OF = {NONE: _no_key, KAFKA: _kafka_key, RECORD_KEY: _record_key, RECORD_VALUE: _record_value}


def _of_value(name: str) -> Read:
    return lambda record: record.value.get(name)


def _of_key(name: str) -> Read:
    return lambda record: record.key.get(name)


def _struct_schema(record: SinkRecord, what: str, schema: Schema | None, value: Any) -> Schema:
    if schema is None or not isinstance(value, Struct):
        got = "a value without a schema" if schema is None else f"a {schema.type.value}"
        raise ConnectError(
            f"{_where(record)}: columns come from a {what} that is a struct with a schema; got {got}. Use a converter "
            "that keeps schemas (Avro, Protobuf, JSON Schema, or JSON with schemas.enable=true)"
        )
    return schema


def _where(record: SinkRecord) -> str:
    return f"{record.original_topic}-{record.original_partition} at offset {record.original_offset}"
