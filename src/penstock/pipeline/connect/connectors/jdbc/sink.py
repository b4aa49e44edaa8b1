"""Kafka's records as rows: the connector and its task.

A `put` is one transaction. Its records are written in their order, as runs that have the same table, schemas and
meaning (a row, or the deletion of one); each run is one statement. Where a primary key comes twice in a run of
upserts, the last one counts, as it would in the end anyway. Records that come as columns are written as such where
that gives the same rows, and else as records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from penstock.pipeline.connect.api import ConfigDef, SinkConnector, SinkTask
from penstock.pipeline.connect.connectors.jdbc import sink_config
from penstock.pipeline.connect.connectors.jdbc.databases import database_of, translated_errors
from penstock.pipeline.connect.connectors.jdbc.dialect import TableName, Upsert, split_table_name
from penstock.pipeline.connect.connectors.jdbc.remembered_offsets import RememberedOffsets
from penstock.pipeline.connect.connectors.jdbc.row_layout import RowLayout, layout_of
from penstock.pipeline.connect.connectors.jdbc.sink_columns import as_rows, last_of_each_key
from penstock.pipeline.connect.connectors.jdbc.tables import Tables
from penstock.pipeline.connect.data import SinkRecord, Type
from penstock.pipeline.connect.data.columns import SinkColumns
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError

if TYPE_CHECKING:
    from pyarrow import Table

TopicPartition = tuple[str, int]
Run = tuple[str, Any, Any, bool]
"""Topic, the schemas of key and value, and whether it is a tombstone."""


class JdbcSinkTask(SinkTask):
    def start(self, configs: Mapping[str, str]) -> None:
        self._settings = settings = sink_config.SINK_KEYS.parse(configs)
        self._database = database_of(settings)
        self._tables = Tables(self._database, settings)
        self._layouts: dict[Run, RowLayout] = {}
        self._retries_left = settings["max.retries"]
        connector = configs.get("name", "")
        table = settings["offsets.table"]
        self._remembered = RememberedOffsets(self._database, table, connector) if table else None
        self.takes_columns = settings["pk.mode"] != sink_config.RECORD_KEY  # they have no keys

    def open(self, partitions: Sequence[TopicPartition]) -> None:
        if self._remembered is not None:
            self._connect()
            with translated_errors(self._database, "cannot read the remembered offsets"):
                known = self._remembered.read()
            self.context.offset({each: known[each] for each in partitions if each in known})

    def put(self, records: Sequence[SinkRecord]) -> None:
        if not records:
            return
        try:
            self._write(records)
        except RetriableConnectError:
            self._tables.forget()
            if self._retries_left <= 0:
                raise
            self._retries_left -= 1
            self.context.timeout(self._settings["retry.backoff.ms"])
            raise
        except ConnectError:
            self._tables.forget()
            self._undo()
            raise
        self._retries_left = self._settings["max.retries"]

    def stop(self) -> None:
        self._database.close()

    def _connect(self) -> None:
        if not self._database.is_connected:
            self._database.connect()

    def _undo(self) -> None:
        with translated_errors(self._database, "cannot roll back"):
            self._database.rollback()

    def _write(self, records: Sequence[SinkRecord]) -> None:
        self._connect()
        with translated_errors(self._database, _range_of(records)):
            if not (isinstance(records, SinkColumns) and self._write_columns(records)):
                for run, of_run in groupby(records, _run_of):
                    self._write_run(run, list(of_run))
            if self._remembered is not None:
                self._remembered.write(_offsets_after(records))
            self._database.commit()

    def _write_columns(self, columns: SinkColumns) -> bool:
        """Whether they are written; if not, they have to be as records."""
        schema, mode = columns.schema, self._settings["insert.mode"]
        if not self.takes_columns or schema is None or schema.type is not Type.STRUCT:
            return False
        layout = self._layout((columns.topic, None, schema, False), columns)
        rows = as_rows(columns, layout, self._settings["pk.mode"])
        if rows is None or (mode != sink_config.INSERT and not layout.keys):
            return False
        table = self._table_of(columns.topic)
        if not self._database.takes_table(rows, self._tables.prepare(table, layout)):
            return False
        if mode != sink_config.INSERT:
            rows = last_of_each_key(rows, len(layout.keys))
        self._table_writers()[mode](
            Upsert(table, layout.names, layout.keys), rows, self._settings["batch.size"]
        )
        return True

    def _table_writers(self) -> dict[str, Callable[[Upsert, Table, int], None]]:
        database = self._database
        return {
            sink_config.INSERT: database.insert_table,
            sink_config.UPSERT: database.upsert_table,
            sink_config.UPDATE: database.update_table,
        }

    def _table_of(self, topic: str) -> TableName:
        return split_table_name(self._settings["table.name.format"].replace("${topic}", topic))

    def _layout(self, run: Run, records: Sequence[SinkRecord]) -> RowLayout:
        layout = self._layouts.get(run)
        if layout is None:
            layout = self._layouts[run] = layout_of(records[0], self._settings)
        return layout

    def _write_run(self, run: Run, records: list[SinkRecord]) -> None:
        table = self._table_of(run[0])
        is_tombstone = run[3]
        if is_tombstone and not self._settings["delete.enabled"]:
            if self._settings["pk.mode"] == sink_config.RECORD_KEY:
                return  # nothing to write, and nothing is to be deleted
            raise ConnectError(
                f"{_where(records[0])}: a tombstone, which needs delete.enabled=true and pk.mode=record_key"
            )
        layout = self._layout(run, records)
        self._tables.prepare(table, layout)
        for some in _at_most(self._settings["batch.size"], records):
            if is_tombstone:
                self._database.delete(table, layout.keys, list(map(layout.key, some)))
            else:
                self._write_rows(table, layout, some)

    def _write_rows(self, table: TableName, layout: RowLayout, records: Sequence[SinkRecord]) -> None:
        rows = Upsert(table, layout.names, layout.keys)
        mode = self._settings["insert.mode"]
        if mode == sink_config.INSERT:
            self._database.insert(rows, list(map(layout.row, records)))
            return
        last = {layout.key(each): each for each in records}
        write = self._database.upsert if mode == sink_config.UPSERT else self._database.update
        write(rows, list(map(layout.row, last.values())))


class JdbcSinkConnector(SinkConnector):
    """Writes records to tables of PostgreSQL or SQLite."""

    task_class = JdbcSinkTask
    config_def: ClassVar[ConfigDef] = sink_config.SINK_KEYS

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self.configs)] * max_tasks

    def validate(self, configs: Mapping[str, str]) -> dict[str, list[str]]:
        settings = sink_config.SINK_KEYS.parse(configs)
        errors: dict[str, list[str]] = {}
        mode, keys = settings["pk.mode"], settings["pk.fields"]
        if settings["insert.mode"] != sink_config.INSERT and mode == sink_config.NONE:
            errors["pk.mode"] = [
                f"pk.mode: got none; insert.mode={settings['insert.mode']} needs a primary key"
            ]
        if settings["delete.enabled"] and mode != sink_config.RECORD_KEY:
            errors["delete.enabled"] = [
                f"delete.enabled: needs pk.mode=record_key, since a tombstone has nothing but a key; pk.mode is {mode}"
            ]
        if mode == sink_config.KAFKA and len(keys) not in (0, 3):
            errors["pk.fields"] = [
                f"pk.fields: got {len(keys)} names; takes three with pk.mode=kafka: topic, partition, offset"
            ]
        return errors


def _run_of(record: SinkRecord) -> Run:
    return record.topic, record.key_schema, record.value_schema, record.value is None


def _at_most(size: int, records: Sequence[SinkRecord]) -> Iterable[Sequence[SinkRecord]]:
    for start in range(0, len(records), size):
        yield records[start : start + size]


def _offsets_after(records: Sequence[SinkRecord]) -> dict[TopicPartition, int]:
    if isinstance(records, SinkColumns):
        places = zip(records.partitions, records.offsets, strict=True)
        return {(records.topic, partition): offset + 1 for partition, offset in places}
    return {(each.original_topic, each.original_partition): each.original_offset + 1 for each in records}


def _where(record: SinkRecord) -> str:
    return f"{record.original_topic}-{record.original_partition} at offset {record.original_offset}"


def _range_of(records: Sequence[SinkRecord]) -> str:
    if len(records) == 1:
        return f"cannot write {_where(records[0])}"
    return f"cannot write {len(records)} records from {_where(records[0])} to {_where(records[-1])}"
