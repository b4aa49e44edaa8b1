"""A table's keys, rows and events as Connect's structs, in the shape that Debezium gives them.

PostgreSQL sends text for every value, in the stream and in the snapshot; psycopg reads it, and the JDBC connector says
what a type becomes. All columns but those of the key are optional: a deleted row has no more than its key, unless the
table has REPLICA IDENTITY FULL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock.pipeline.connect.connectors.jdbc import numeric
from penstock.pipeline.connect.connectors.jdbc.dialect import Column, TableName
from penstock.pipeline.connect.connectors.jdbc.postgres import Postgres
from penstock.pipeline.connect.connectors.postgres_cdc.pgoutput import (
    UNCHANGED,
    Relation,
    RelationColumn,
    Row,
)
from penstock.pipeline.connect.connectors.postgres_cdc.segments import Key
from penstock.pipeline.connect.data import Schema, SchemaBuilder, Struct, Type
from penstock.pipeline.connect.data.logical import DATE_NAME, TIMESTAMP_NAME
from penstock.pipeline.connect.data.schema import INT64, OPTIONAL_INT64, OPTIONAL_STRING, STRING
from penstock.pipeline.connect.errors import DataError

if TYPE_CHECKING:
    from psycopg.abc import Transformer

UNAVAILABLE: Final = "__debezium_unavailable_value"
"""In place of a large value that did not change and is not sent."""
_WHOLE_NUMBERS: Final = ("int2", "int4", "int8")
_INFINITE: Final[dict[str, dict[bytes, Any]]] = {
    DATE_NAME: {b"infinity": date.max, b"-infinity": date.min},
    TIMESTAMP_NAME: {
        b"infinity": datetime.max.replace(tzinfo=UTC),
        b"-infinity": datetime.min.replace(tzinfo=UTC),
    },
}
SOURCE: Final = (
    SchemaBuilder.struct()
    .name("io.debezium.connector.postgresql.Source")
    .field("version", STRING)
    .field("connector", STRING)
    .field("name", STRING)
    .field("ts_ms", INT64)
    .field("snapshot", OPTIONAL_STRING)
    .field("db", STRING)
    .field("schema", STRING)
    .field("table", STRING)
    .field("txId", OPTIONAL_INT64)
    .field("lsn", OPTIONAL_INT64)
    .build()
)
VERSION: Final = "1.0.0"


_PLAIN: Final[dict[Type, Callable[[Any], Any]]] = {
    Type.STRING: bytes.decode,
    Type.BOOLEAN: lambda data: data == b"t",
    **dict.fromkeys((Type.INT16, Type.INT32, Type.INT64), int),
    **dict.fromkeys((Type.FLOAT32, Type.FLOAT64), float),
}
"""Of text, without a detour."""


class TypeOfColumn(NamedTuple):
    """A domain's is that of what it is made of."""

    name: str
    oid: int
    modifier: int


Types = Mapping[int, TypeOfColumn]
Load = Callable[[Any], Any]


class TableShape:
    """Of a table as it was at some time; another one when its columns change."""

    def __init__(
        self,
        prefix: str,
        database: str,
        relation: Relation,
        key_names: Sequence[str],
        types: Types,
        dialect: Postgres,
        texts: Transformer,
    ) -> None:
        self.name = TableName(relation.schema, relation.name)
        self.topic = re.sub(r"[^a-zA-Z0-9._-]", "_", f"{prefix}.{self.name}")
        self._prefix, self._database = prefix, database
        positions = {column.name: number for number, column in enumerate(relation.columns)}
        self._key_positions = [positions[name] for name in key_names if name in positions]
        schemas, self._loads, self._is_whole = [], [], []
        for number, column in enumerate(relation.columns):
            schema, load = self._column(column, types, dialect, texts)
            schemas.append(schema if number in self._key_positions else schema.as_optional())
            self._loads.append(load)
            self._is_whole.append(_type(column, types).name in _WHOLE_NUMBERS)
        self.names = [column.name for column in relation.columns]
        self._unavailable = [_unavailable(schema) for schema in schemas]
        self._optional_value = _struct(f"{self.topic}.Value", self.names, schemas).as_optional()
        self.key_schema = self._key_schema(schemas)
        self.envelope = self._envelope()

    def _column(
        self, column: RelationColumn, types: Types, dialect: Postgres, texts: Transformer
    ) -> tuple[Schema, Load]:
        import psycopg

        found = _type(column, types)
        schema = _schema_of(found, dialect)
        if schema.name is None and schema.type in _PLAIN:
            return schema, _PLAIN[schema.type]
        infinite = _INFINITE.get(schema.name or "", {})
        loader = texts.get_loader(found.oid, psycopg.pq.Format.TEXT)

        def load(data: Any) -> Any:
            try:
                return infinite[data] if data in infinite else dialect.value_of(schema, loader.load(data))
            except (psycopg.Error, ValueError, ArithmeticError) as error:
                raise DataError(
                    f"{self.name}.{column.name}: {bytes(data)!r} has no counterpart: {error}"
                ) from error

        return schema, load

    def _key_schema(self, schemas: Sequence[Schema]) -> Schema | None:
        if not self._key_positions:
            return None
        names = [self.names[each] for each in self._key_positions]
        return _struct(f"{self.topic}.Key", names, [schemas[each] for each in self._key_positions])

    def _envelope(self) -> Schema:
        return (
            SchemaBuilder.struct()
            .name(f"{self.topic}.Envelope")
            .version(1)
            .field("before", self._optional_value)
            .field("after", self._optional_value)
            .field("source", SOURCE)
            .field("op", STRING)
            .field("ts_ms", OPTIONAL_INT64)
            .build()
        )

    # --- of a row

    def row(self, row: Row) -> Struct:
        return Struct.of(self._optional_value, self._values(row))

    def _values(self, row: Row) -> list[Any]:
        if len(row) != len(self._loads):
            raise DataError(f"{self.name}: got a row of {len(row)} values; takes {len(self._loads)}")
        return [
            None if data is None else unavailable if data is UNCHANGED else load(data)
            for data, load, unavailable in zip(row, self._loads, self._unavailable, strict=True)
        ]

    def key(self, row: Row) -> Struct | None:
        if self.key_schema is None:
            return None
        return Struct.of(self.key_schema, [self._loads[each](row[each]) for each in self._key_positions])

    def sort_key(self, row: Row) -> Key:
        return tuple(
            int(row[each]) if self._is_whole[each] else row[each].decode() for each in self._key_positions
        )

    def order_by(self, quote: Callable[[str], str]) -> list[str]:
        """Expressions whose order is that of `sort_key`: concat() writes a value as the stream does."""
        names = [quote(self.names[each]) for each in self._key_positions]
        return [
            name if self._is_whole[each] else f'concat({name}) COLLATE "C"'
            for name, each in zip(names, self._key_positions, strict=True)
        ]

    def event(
        self, op: str, before: Struct | None, after: Struct | None, source: Struct, now_ms: int
    ) -> Struct:
        return Struct.of(self.envelope, [before, after, source, op, now_ms])

    def source(self, ts_ms: int, snapshot: str, xid: int | None, lsn: int | None) -> Struct:
        place = (self._database, self.name.schema, self.name.name)
        return Struct.of(SOURCE, [VERSION, "postgresql", self._prefix, ts_ms, snapshot, *place, xid, lsn])


def _struct(name: str, names: Sequence[str], schemas: Sequence[Schema]) -> Schema:
    builder = SchemaBuilder.struct().name(name)
    for each, schema in zip(names, schemas, strict=True):
        builder.field(each, schema)
    return builder.build()


def _type(column: RelationColumn, types: Types) -> TypeOfColumn:
    found = types.get(column.type_oid) or TypeOfColumn("text", 25, -1)  # a type that was dropped since
    return found if found.modifier >= 0 else found._replace(modifier=column.modifier)


def _schema_of(found: TypeOfColumn, dialect: Postgres) -> Schema:
    """Text for what has no counterpart, and for exact numbers of any scale: nothing is rounded."""
    if found.name == "numeric" and found.modifier < 4:
        return STRING
    size, scale = ((found.modifier - 4) >> 16) & 0xFFFF, (found.modifier - 4) & 0x7FF
    column = Column(found.name, found.name, is_nullable=False, size=size, scale=scale)
    return dialect.schema_of(column, numeric.NONE) or STRING


def _unavailable(schema: Schema) -> Any:
    if schema.name is not None:
        return None
    return {Type.STRING: UNAVAILABLE, Type.BYTES: UNAVAILABLE.encode()}.get(schema.type)
