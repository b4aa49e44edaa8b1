"""A chunk of records as one commit of a Delta table, exactly once.

A commit to a Delta table may say how far an application is: `txn`, with the application's name and a number. Ours is
the name of the connector and the partition, and the number is the offset behind the chunk; so the records and the
position are there together, or neither is. Who begins reads the number.

A table of version n takes one commit n + 1: it is a file with that name. Who finds the name taken looks at what came
between. Appends of other partitions do no harm, and delta-rs tries the next name. A `txn` of the same application does:
then delta-rs gives up. So a task that was cut off and still writes, and the one that came in its place, may both try,
but whoever is first has the records in, and the other one, whose table is older than that commit, cannot get its own
in. Before each commit the table is looked at anew, and the number in it has to be the one that the last commit of this
task left: then no other task has been there up to this version, and delta-rs watches over all that come behind it.

A change of the table's columns is a conflict as well; then the chunk is fitted to the new columns and tried again. Data
files of a commit that failed belong to no version, and `VACUUM` removes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from penstock.pipeline.connect.connectors.lake.arrow import inferred_table, table_of
from penstock.pipeline.connect.connectors.lake.delta_tables import CommitConflict, DeltaPlace, delta_errors
from penstock.pipeline.connect.connectors.lake.delta_types import fitted
from penstock.pipeline.connect.connectors.lake.partitioners import Folder, delta_columns, folder_of
from penstock.pipeline.connect.data import Schema, SinkColumns, SinkRecord
from penstock.pipeline.connect.errors import ConnectError, DataError, RetriableConnectError

COMMIT_ATTEMPTS: Final = 10
"""Beside those that delta-rs makes itself against appends; each one looks at the table anew."""

NOWHERE: Final = -1
"""The number of a partition whose position was reset."""

_CODECS: Final = {"none": "UNCOMPRESSED", "lz4": "LZ4_RAW"}


class DeltaContent:
    """Rows that fit the table as it was when the chunk began, and each other."""

    def __init__(self, schema: Any, partition_by: Sequence[str], belongs_to: Folder) -> None:
        self._schema, self._partition_by, self._belongs_to = schema, partition_by, belongs_to
        self._pieces: list[Any] = []

    @property
    def is_empty(self) -> bool:
        return not self._pieces

    def add_columns(self, columns: SinkColumns) -> bool:
        """A null of a partition's column may mean that the record has no such field: that is said of records only."""
        table = columns.table
        if any(name not in table.column_names or table[name].null_count for name in self._partition_by):
            return False
        try:
            self._add(table)
        except DataError:
            return False
        return True

    def part_of(self, record: SinkRecord) -> Schema | None:
        self._belongs_to(record)
        return record.value_schema

    def add(self, schema: Schema | None, records: Sequence[SinkRecord]) -> None:
        values = [each.value for each in records]
        self._add(inferred_table(values) if schema is None else table_of(schema, values))

    def _add(self, table: Any) -> None:
        piece = fitted(table, self._schema, self._partition_by)
        self._schema = piece.schema
        self._pieces.append(piece)

    def fitted_to(self, schema: Any) -> Any:
        """All rows as one table, with the columns of a schema and perhaps more."""
        import pyarrow as pa

        for piece in self._pieces:
            schema = fitted(piece, schema, self._partition_by).schema
        return pa.concat_tables([fitted(piece, schema, self._partition_by) for piece in self._pieces])


class DeltaStore:
    """One partition's records in one table."""

    def __init__(self, place: DeltaPlace, table: str, application: str, settings: Mapping[str, Any]) -> None:
        self._place, self._topic, self._application = place, table, application
        self._uri = place.uri(table)
        self._partition_by = delta_columns(settings)
        self._belongs_to: Folder = folder_of(settings)
        codec = settings["parquet.codec"]
        self._codec = _CODECS.get(codec, codec.upper())
        self._table: Any | None = None
        self.next_offset: int | None = None

    def recover(self) -> None:
        self._look()
        self.next_offset = self._position()

    def content(self) -> DeltaContent:
        return DeltaContent(self._schema(), self._partition_by, self._belongs_to)

    def commit(self, start: int, end: int, content: DeltaContent) -> None:
        if self.next_offset is not None and start < self.next_offset:
            raise ConnectError(
                f"{self._uri}: offset {start} is in the table already, up to {self.next_offset}"
            )
        self._retried(lambda: self._try_commit(start, end, content))

    def go_on_at(self, offset: int | None) -> None:
        """Whatever was committed. A table that knows nothing of the partition needs no word."""
        self.recover()
        if self.next_offset is not None:
            self._retried(lambda: self._say(offset))

    def _retried(self, attempt: Callable[[], int | None]) -> None:
        trouble = ""
        for _ in range(COMMIT_ATTEMPTS):
            try:
                self.next_offset = attempt()
                return
            except CommitConflict as conflict:
                trouble = str(conflict)
        raise RetriableConnectError(trouble)

    def _try_commit(self, start: int, end: int, content: DeltaContent) -> int:
        self._look()
        found = self._position()
        if found != self.next_offset:
            if found is not None and found >= end:
                return found  # it got through, though the answer was lost; or another task's did
            raise ConnectError(f"{self._uri}: another task has taken over {self._application}")
        try:
            table = content.fitted_to(self._schema())
        except DataError as error:
            raise DataError(f"{self._application}, offsets {start} to {end - 1}: {error}") from error
        if self._table is None:
            self._place.create(self._topic, table.schema, self._partition_by)
            raise CommitConflict(f"{self._uri}: the table was not there")
        self._append(table, end)
        return end

    def _append(self, table: Any, end: int) -> None:
        from deltalake import WriterProperties, write_deltalake

        assert self._table is not None
        with self._committing():
            write_deltalake(
                self._table,
                table,
                mode="append",
                schema_mode="merge",
                writer_properties=WriterProperties(compression=self._codec),
                commit_properties=self._properties(end),
            )

    def _say(self, offset: int | None) -> int | None:
        self._look()
        assert self._table is not None
        with self._committing():
            self._table.create_write_transaction(
                [],
                "append",
                self._table.schema(),
                partition_by=self._partitions(),
                commit_properties=self._properties(NOWHERE if offset is None else offset),
            )
        return offset

    @contextmanager
    def _committing(self) -> Iterator[None]:
        assert self._table is not None
        before = self._table.version()
        with delta_errors(f"cannot write to the table {self._uri}"):
            yield
            self._table.update_incremental()
        self._place.flush(self._topic, before, self._table.version())

    def _properties(self, number: int) -> Any:
        from deltalake import CommitProperties, Transaction

        return CommitProperties(app_transactions=[Transaction(self._application, number)])

    def _look(self) -> None:
        if self._table is None:
            self._table = self._place.opened(self._topic)
        else:
            with delta_errors(f"cannot read the table {self._uri}"):
                self._table.update_incremental()
        found = self._partitions()
        if self._table is not None and found != self._partition_by:
            raise ConnectError(
                f"{self._uri}: the table is partitioned by {found}, the connector by {self._partition_by}: "
                "partition.field.name and the table have to agree"
            )

    def _partitions(self) -> list[str]:
        return [] if self._table is None else list(self._table.metadata().partition_columns)

    def _position(self) -> int | None:
        number = None if self._table is None else self._table.transaction_version(self._application)
        return None if number is None or number == NOWHERE else int(number)

    def _schema(self) -> Any:
        import pyarrow as pa

        return pa.schema([] if self._table is None else pa.schema(self._table.schema().to_arrow()))
