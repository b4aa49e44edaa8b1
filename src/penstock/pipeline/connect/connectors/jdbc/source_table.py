"""One table, or the query, as a stream of records: asks for what is new, some rows at a time."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from typing import Any

from penstock.pipeline.connect.connectors.jdbc.dialect import Column, Dialect, TableName
from penstock.pipeline.connect.connectors.jdbc.source_config import BOTH, BULK, INCREMENTING, TIMESTAMP
from penstock.pipeline.connect.connectors.jdbc.source_queries import Offset, Reading, micros_of
from penstock.pipeline.connect.data import Schema, SchemaBuilder, SourceRecord, Struct
from penstock.pipeline.connect.data.schema import Type
from penstock.pipeline.connect.errors import ConnectError


class SourceTable:
    def __init__(
        self,
        database: Dialect,
        settings: Mapping[str, Any],
        table: TableName | None,
        stored: Mapping[str, Any] | None,
    ) -> None:
        self._database, self._settings, self._table = database, settings, table
        self.partition = partition_of(table)
        self._offset = Offset.from_stored(stored)
        self._rows: Generator[SourceRecord] | None = None

    @property
    def name(self) -> str:
        return "the query" if self._table is None else f"table {self._table}"

    def next_records(self, now_ms: int) -> list[SourceRecord]:
        """Some rows; none when there are no more for now."""
        if self._rows is None:
            self._rows = self._records(now_ms)
        records = list(islice(self._rows, self._settings["batch.max.rows"]))
        if not records:
            self._rows = None
            self._database.commit()
        return records

    def close(self) -> None:
        """Lets go of the query under way, and with it of the database's locks."""
        if self._rows is not None:
            self._rows.close()
        self._rows = None

    def due_ms(self, now_ms: int) -> int:
        """When it is to be asked first: a bulk that was read goes by the time that it began."""
        began = self._offset.bulk_began_ms
        if self._settings["mode"] != BULK or began is None or self._offset.rows:
            return now_ms
        return began + int(self._settings["poll.interval.ms"])

    def _records(self, now_ms: int) -> Generator[SourceRecord]:
        self._database.commit()
        columns = self._columns()
        reading = self._reading(columns)
        shape = _Shape(self._database, self._settings, self._table, columns)
        if reading.mode == BULK and not self._offset.rows:
            self._offset = Offset(bulk_began_ms=now_ms)
        sql, values = self._query(reading)
        skip = reading.to_skip(self._offset)
        with closing(self._database.rows(sql, values, self._settings["batch.max.rows"])) as batches:
            rows = islice((row for batch in batches for row in batch), skip, None)
            yield from self._with_offsets(reading, shape, rows)

    def _with_offsets(
        self, reading: Reading, shape: _Shape, rows: Iterator[tuple[Any, ...]]
    ) -> Iterator[SourceRecord]:
        """Of a bulk, the last row's offset says that it is complete."""
        held: Struct | None = None
        for row in rows:
            value = shape.struct(row)
            if held is not None:
                yield self._record(shape, held)
            self._offset = reading.after(self._offset, shape.number(value), shape.moment(value))
            held = value if reading.mode == BULK else None
            if held is None:
                yield self._record(shape, value)
        if reading.mode == BULK:
            self._offset = replace(self._offset, rows=0)
            if held is not None:
                yield self._record(shape, held)

    def _record(self, shape: _Shape, value: Struct) -> SourceRecord:
        return SourceRecord(self.partition, self._offset.stored(), shape.topic, value, shape.schema)

    def _query(self, reading: Reading) -> tuple[str, list[Any]]:
        database = self._database
        delay = timedelta(milliseconds=self._settings["timestamp.delay.interval.ms"])
        until = database.moment(database.now() - delay)
        moment = self._first_moment()
        return reading.sql(self._offset, until, None if moment is None else database.moment(moment))

    def _first_moment(self) -> Any:
        initial = self._settings["timestamp.initial"]
        if self._offset.timestamp is None and initial is not None:
            start = micros_of(self._database.now()) if initial == -1 else initial * 1000
            self._offset = replace(self._offset, timestamp=start)
        return self._offset.moment

    def _columns(self) -> list[Column]:
        if self._table is None:
            return self._database.columns_of_query(self._settings["query"])
        columns = self._database.columns(self._table)
        if not columns:
            raise ConnectError(f"{self.name} is not there")
        return columns

    def _reading(self, columns: Sequence[Column]) -> Reading:
        quote = self._database.quote
        mode = self._settings["mode"]
        number = _number_column(columns, self._settings) if mode in (INCREMENTING, BOTH) else ""
        times = tuple(self._settings["timestamp.column.name"]) if mode in (TIMESTAMP, BOTH) else ()
        self._check(columns, [name for name in (number, *times) if name], one_time=len(times) <= 1)
        return Reading(
            mode,
            f"({self._settings['query']}) AS q"
            if self._table is None
            else self._database.quote_table(self._table),
            quote(number) if number else "",
            tuple(self._database.comparable_time(quote(each)) for each in times),
            tuple(quote(each.name) for each in columns if each.is_key),
            self._settings["query.suffix"],
            self._database.placeholder,
        )

    def _check(self, columns: Sequence[Column], names: Sequence[str], *, one_time: bool) -> None:
        known = {each.name: each for each in columns}
        for name in names:
            if name not in known:
                raise ConnectError(f"{self.name} has no column {name!r}; it has {', '.join(known)}")
            is_checked = self._settings["validate.non.null"] and one_time and self._table is not None
            if is_checked and known[name].is_nullable:
                raise ConnectError(
                    f"{self.name}: column {name!r} may be NULL, so rows could be missed; make it NOT NULL, or set "
                    "validate.non.null=false"
                )


def partition_of(table: TableName | None) -> dict[str, str]:
    return {"query": "query"} if table is None else {"protocol": "1", "table": str(table)}


class _Shape:
    """The schema of the rows, and the columns that say where a row stands."""

    def __init__(
        self,
        database: Dialect,
        settings: Mapping[str, Any],
        table: TableName | None,
        columns: Sequence[Column],
    ) -> None:
        self._database = database
        self._settings = settings
        self._columns = columns
        prefix = settings["topic.prefix"]
        self.topic = prefix if table is None else f"{prefix}{table.name}"
        self._fields, self.schema = self._make_schema(table)
        self._number = _number_column(columns, settings) if settings["mode"] in (INCREMENTING, BOTH) else ""
        self._times = settings["timestamp.column.name"] if settings["mode"] in (TIMESTAMP, BOTH) else []

    def _make_schema(self, table: TableName | None) -> tuple[list[tuple[int, Schema]], Schema]:
        builder = SchemaBuilder(Type.STRUCT).name(table.name if table is not None else None)
        fields: list[tuple[int, Schema]] = []
        for number, column in enumerate(self._columns):
            schema = self._database.schema_of(column, self._settings["numeric.mapping"].lower())
            if schema is not None:
                builder.field(column.name, schema)
                fields.append((number, schema))
        return fields, builder.build()

    def struct(self, row: tuple[Any, ...]) -> Struct:
        convert = self._database.value_of
        return Struct.of(
            self.schema,
            [
                None if row[number] is None else convert(schema, row[number])
                for number, schema in self._fields
            ],
        )

    def number(self, value: Struct) -> int | None:
        return int(value.get(self._number)) if self._number else None

    def moment(self, value: Struct) -> Any:
        found = [value.get(name) for name in self._times]
        return next((each for each in found if each is not None), None)


def _number_column(columns: Sequence[Column], settings: Mapping[str, Any]) -> str:
    given = settings["incrementing.column.name"]
    if given:
        return str(given)
    numbered = [each.name for each in columns if each.is_key and each.has_default] or [
        each.name for each in columns if each.is_key and "int" in each.type.lower()
    ]
    if len(numbered) != 1:
        raise ConnectError(
            "incrementing.column.name: is empty, and not exactly one column is numbered by the database"
        )
    return numbered[0]
