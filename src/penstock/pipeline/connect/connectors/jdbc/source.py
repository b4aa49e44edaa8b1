"""Rows as records: the connector finds the tables and divides them, a task reads some of them in turn."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from penstock.pipeline.connect.api import ConfigDef, ConnectError, SourceConnector, SourceTask
from penstock.pipeline.connect.connectors.jdbc.databases import database_of, translated_errors
from penstock.pipeline.connect.connectors.jdbc.dialect import Dialect, TableName, split_table_name
from penstock.pipeline.connect.connectors.jdbc.source_config import (
    BOTH,
    INCREMENTING,
    SOURCE_KEYS,
    TABLES,
    TIMESTAMP,
)
from penstock.pipeline.connect.connectors.jdbc.source_table import SourceTable, partition_of
from penstock.pipeline.connect.data import SourceRecord

log = logging.getLogger("penstock.connect.jdbc")

MOST_WAIT_SECONDS = 0.5


class JdbcSourceTask(SourceTask):
    """The tables are asked in turn: each until it has no more, then again when `poll.interval.ms` is over."""

    def start(self, configs: Mapping[str, str]) -> None:
        self._settings = SOURCE_KEYS.parse(configs)
        self._database = database_of(self._settings)
        tables = [None] if self._settings["query"] else _tables_of(configs[TABLES])
        stored = self.context.offsets.offsets([partition_of(each) for each in tables])
        self._tables = [
            SourceTable(self._database, self._settings, table, offset)
            for table, offset in zip(tables, stored, strict=True)
        ]
        now_ms = _now_ms()
        self._due_ms = [table.due_ms(now_ms) for table in self._tables]

    def poll(self) -> Sequence[SourceRecord] | None:
        """A database that cannot be reached makes a poll that is asked again."""
        if not self._database.is_connected:
            self._database.connect()
        for _ in self._tables:
            number = min(range(len(self._tables)), key=self._due_ms.__getitem__)
            now_ms = _now_ms()
            if self._due_ms[number] > now_ms:
                self._wait((self._due_ms[number] - now_ms) / 1000)
                return None
            records = self._ask(number, now_ms)
            if records:
                return records
            self._due_ms[number] = now_ms + self._settings["poll.interval.ms"]
        return None

    def _ask(self, number: int, now_ms: int) -> list[SourceRecord]:
        table = self._tables[number]
        with translated_errors(self._database, f"cannot read {table.name}"):
            return table.next_records(now_ms)

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + min(seconds, MOST_WAIT_SECONDS)
        while not self.context.is_stopping() and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, 0.05))

    def stop(self) -> None:
        for table in self._tables:
            table.close()
        self._database.close()


class JdbcSourceConnector(SourceConnector):
    """Reads tables of PostgreSQL or SQLite, or a query."""

    task_class = JdbcSourceTask
    config_def: ClassVar[ConfigDef] = SOURCE_KEYS

    def start(self, configs: Mapping[str, str]) -> None:
        super().start(configs)
        self._settings = SOURCE_KEYS.parse(configs)
        self._found: list[TableName] = []
        self._stopped = threading.Event()
        if not self._settings["query"]:
            self._found = self._find_tables()
            threading.Thread(target=self._watch, name="jdbc-tables", daemon=True).start()

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        if self._settings["query"]:
            return [dict(self.configs)]
        count = min(max_tasks, len(self._found))
        return [{**self.configs, TABLES: _tables_text(self._found[number::count])} for number in range(count)]

    def stop(self) -> None:
        self._stopped.set()

    def validate(self, configs: Mapping[str, str]) -> dict[str, list[str]]:
        settings = SOURCE_KEYS.parse(configs)
        errors: dict[str, list[str]] = {}
        chosen = [name for name in ("query", "table.whitelist", "table.blacklist") if settings[name]]
        if len(chosen) > 1:
            errors |= {name: [f"{name}: takes only one of {', '.join(chosen)}"] for name in chosen}
        mode = settings["mode"]
        if mode in (TIMESTAMP, BOTH) and not settings["timestamp.column.name"]:
            errors["timestamp.column.name"] = [f"timestamp.column.name: is empty; mode={mode} needs it"]
        if mode in (INCREMENTING, BOTH) and settings["query"] and not settings["incrementing.column.name"]:
            errors["incrementing.column.name"] = ["incrementing.column.name: is empty; a query needs it"]
        if settings["query"] and not settings["topic.prefix"]:
            errors["topic.prefix"] = ["topic.prefix: is empty; with a query it is the topic"]
        return errors

    def _watch(self) -> None:
        seconds = self._settings["table.poll.interval.ms"] / 1000
        while not self._stopped.wait(seconds):
            try:
                found = self._find_tables()
            except ConnectError as error:
                log.warning("looking for tables: %s", error)
                continue
            if found != self._found:
                self._found = found
                self.context.request_task_reconfiguration()

    def _find_tables(self) -> list[TableName]:
        database = database_of(self._settings)
        database.connect()
        try:
            with translated_errors(database, "cannot list the tables"):
                return _chosen(database, self._settings)
        finally:
            database.close()


def _chosen(database: Dialect, settings: Mapping[str, Any]) -> list[TableName]:
    tables = database.tables(settings["schema.pattern"], settings["table.types"])
    wanted, unwanted = settings["table.whitelist"], settings["table.blacklist"]
    if wanted:
        return [each for each in tables if _is_named(each, wanted)]
    return [each for each in tables if not _is_named(each, unwanted)]


def _is_named(table: TableName, names: Sequence[str]) -> bool:
    asked = [split_table_name(name) for name in names]
    return any(table.name == each.name and each.schema in ("", table.schema) for each in asked)


def _tables_text(tables: Sequence[TableName]) -> str:
    return json.dumps(tables)


def _tables_of(text: str) -> list[TableName | None]:
    return [TableName(*each) for each in json.loads(text)]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
