"""PostgreSQL, through psycopg.

Many rows at once go in by COPY, which takes a third of the time of INSERT; an upsert copies into a temporary table
and merges that, in one statement. COPY has no use for pieces: columns go in by one, however many rows they have.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, cast

from penstock.pipeline.connect.connectors.jdbc import postgres_csv
from penstock.pipeline.connect.connectors.jdbc.dialect import (
    Column,
    Described,
    Dialect,
    NewColumn,
    TableName,
    Upsert,
)
from penstock.pipeline.connect.connectors.jdbc.numeric import exact_number
from penstock.pipeline.connect.connectors.jdbc.url import DatabaseUrl
from penstock.pipeline.connect.data import Schema, SchemaBuilder, Type
from penstock.pipeline.connect.data.logical import (
    DATE,
    DATE_NAME,
    DECIMAL_NAME,
    TIME,
    TIME_NAME,
    TIMESTAMP,
    TIMESTAMP_NAME,
    scale_of,
)
from penstock.pipeline.connect.data.schema import (
    BOOLEAN,
    BYTES,
    FLOAT32,
    FLOAT64,
    INT16,
    INT32,
    INT64,
    STRING,
)
from penstock.pipeline.connect.errors import ConnectError

if TYPE_CHECKING:
    from psycopg import Connection
    from pyarrow import Table

CONNECT_SECONDS = 10
SCHEMA_OF_TYPE = {
    "bool": BOOLEAN,
    "int2": INT16,
    "int4": INT32,
    "int8": INT64,
    "oid": INT64,
    "float4": FLOAT32,
    "float8": FLOAT64,
    "bytea": BYTES,
    "date": DATE,
    "time": TIME,
    "timestamp": TIMESTAMP,
    "timestamptz": TIMESTAMP,
    **dict.fromkeys(
        ("text", "varchar", "bpchar", "char", "name", "json", "jsonb", "uuid", "xml", "citext"), STRING
    ),
    **dict.fromkeys(("interval", "inet", "cidr", "macaddr", "tsvector", "enum", "money", "timetz"), STRING),
}
TYPE_OF_LOGICAL = {DECIMAL_NAME: "DECIMAL", DATE_NAME: "DATE", TIME_NAME: "TIME", TIMESTAMP_NAME: "TIMESTAMP"}
TYPE_OF = {
    Type.INT8: "SMALLINT",
    Type.INT16: "SMALLINT",
    Type.INT32: "INT",
    Type.INT64: "BIGINT",
    Type.FLOAT32: "REAL",
    Type.FLOAT64: "DOUBLE PRECISION",
    Type.BOOLEAN: "BOOLEAN",
    Type.STRING: "TEXT",
    Type.BYTES: "BYTEA",
}

_COLUMNS = """
    SELECT a.attname, CASE WHEN t.typtype = 'e' THEN 'enum' ELSE t.typname END, NOT a.attnotnull,
           coalesce(a.attnum = ANY (i.indkey), false), a.atthasdef OR a.attidentity <> '',
           CASE WHEN t.typname = 'numeric' AND a.atttypmod >= 4 THEN ((a.atttypmod - 4) >> 16) & 65535 END,
           CASE WHEN t.typname = 'numeric' AND a.atttypmod >= 4 THEN (a.atttypmod - 4) & 2047 END
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
    WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped
"""
_TABLES = """
    SELECT table_schema, table_name FROM information_schema.tables
    WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
      AND table_type = ANY (%s) AND (%s::text IS NULL OR table_schema LIKE %s)
    ORDER BY 1, 2
"""
_PASSING_REFUSALS = ("starting up", "shutting down", "recovery", "too many")
_KINDS_OF_TABLES = {"TABLE": "BASE TABLE", "VIEW": "VIEW"}


class Postgres(Dialect):
    name = "PostgreSQL"
    placeholder = "%s"
    lasting_states: ClassVar[tuple[str, ...]] = ("28", "3D", "42", "22", "23")
    """SQL states that waiting does not change: authorization, no such database, syntax, data, constraints."""

    def __init__(self, url: DatabaseUrl, user: str | None = None, password: str | None = None) -> None:
        import psycopg

        self.driver_errors = (psycopg.Error,)  # type: ignore[misc]
        self._url = url
        self._login = {"user": user, "password": password}
        self._connection: Connection[tuple[Any, ...]] | None = None
        self._stages = 0

    def connect(self) -> None:
        import psycopg

        options: dict[str, Any] = {"connect_timeout": CONNECT_SECONDS, **self._url.options}
        options |= {name: value for name, value in self._login.items() if value}
        try:
            self._connection = psycopg.connect(
                host=self._url.host, port=self._url.port, dbname=self._url.database, **options
            )
            self._connection.execute("SET TIME ZONE 'UTC'")
            self._connection.commit()
        except psycopg.Error as error:
            raise self.translated(error, "cannot connect") from error

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    @property
    def is_connected(self) -> bool:
        return self._connection is not None and not self._connection.closed

    @property
    def _open(self) -> Connection[tuple[Any, ...]]:
        assert self._connection is not None
        return self._connection

    def begin(self) -> None:
        """A transaction that sees one state of the database from its first statement to its end."""
        self._open.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    def commit(self) -> None:
        self._open.commit()

    def rollback(self) -> None:
        if self.is_connected:
            self._open.rollback()

    def execute(self, sql: str, values: Sequence[Any] = ()) -> None:
        self._open.execute(sql, values or None)

    # asking

    def now(self) -> datetime:
        found = self._open.execute("SELECT clock_timestamp()").fetchone()
        assert found is not None
        return cast(datetime, found[0]).astimezone(UTC)

    def tables(self, schema_pattern: str | None, types: Sequence[str]) -> list[TableName]:
        kinds = [_KINDS_OF_TABLES[each] for each in types if each in _KINDS_OF_TABLES]
        found = self._open.execute(_TABLES, (kinds, schema_pattern, schema_pattern)).fetchall()
        return [TableName(*row) for row in found]

    def columns(self, table: TableName) -> list[Column]:
        found = self._open.execute(f"{_COLUMNS} ORDER BY a.attnum", (self.quote_table(table),))
        return [Column(*row) for row in found]

    def columns_of_query(self, query: str) -> list[Column]:
        """Of a table's columns it is known whether they may be null; of what is computed, it is not."""
        cursor = self._open.execute(f"SELECT * FROM ({query}) AS q LIMIT 0")
        assert cursor.description is not None
        assert cursor.pgresult is not None
        result, described = cursor.pgresult, cursor.description
        return [
            self._of_result(each, result.ftable(number), result.ftablecol(number))
            for number, each in enumerate(described)
        ]

    def _of_result(self, described: Any, table: int, attribute: int) -> Column:
        if table:
            found = self._open.execute(
                f"{_COLUMNS.replace('to_regclass(%s)', '%s::oid')} AND a.attnum = %s", (table, attribute)
            ).fetchone()
            if found is not None:
                return Column(described.name, *found[1:])
        row = self._open.execute(
            "SELECT CASE WHEN typtype = 'e' THEN 'enum' ELSE typname END FROM pg_type WHERE oid = %s",
            (described.type_code,),
        ).fetchone()
        assert row is not None
        return Column(described.name, row[0], size=described.precision, scale=described.scale)

    def rows(self, sql: str, values: Sequence[Any], at_once: int) -> Generator[list[tuple[Any, ...]]]:
        with self._open.cursor("penstock") as cursor:
            cursor.itersize = at_once
            cursor.execute(sql, values or None)
            while found := cursor.fetchmany(at_once):
                yield found

    def schema_of(self, column: Column, numeric_mapping: str) -> Schema | None:
        schema = self._plain_schema(column, numeric_mapping)
        return schema.as_optional() if schema is not None and column.is_nullable else schema

    def _plain_schema(self, column: Column, numeric_mapping: str) -> Schema | None:
        if column.type == "numeric":
            return exact_number(column.size, column.scale, numeric_mapping)
        if column.type.startswith("_"):
            inner = SCHEMA_OF_TYPE.get(column.type[1:])
            return None if inner is None else SchemaBuilder.array(inner.as_optional()).build()
        return SCHEMA_OF_TYPE.get(column.type)

    def value_of(self, schema: Schema, value: Any) -> Any:
        if isinstance(value, datetime):
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        if isinstance(value, Decimal):
            return _number(schema, value)
        if schema.type is Type.ARRAY:
            assert schema.value_schema is not None
            return [None if item is None else self.value_of(schema.value_schema, item) for item in value]
        if schema.type is Type.STRING and not isinstance(value, str):
            return _text(value)
        return value

    def moment(self, at: datetime) -> Any:
        return at.astimezone(UTC).replace(tzinfo=None)

    # changing

    def lock_tables(self) -> None:
        """`CREATE TABLE IF NOT EXISTS` does not do: of two at the same moment, one fails."""
        self.execute("SELECT pg_advisory_xact_lock(hashtext('penstock creates and extends tables'))")

    def column_type(self, column: NewColumn) -> str:
        schema = column.schema
        if schema.name in TYPE_OF_LOGICAL:
            return TYPE_OF_LOGICAL[schema.name]
        if schema.type is Type.ARRAY and schema.value_schema is not None:
            return f"{self.column_type(NewColumn(column.name, schema.value_schema))}[]"
        if schema.type not in TYPE_OF:
            raise ConnectError(
                f"field {column.name!r}: a {schema.type.value} has no column's type in PostgreSQL; "
                "flatten it, or leave it out with fields.whitelist"
            )
        return TYPE_OF[schema.type]

    def insert(self, rows: Upsert, values: Sequence[Sequence[Any]]) -> None:
        self._copy(self.quote_table(rows.table), rows, values)

    def upsert(self, rows: Upsert, values: Sequence[Sequence[Any]]) -> None:
        staged = self._stage(rows)
        self._copy(staged, rows, values)
        self._upsert_from(staged, rows)

    def update(self, rows: Upsert, values: Sequence[Sequence[Any]]) -> None:
        staged = self._stage(rows)
        self._copy(staged, rows, values)
        self._update_from(staged, rows)

    def takes_table(self, values: Table, columns: Described) -> bool:
        return postgres_csv.is_csv_for(values, columns)

    def insert_table(self, rows: Upsert, values: Table, at_once: int) -> None:
        self._copy_table(self.quote_table(rows.table), rows, values)

    def upsert_table(self, rows: Upsert, values: Table, at_once: int) -> None:
        staged = self._stage(rows)
        self._copy_table(staged, rows, values)
        self._upsert_from(staged, rows)

    def update_table(self, rows: Upsert, values: Table, at_once: int) -> None:
        staged = self._stage(rows)
        self._copy_table(staged, rows, values)
        self._update_from(staged, rows)

    def delete(self, table: TableName, keys: Sequence[str], values: Sequence[Sequence[Any]]) -> None:
        same = " AND ".join(f"{self.quote(each)}=%s" for each in keys)
        with self._open.cursor() as cursor:
            cursor.executemany(f"DELETE FROM {self.quote_table(table)} WHERE {same}", values)

    def _stage(self, rows: Upsert) -> str:
        """A temporary table of this transaction, for such rows; its name."""
        self._stages += 1
        name = f"pg_temp.penstock_rows_{self._stages}"
        self.execute(
            f"CREATE TEMPORARY TABLE {name.removeprefix('pg_temp.')} ON COMMIT DROP AS "
            f"SELECT {self._names(rows.columns)} FROM {self.quote_table(rows.table)} WITH NO DATA"
        )
        return name

    def _upsert_from(self, staged: str, rows: Upsert) -> None:
        names, keys = self._names(rows.columns), self._names(rows.keys)
        others = [self.quote(each) for each in rows.columns if each not in rows.keys]
        what = (
            f"UPDATE SET {', '.join(f'{name}=EXCLUDED.{name}' for name in others)}" if others else "NOTHING"
        )
        self.execute(
            f"INSERT INTO {self.quote_table(rows.table)} ({names}) SELECT {names} FROM {staged} "
            f"ON CONFLICT ({keys}) DO {what}"
        )

    def _update_from(self, staged: str, rows: Upsert) -> None:
        others = [self.quote(each) for each in rows.columns if each not in rows.keys]
        same = [f"t.{self.quote(each)}=s.{self.quote(each)}" for each in rows.keys]
        self.execute(
            f"UPDATE {self.quote_table(rows.table)} AS t SET {', '.join(f'{name}=s.{name}' for name in others)} "
            f"FROM {staged} AS s WHERE {' AND '.join(same)}"
        )

    def _copy(self, where: str, rows: Upsert, values: Sequence[Sequence[Any]]) -> None:
        sql = f"COPY {where} ({self._names(rows.columns)}) FROM STDIN"
        with self._open.cursor() as cursor, cursor.copy(sql) as copy:
            for row in values:
                copy.write_row(row)

    def _copy_table(self, where: str, rows: Upsert, values: Table) -> None:
        sql = f"COPY {where} ({self._names(rows.columns)}) FROM STDIN {postgres_csv.OPTIONS}"
        with self._open.cursor() as cursor, cursor.copy(sql) as copy:
            for some in postgres_csv.csv_of(values):
                copy.write(some)

    def _names(self, columns: Sequence[str]) -> str:
        return ", ".join(map(self.quote, columns))

    def may_pass(self, error: Exception) -> bool:
        import psycopg

        state = getattr(error, "sqlstate", None)
        if state is None:  # it could not connect: no answer, or one that says why not
            is_refused = "FATAL:" in str(error) and not any(word in str(error) for word in _PASSING_REFUSALS)
            return isinstance(error, psycopg.OperationalError) and not is_refused
        return not state.startswith(self.lasting_states)


def _number(schema: Schema, value: Decimal) -> Any:
    if schema.name == DECIMAL_NAME:
        return value.quantize(Decimal(1).scaleb(-scale_of(schema)))
    return float(value) if schema.type is Type.FLOAT64 else int(value)


def _text(value: Any) -> str:
    import json

    if isinstance(value, dict | list | bool) or value is None:
        return json.dumps(value, ensure_ascii=False)
    return value.isoformat() if isinstance(value, date | time) else str(value)
