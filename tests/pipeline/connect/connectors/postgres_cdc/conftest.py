"""A PostgreSQL for all tests, and a database with a slot of its own for each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import pytest

from penstock.pipeline.connect.connectors.postgres_cdc.source import PostgresTask
from penstock.pipeline.connect.data import SourceRecord
from tests.pipeline.connect.connectors.contexts import started
from tests.support.postgres import Postgres

_numbers = itertools.count()


class Captured:
    """The database of a test, and tasks that capture it."""

    def __init__(self, server: Postgres) -> None:
        self.server = server
        self.name = f"shop_{next(_numbers)}"
        self.configs = {
            "database.hostname": "127.0.0.1",
            "database.port": str(server.port),
            "database.user": "penstock",
            "database.password": "secret",
            "database.dbname": self.name,
            "topic.prefix": "shop",
            "slot.name": self.name,
            "poll.interval.ms": "1",
        }
        self._tasks: list[PostgresTask] = []
        self.run_at("postgres", f"CREATE DATABASE {self.name}")

    @property
    def dsn(self) -> str:
        return self.server.dsn.replace("dbname=postgres", f"dbname={self.name}")

    def run(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.run_at(self.name, sql, *values)

    def run_at(self, database: str, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        dsn = self.server.dsn.replace("dbname=postgres", f"dbname={database}")
        with psycopg.connect(dsn, autocommit=True) as connection:
            cursor = connection.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []

    def task(self, after: Sequence[SourceRecord] = (), **configs: str) -> PostgresTask:
        """One that takes over from the one before, behind these records."""
        self.stop_tasks()
        named = {name.replace("_", "."): value for name, value in configs.items()}
        task = started(PostgresTask(), {**self.configs, **named}, after)
        assert isinstance(task, PostgresTask)
        self._tasks.append(task)
        return task

    def stop_tasks(self) -> None:
        while self._tasks:
            self._tasks.pop().stop()

    def slot_lsn(self) -> str:
        sql = "SELECT confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = %s"
        return self.run(sql, self.name)[0][0]

    def close(self) -> None:
        self.stop_tasks()
        sql = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = %s"
        self.run_at("postgres", sql, self.name)
        self.run_at("postgres", f"DROP DATABASE {self.name} WITH (FORCE)")


def drained(task: PostgresTask, commits: bool = True) -> list[SourceRecord]:
    """All that there is now, as a worker polls: it commits what a poll returned before the next one ends."""
    found: list[SourceRecord] = []
    empty = 0
    while empty < 2:
        records = task.poll() or []
        found += records
        empty = 0 if records else empty + 1
        if commits:
            task.commit()
    return found


def events(records: Sequence[SourceRecord], *columns: str) -> list[tuple[Any, ...]]:
    """Operation and the row's columns; of a tombstone None and its key."""
    return [_event(record, columns) for record in records]


def _event(record: SourceRecord, columns: Sequence[str]) -> tuple[Any, ...]:
    if record.value is None:
        return (None, *record.key.values)
    row = record.value["after"] or record.value["before"]
    return (record.value["op"], *(row[name] for name in columns if row is not None))


@pytest.fixture
def captured(postgres_server: Postgres) -> Iterator[Captured]:
    database = Captured(postgres_server)
    yield database
    database.close()
