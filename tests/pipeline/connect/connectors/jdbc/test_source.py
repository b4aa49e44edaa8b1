"""Rows become records, in PostgreSQL and in SQLite, and a task that is started again goes on behind the last one."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import pytest

from penstock.pipeline.connect.connectors.jdbc.dialect import TableName
from penstock.pipeline.connect.connectors.jdbc.source import JdbcSourceConnector, JdbcSourceTask, _tables_text
from penstock.pipeline.connect.connectors.jdbc.source_config import TABLES
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError
from tests.pipeline.connect.connectors.contexts import polled, started
from tests.pipeline.connect.connectors.jdbc.conftest import Database, PostgresDatabase
from tests.support.processes import wait_for

_started: list[JdbcSourceTask] = []


@pytest.fixture(autouse=True)
def _stopped() -> Iterator[None]:
    yield
    while _started:
        _started.pop().stop()


def source(
    database: Database, table: str = "orders", after: Sequence[SourceRecord] = (), **configs: str
) -> JdbcSourceTask:
    while _started:  # a task takes over from the one before
        _started.pop().stop()
    named = {name.replace("_", "."): value for name, value in configs.items()}
    schema = "public" if isinstance(database, PostgresDatabase) else ""
    tables = _tables_text([TableName(schema, table)])
    whole = {"topic.prefix": "db-", "poll.interval.ms": "0", **database.configs, TABLES: tables, **named}
    task = started(JdbcSourceTask(), whole, after)
    assert isinstance(task, JdbcSourceTask)
    _started.append(task)
    return task


def values(records: Sequence[SourceRecord], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(record.value.get(name) for name in names) for record in records]


def make_orders(database: Database, count: int = 3) -> None:
    key = "SERIAL" if isinstance(database, PostgresDatabase) else "INTEGER"
    database.run(f"CREATE TABLE orders (id {key} PRIMARY KEY, item TEXT, changed TIMESTAMP NOT NULL)")
    for number in range(1, count + 1):
        add_order(database, number)


def add_order(database: Database, number: int, minute: int | None = None) -> None:
    at = f"2024-01-01 00:{number if minute is None else minute:02}:00"
    database.run("INSERT INTO orders (id, item, changed) VALUES (%s, %s, %s)", number, f"item {number}", at)


def test_incrementing(database: Database) -> None:
    make_orders(database)
    configs = {"mode": "incrementing", "incrementing_column_name": "id"}
    task = source(database, **configs)
    records = polled(task)
    assert values(records, "id", "item") == [(1, "item 1"), (2, "item 2"), (3, "item 3")]
    assert {record.topic for record in records} == {"db-orders"}
    assert polled(task) == []
    add_order(database, 4)
    assert values(polled(task, 2), "id") == [(4,)]
    assert values(polled(source(database, after=records, **configs)), "id") == [(4,)]


def test_the_column_that_the_database_numbers_is_found(database: Database) -> None:
    make_orders(database)
    assert values(polled(source(database, mode="incrementing")), "id") == [(1,), (2,), (3,)]


def test_timestamp_in_batches_that_end_among_equal_times(database: Database) -> None:
    make_orders(database, 0)
    for number in range(1, 8):
        add_order(database, number, minute=5)
    configs = {"mode": "timestamp", "timestamp_column_name": "changed", "batch_max_rows": "3"}
    records: list[SourceRecord] = []
    for _ in range(3):  # each a task of its own
        records += polled(source(database, after=records, **configs))
    assert values(records, "id") == [(number,) for number in range(1, 8)]
    _started.pop().stop()  # SQLite has no writers beside a reader
    add_order(database, 8, minute=6)
    assert values(polled(source(database, after=records, **configs)), "id") == [(8,)]


def test_timestamp_and_incrementing_sees_changes(database: Database) -> None:
    make_orders(database)
    configs = {
        "mode": "timestamp+incrementing",
        "timestamp_column_name": "changed",
        "incrementing_column_name": "id",
    }
    records = polled(source(database, **configs))
    assert values(records, "id") == [(1,), (2,), (3,)]
    assert records[-1].source_offset == {"incrementing": 3, "timestamp": 1704067380000, "timestamp_nanos": 0}
    add_order(database, 4, minute=3)
    database.run("UPDATE orders SET item = 'changed', changed = '2024-01-01 00:09:00' WHERE id = 1")
    again = polled(source(database, after=records, **configs))
    assert values(again, "id", "item") == [(4, "item 4"), (1, "changed")]


def test_rows_of_the_future_wait(database: Database) -> None:
    make_orders(database)
    database.run("UPDATE orders SET changed = '2999-01-01 00:00:00' WHERE id = 2")
    records = polled(source(database, mode="timestamp", timestamp_column_name="changed"))
    assert values(records, "id") == [(1,), (3,)]


def test_a_first_time_may_be_given(database: Database) -> None:
    make_orders(database)
    configs = {"mode": "timestamp", "timestamp_column_name": "changed"}
    assert values(polled(source(database, **configs, timestamp_initial="1704067260000")), "id") == [
        (2,),
        (3,),
    ]
    assert polled(source(database, **configs, timestamp_initial="-1")) == []


def test_bulk_reads_all_again_after_its_interval(database: Database) -> None:
    make_orders(database)
    task = source(database, mode="bulk")
    assert values(polled(task), "id") == [(1,), (2,), (3,)]
    assert polled(task) == []
    assert values(polled(task), "id") == [(1,), (2,), (3,)]
    once = polled(source(database, mode="bulk", poll_interval_ms="600000"))
    assert len(once) == 3
    assert polled(source(database, after=once, mode="bulk", poll_interval_ms="600000"), 3) == []


def test_a_bulk_that_is_cut_goes_on_where_it_was(database: Database) -> None:
    make_orders(database, 7)
    records: list[SourceRecord] = []
    for _ in range(3):
        records += polled(
            source(database, after=records, mode="bulk", batch_max_rows="3", poll_interval_ms="600000")
        )
    assert values(records, "id") == [(number,) for number in range(1, 8)]


def test_a_query(database: Database) -> None:
    make_orders(database)
    query = "SELECT o.id, upper(o.item) AS loud FROM orders o WHERE o.id <> 2"
    configs = {
        "query": query,
        "mode": "incrementing",
        "incrementing_column_name": "id",
        "topic_prefix": "loud",
    }
    records = polled(source(database, **configs))
    assert values(records, "id", "loud") == [(1, "ITEM 1"), (3, "ITEM 3")]
    assert {record.topic for record in records} == {"loud"}
    add_order(database, 4)
    assert values(polled(source(database, after=records, **configs)), "id") == [(4,)]


def test_types_of_postgresql(postgres: PostgresDatabase) -> None:
    postgres.run("CREATE TYPE mood AS ENUM ('fine', 'bad')")
    postgres.run(
        "CREATE TABLE orders (id INT PRIMARY KEY, small SMALLINT, big BIGINT, real_ REAL, yes BOOLEAN, raw BYTEA, "
        "price NUMERIC(10,2), whole NUMERIC(6), day DATE, clock TIME, at TIMESTAMPTZ, doc JSONB, tag UUID, "
        "mood mood, list TEXT[], point POINT)"
    )
    postgres.run(
        r"INSERT INTO orders VALUES (1, 2, 3, 0.5, true, '\x00ff', 12.3, 77, '2024-02-29', '10:11:12', "
        "'2024-02-29 10:11:12+02', '{\"a\": [1, null]}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'fine', "
        "'{x,NULL}', '(1,2)')"
    )
    value = polled(source(postgres, mode="bulk", numeric_mapping="best_fit"))[0].value
    value.validate()
    assert [value.get(name) for name in ("id", "small", "big", "real_", "yes", "raw", "price", "whole")] == (
        [1, 2, 3, 0.5, True, b"\x00\xff", 12.3, 77]
    )
    assert value.get("day") == dt.date(2024, 2, 29)
    assert value.get("clock") == dt.time(10, 11, 12)
    assert value.get("at") == dt.datetime(2024, 2, 29, 8, 11, 12, tzinfo=dt.UTC)
    assert value.get("doc") == '{"a": [1, null]}'
    assert (value.get("tag"), value.get("mood")) == ("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "fine")
    assert value.get("list") == ["x", None]
    assert value.schema.field("point") is None
    exact = polled(source(postgres, mode="bulk"))[0].value
    assert exact.get("price") == Decimal("12.30")


def test_types_of_sqlite(sqlite: Database) -> None:
    sqlite.run(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, ratio REAL, yes BOOLEAN, raw BLOB, price DECIMAL(10,2), "
        "day DATE, clock TIME, at DATETIME, at_ms TIMESTAMP, note VARCHAR(9), any_)"
    )
    sqlite.run(
        "INSERT INTO orders VALUES (1, 2, 1, x'00ff', 12.3, '2024-02-29', '10:11:12', '2024-02-29T10:11:12', "
        "1709201472000, 'n', 5)"
    )
    value = polled(source(sqlite, mode="bulk"))[0].value
    value.validate()
    at = dt.datetime(2024, 2, 29, 10, 11, 12, tzinfo=dt.UTC)
    assert [value.get(each.name) for each in value.schema.fields] == [
        *(1, 2.0, True, b"\x00\xff", Decimal("12.30"), at.date(), at.time(), at, at, "n", "5")
    ]


def test_what_is_missing_is_named(database: Database) -> None:
    make_orders(database)
    with pytest.raises(ConnectError, match=r"table .*others is not there"):
        source(database, "others", mode="bulk").poll()
    with pytest.raises(ConnectError, match=r"has no column 'number'; it has id, item, changed"):
        source(database, mode="incrementing", incrementing_column_name="number").poll()
    database.run("CREATE TABLE loose (id INT, at TIMESTAMP)")
    with pytest.raises(ConnectError, match=r"column 'at' may be NULL, so rows could be missed"):
        source(database, "loose", mode="timestamp", timestamp_column_name="at").poll()
    source(database, "loose", mode="timestamp", timestamp_column_name="at", validate_non_null="false").poll()


def test_a_schema_that_changes_meanwhile(database: Database) -> None:
    make_orders(database)
    task = source(database, mode="incrementing", incrementing_column_name="id")
    assert len(polled(task, 2)) == 3
    database.run("ALTER TABLE orders ADD COLUMN price INT")
    add_order(database, 4)
    [record] = polled(task, 2)
    assert [each.name for each in record.value_schema.fields] == ["id", "item", "changed", "price"]


@pytest.mark.processes
def test_a_database_that_is_away(postgres: PostgresDatabase) -> None:
    make_orders(postgres)
    task = source(postgres, mode="incrementing", batch_max_rows="2")
    records = polled(task)
    postgres.server.kill()
    for _ in range(2):
        with pytest.raises(RetriableConnectError):
            task.poll()
    postgres.server.start()
    records += polled(task, 2)
    assert values(records, "id") == [(1,), (2,), (3,)]


class Context:
    connector_name = "rows"

    def __init__(self) -> None:
        self.requests = 0

    def request_task_reconfiguration(self) -> None:
        self.requests += 1

    def raise_error(self, error: Exception) -> None:
        raise error


def test_tables_are_found_divided_and_watched(database: Database) -> None:
    for name in ("a", "b", "c", "unwanted"):
        database.run(f"CREATE TABLE {name} (id INT)")
    connector = JdbcSourceConnector()
    connector.context = Context()
    connector.start(
        {**database.configs, "mode": "bulk", "table.blacklist": "unwanted", "table.poll.interval.ms": "20"}
    )
    try:
        assert len(connector.task_configs(2)) == 2
        assert len(connector.task_configs(9)) == 3
        database.run("CREATE TABLE d (id INT)")
        wait_for(lambda: connector.context.requests, what="a reconfiguration")
        assert len(connector.task_configs(9)) == 4
    finally:
        connector.stop()


@pytest.mark.parametrize(
    ("configs", "key", "message"),
    [
        ({"mode": "timestamp"}, "timestamp.column.name", "is empty; mode=timestamp needs it"),
        (
            {"mode": "bulk", "query": "SELECT 1", "table.whitelist": "a", "topic.prefix": "t"},
            "query",
            "takes only one of query, table.whitelist",
        ),
        ({"mode": "bulk", "query": "SELECT 1"}, "topic.prefix", "is empty; with a query it is the topic"),
    ],
)
def test_configurations_that_do_not_fit_together(configs: dict[str, str], key: str, message: str) -> None:
    errors = JdbcSourceConnector().validate({"connection.url": "jdbc:sqlite:x.db", **configs})
    assert message in errors[key][0]
