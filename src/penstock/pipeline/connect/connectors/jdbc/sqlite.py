"""SQLite, through Python's own module.

Columns have types by name only: what their values become goes by the declared name, as SQLite's own affinities do.
Timestamps may lie there as milliseconds, as seconds with a fraction in text, or as ISO text; they are written as text.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

from penstock.pipeline.connect.connectors.jdbc.dialect import Column, Dialect, NewColumn, TableName, Upsert
from penstock.pipeline.connect.connectors.jdbc.numeric import exact_number
from penstock.pipeline.connect.connectors.jdbc.url import DatabaseUrl
from penstock.pipeline.connect.data import Schema, Type
from penstock.pipeline.connect.data.logical import (
    DATE,
    DATE_NAME,
    DECIMAL_NAME,
    TIME,
    TIME_NAME,
    TIMESTAMP,
    TIMESTAMP_NAME,
    date_from_days,
    scale_of,
    time_from_millis,
    timestamp_from_millis,
)
from penstock.pipeline.connect.data.schema import BOOLEAN, BYTES, FLOAT64, INT64, STRING
from penstock.pipeline.connect.errors import ConnectError

BUSY_SECONDS = 5.0
_AFFINITIES = (
    ("BOOL", BOOLEAN),
    ("INT", INT64),
    ("CHAR", STRING),
    ("CLOB", STRING),
    ("TEXT", STRING),
    ("JSON", STRING),
    ("BLOB", BYTES),
    ("BYTEA", BYTES),
    ("REAL", FLOAT64),
    ("FLOA", FLOAT64),
    ("DOUB", FLOAT64),
    ("TIMESTAMP", TIMESTAMP),
    ("DATETIME", TIMESTAMP),
    ("DATE", DATE),
    ("TIME", TIME),
)
"""The first part of a declared type that is found in it, as SQLite itself decides."""
TYPE_OF_LOGICAL = {
    DECIMAL_NAME: "NUMERIC",
    DATE_NAME: "DATE",
    TIME_NAME: "TIME",
    TIMESTAMP_NAME: "TIMESTAMP",
}
TYPE_OF = {
    Type.INT8: "INTEGER",
    Type.INT16: "INTEGER",
    Type.INT32: "INTEGER",
    Type.INT64: "INTEGER",
    Type.FLOAT32: "REAL",
    Type.FLOAT64: "REAL",
    Type.BOOLEAN: "BOOLEAN",
    Type.STRING: "TEXT",
    Type.BYTES: "BLOB",
}
_ARGUMENTS = re.compile(r"\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")


class Sqlite(Dialect):
    name = "SQLite"
    placeholder = "?"
    driver_errors = (sqlite3.Error,)
    _WRITTEN: ClassVar[dict[type, Any]] = {
        Decimal: str,
        bool: int,
        datetime: lambda value: value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3],
        date: date.isoformat,
        time: time.isoformat,
    }

    def __init__(self, url: DatabaseUrl, user: str | None = None, password: str | None = None) -> None:
        self._path = url.database
        self._connection: sqlite3.Connection | None = None

    def connect(self) -> None:
        folder = Path(self._path).parent
        if self._path != ":memory:" and not folder.is_dir():
            raise ConnectError(f"connection.url: the folder {folder} of the SQLite database is not there")
        try:
            self._connection = sqlite3.connect(
                self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise self.translated(error, f"cannot open {self._path}") from error

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    @property
    def is_connected(self) -> bool:
        return self._connection is not None

    @property
    def _open(self) -> sqlite3.Connection:
        assert self._connection is not None
        return self._connection

    def _begin_to_write(self) -> None:
        if not self._open.in_transaction:
            self._open.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        if self._open.in_transaction:
            self._open.execute("COMMIT")

    def rollback(self) -> None:
        if self._connection is not None and self._open.in_transaction:
            self._open.execute("ROLLBACK")

    def execute(self, sql: str, values: Sequence[Any] = ()) -> None:
        self._begin_to_write()
        self._open.execute(sql, self._written(values))

    # asking

    def now(self) -> datetime:
        return datetime.now(UTC)

    def tables(self, schema_pattern: str | None, types: Sequence[str]) -> list[TableName]:
        kinds = {each.lower() for each in types}
        found = self._open.execute(
            "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite_%' ORDER BY name"
        )
        return [TableName("", name) for kind, name in found if kind in kinds]

    def columns(self, table: TableName) -> list[Column]:
        return [
            _column(name, declared, not is_required and not key, bool(key), default is not None)
            for _, name, declared, is_required, default, key in self._open.execute(
                f"PRAGMA table_info({self.quote(table.name)})"
            )
        ]

    def columns_of_query(self, query: str) -> list[Column]:
        self._open.execute("DROP VIEW IF EXISTS temp.penstock_query")
        self._open.execute(f"CREATE TEMP VIEW penstock_query AS {query}")
        found = self._open.execute("PRAGMA temp.table_info(penstock_query)").fetchall()
        self._open.execute("DROP VIEW temp.penstock_query")
        return [_column(name, declared, True, False, False) for _, name, declared, *_ in found]

    def rows(self, sql: str, values: Sequence[Any], at_once: int) -> Generator[list[tuple[Any, ...]]]:
        with closing(self._open.execute(sql, self._written(values))) as cursor:
            while found := cursor.fetchmany(at_once):
                yield found

    def schema_of(self, column: Column, numeric_mapping: str) -> Schema | None:
        named = column.type.upper()
        schema = next((schema for part, schema in _AFFINITIES if part in named), None)
        if schema is None:
            is_exact = named.startswith(("NUM", "DEC")) and column.size is not None
            schema = exact_number(column.size, column.scale, numeric_mapping) if is_exact else None
        if schema is None:
            schema = FLOAT64 if named.startswith(("NUM", "DEC")) else STRING
        return schema.as_optional() if column.is_nullable else schema

    def value_of(self, schema: Schema, value: Any) -> Any:
        convert = _READ.get(schema.name or schema.type)
        return value if convert is None else convert(schema, value)

    def moment(self, at: datetime) -> Any:
        return at

    def comparable_time(self, column: str) -> str:
        """As the text that moments are written as, whichever way it lies there."""
        form = "strftime('%Y-%m-%d %H:%M:%f'"
        return (
            f"CASE typeof({column}) WHEN 'text' THEN {form}, {column}) "
            f"ELSE {form}, {column} / 1000.0, 'unixepoch') END"
        )

    # changing

    def lock_tables(self) -> None:
        self._begin_to_write()

    def column_type(self, column: NewColumn) -> str:
        schema = column.schema
        if schema.name in TYPE_OF_LOGICAL:
            return TYPE_OF_LOGICAL[schema.name]
        if schema.type not in TYPE_OF:
            raise ConnectError(
                f"field {column.name!r}: a {schema.type.value} has no column's type in SQLite; "
                "flatten it, or leave it out with fields.whitelist"
            )
        return TYPE_OF[schema.type]

    def insert(self, rows: Upsert, values: Sequence[Sequence[Any]]) -> None:
        self._many(f"INSERT INTO {self._values_of(rows)}", values)

    def upsert(self, rows: Upsert, values: Sequence[Sequence[Any]]) -> None:
        others = [self.quote(each) for each in rows.columns if each not in rows.keys]
        what = (
            f"UPDATE SET {', '.join(f'{name}=excluded.{name}' for name in others)}" if others else "NOTHING"
        )
        keys = ", ".join(map(self.quote, rows.keys))
        self._many(f"INSERT INTO {self._values_of(rows)} ON CONFLICT ({keys}) DO {what}", values)

    def update(self, rows: Upsert, values: Sequence[Sequence[Any]]) -> None:
        others = [f"{self.quote(each)}=?" for each in rows.columns if each not in rows.keys]
        same = [f"{self.quote(each)}=?" for each in rows.keys]
        places = [
            *(number for number, each in enumerate(rows.columns) if each not in rows.keys),
            *map(rows.columns.index, rows.keys),
        ]
        self._many(
            f"UPDATE {self.quote_table(rows.table)} SET {', '.join(others)} WHERE {' AND '.join(same)}",
            [[row[place] for place in places] for row in values],
        )

    def delete(self, table: TableName, keys: Sequence[str], values: Sequence[Sequence[Any]]) -> None:
        same = " AND ".join(f"{self.quote(each)}=?" for each in keys)
        self._many(f"DELETE FROM {self.quote_table(table)} WHERE {same}", values)

    def _many(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        self._begin_to_write()
        self._open.executemany(sql, map(self._written, values))

    def _values_of(self, rows: Upsert) -> str:
        names = ", ".join(map(self.quote, rows.columns))
        return f"{self.quote_table(rows.table)} ({names}) VALUES ({', '.join('?' * len(rows.columns))})"

    def _written(self, values: Sequence[Any]) -> list[Any]:
        convert = self._WRITTEN
        return [convert[type(value)](value) if type(value) in convert else value for value in values]

    def quote_table(self, table: TableName) -> str:
        return self.quote(table.name)

    def may_pass(self, error: Exception) -> bool:
        return isinstance(error, sqlite3.OperationalError) and any(
            word in str(error) for word in ("locked", "busy", "disk", "full", "unable to open")
        )


def _column(name: str, declared: str, is_nullable: bool, is_key: bool, has_default: bool) -> Column:
    size = _ARGUMENTS.search(declared)
    precision, scale = (None, None) if size is None else size.groups()
    return Column(
        name,
        declared.partition("(")[0].strip(),
        is_nullable,
        is_key,
        has_default,
        None if precision is None else int(precision),
        None if scale is None else int(scale),
    )


def _read_moment(schema: Schema, value: Any) -> datetime:
    if isinstance(value, int | float):
        return timestamp_from_millis(int(value))
    moment = datetime.fromisoformat(value)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _read_decimal(schema: Schema, value: Any) -> Decimal:
    return Decimal(str(value)).quantize(Decimal(1).scaleb(-scale_of(schema)))


_READ: dict[Any, Any] = {
    TIMESTAMP_NAME: _read_moment,
    DATE_NAME: lambda _, value: (
        date_from_days(value) if isinstance(value, int) else date.fromisoformat(value[:10])
    ),
    TIME_NAME: lambda _, value: (
        time_from_millis(value) if isinstance(value, int) else time.fromisoformat(value)
    ),
    DECIMAL_NAME: _read_decimal,
    Type.BOOLEAN: lambda _, value: bool(value),
    Type.FLOAT64: lambda _, value: float(value),
    Type.STRING: lambda _, value: value if isinstance(value, str) else str(value),
    Type.BYTES: lambda _, value: value.encode() if isinstance(value, str) else value,
}
