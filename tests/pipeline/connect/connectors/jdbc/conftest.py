"""The databases, each through its own driver, without the code that is tested."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import psycopg
import pytest

from tests.support.postgres import Postgres


class Database(Protocol):
    configs: dict[str, str]

    def run(self, sql: str, *values: Any) -> list[tuple[Any, ...]]: ...


class SqliteDatabase:
    def __init__(self, path: Path) -> None:
        self.configs = {"connection.url": f"jdbc:sqlite:{path}"}
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)

    def run(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql.replace("%s", "?"), values).fetchall()

    def close(self) -> None:
        self._connection.close()


class PostgresDatabase:
    def __init__(self, server: Postgres) -> None:
        self.server = server
        self.configs = {
            "connection.url": server.url,
            "connection.user": "penstock",
            "connection.password": "secret",
        }

    def run(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.server.dsn, autocommit=True) as connection:
            cursor = connection.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture
def postgres(postgres_server: Postgres) -> PostgresDatabase:
    """With an empty schema."""
    database = PostgresDatabase(postgres_server)
    database.run("DROP SCHEMA public CASCADE")
    database.run("CREATE SCHEMA public")
    return database


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "test.db")
    yield database
    database.close()


@pytest.fixture(params=[pytest.param("postgres", marks=pytest.mark.processes), "sqlite"])
def database(request: pytest.FixtureRequest) -> Database:
    return request.getfixturevalue(request.param)
