"""What a database must be able to do for the connectors, and what each says in its own way."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from penstock.pipeline.connect.data import Schema
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError

if TYPE_CHECKING:
    from pyarrow import Table


class TableName(NamedTuple):
    """`schema` is empty where the database's own search decides."""

    schema: str
    name: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}" if self.schema else self.name


@dataclass(frozen=True, slots=True)
class Column:
    """`type` is what the database calls it; `size` and `scale` are those of numbers, where they were said."""

    name: str
    type: str
    is_nullable: bool = True
    is_key: bool = False
    has_default: bool = False
    size: int | None = None
    scale: int | None = None


@dataclass(frozen=True, slots=True)
class NewColumn:
    name: str
    schema: Schema
    is_key: bool = False


@dataclass(frozen=True, slots=True)
class Upsert:
    """Rows for one table: those of `columns`, of which `keys` say which row is meant."""

    table: TableName
    columns: tuple[str, ...]
    keys: tuple[str, ...]


class Dialect:
    """One connection to one database. Errors of the driver leave as ConnectErrors: retriable where waiting may help."""

    name: ClassVar[str]
    driver_errors: ClassVar[tuple[type[Exception], ...]]

    def connect(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    @property
    def is_connected(self) -> bool:
        raise NotImplementedError

    def commit(self) -> None:
        raise NotImplementedError

    def rollback(self) -> None:
        raise NotImplementedError

    def execute(self, sql: str, values: Sequence[Any] = ()) -> None:
        raise NotImplementedError

    # asking

    def now(self) -> datetime:
        """The database's clock, in UTC."""
        raise NotImplementedError

    def tables(self, schema_pattern: str | None, types: Sequence[str]) -> list[TableName]:
        raise NotImplementedError

    def columns(self, table: TableName) -> list[Column]:
        """None of a table that is not there."""
        raise NotImplementedError

    def columns_of_query(self, query: str) -> list[Column]:
        raise NotImplementedError

    def rows(self, sql: str, values: Sequence[Any], at_once: int) -> Generator[list[tuple[Any, ...]]]:
        """The rows of a query, some at a time."""
        raise NotImplementedError

    def schema_of(self, column: Column, numeric_mapping: str) -> Schema | None:
        """What a column's values look like; None for a type that has no counterpart."""
        raise NotImplementedError

    def value_of(self, schema: Schema, value: Any) -> Any:
        """A value as the driver gave it, as the schema wants it."""
        raise NotImplementedError

    def moment(self, at: datetime) -> Any:
        """A moment as a parameter that is compared with a timestamp's column."""
        raise NotImplementedError

    def comparable_time(self, column: str) -> str:
        """A timestamp's column (quoted) as it is compared with moments."""
        return column

    # changing

    def lock_tables(self) -> None:
        """Other tasks that want to create or extend tables wait until this transaction is over."""
        raise NotImplementedError

    def column_type(self, column: NewColumn) -> str:
        raise NotImplementedError

    def insert(self, rows: Upsert, values: Sequence[Sequence[Any]]) -> None:
        raise NotImplementedError

    def upsert(self, rows: Upsert, values: Sequence[Sequence[Any]]) -> None:
        """`values` have each key once."""
        raise NotImplementedError

    def update(self, rows: Upsert, values: Sequence[Sequence[Any]]) -> None:
        raise NotImplementedError

    def takes_table(self, values: Table, columns: Described) -> bool:
        """Whether what `*_table` writes of these values is what the others would write of them as rows."""
        return True

    def insert_table(self, rows: Upsert, values: Table, at_once: int) -> None:
        for some in _rows_of(values, at_once):
            self.insert(rows, some)

    def upsert_table(self, rows: Upsert, values: Table, at_once: int) -> None:
        """`values` have each key once."""
        for some in _rows_of(values, at_once):
            self.upsert(rows, some)

    def update_table(self, rows: Upsert, values: Table, at_once: int) -> None:
        for some in _rows_of(values, at_once):
            self.update(rows, some)

    def delete(self, table: TableName, keys: Sequence[str], values: Sequence[Sequence[Any]]) -> None:
        raise NotImplementedError

    # words

    placeholder: ClassVar[str]

    def quote(self, name: str) -> str:
        escaped = name.replace('"', '""')
        return f'"{escaped}"'

    def quote_table(self, table: TableName) -> str:
        return ".".join(self.quote(part) for part in table if part)

    def translated(self, error: Exception, doing: str) -> ConnectError:
        kind = RetriableConnectError if self.may_pass(error) else ConnectError
        return kind(f"{self.name}: {doing}: {' '.join(str(error).split())}")

    def may_pass(self, error: Exception) -> bool:
        raise NotImplementedError


def _rows_of(values: Table, at_once: int) -> Iterator[list[tuple[Any, ...]]]:
    for start in range(0, len(values), at_once):
        columns = [each.to_pylist() for each in values.slice(start, at_once).columns]
        yield list(zip(*columns, strict=True))


def create_table(dialect: Dialect, table: TableName, columns: Sequence[NewColumn]) -> str:
    lines = [f"{dialect.quote(each.name)} {dialect.column_type(each)}{_nullity(each)}" for each in columns]
    keys = [dialect.quote(each.name) for each in columns if each.is_key]
    if keys:
        lines.append(f"PRIMARY KEY ({', '.join(keys)})")
    return f"CREATE TABLE {dialect.quote_table(table)} ({', '.join(lines)})"


def add_columns(dialect: Dialect, table: TableName, columns: Sequence[NewColumn]) -> list[str]:
    return [
        f"ALTER TABLE {dialect.quote_table(table)} "
        f"ADD COLUMN {dialect.quote(each.name)} {dialect.column_type(each)}{_nullity(each)}"
        for each in columns
    ]


def _nullity(column: NewColumn) -> str:
    return " NULL" if column.schema.optional and not column.is_key else " NOT NULL"


def split_table_name(text: str) -> TableName:
    """`schema.table`, or a table alone; quotes hold a name with dots together."""
    parts: list[str] = []
    word, quoted = "", False
    for letter in text:
        if letter == '"':
            quoted = not quoted
        elif letter == "." and not quoted:
            parts.append(word)
            word = ""
        else:
            word += letter
    parts.append(word)
    return TableName(parts[-2] if len(parts) > 1 else "", parts[-1])


Described = Mapping[str, Column]


def by_name(columns: Sequence[Column]) -> dict[str, Column]:
    return {each.name: each for each in columns}
