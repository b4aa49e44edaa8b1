"""Records become rows, in PostgreSQL and in SQLite."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from threading import Barrier
from typing import Any

import pytest

from penstock.pipeline.connect.connectors.jdbc.sink import JdbcSinkConnector, JdbcSinkTask
from penstock.pipeline.connect.data import Schema, SchemaBuilder, SinkRecord, Struct
from penstock.pipeline.connect.data.logical import DATE, TIME, TIMESTAMP, decimal_schema
from penstock.pipeline.connect.data.schema import (
    BOOLEAN,
    BYTES,
    FLOAT64,
    INT32,
    INT64,
    OPTIONAL_INT32,
    OPTIONAL_STRING,
    STRING,
)
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError
from tests.pipeline.connect.connectors.contexts import SinkContext
from tests.pipeline.connect.connectors.jdbc.conftest import Database, PostgresDatabase

ORDER = SchemaBuilder.struct().name("order").field("id", INT64).field("item", OPTIONAL_STRING).build()
WITH_COUNT = (
    SchemaBuilder.struct()
    .name("order")
    .field("id", INT64)
    .field("item", OPTIONAL_STRING)
    .field("count", OPTIONAL_INT32)
    .build()
)
KEY = SchemaBuilder.struct().field("id", INT64).build()
UPSERT = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id", "auto.create": "true"}


def order(offset: int, id: int, item: str | None = None, schema: Schema = ORDER, **more: Any) -> SinkRecord:
    return SinkRecord("orders", 0, offset, Struct(schema, id=id, item=item, **more), schema)


def tombstone(offset: int, id: int) -> SinkRecord:
    return SinkRecord("orders", 0, offset, None, None, Struct(KEY, id=id), KEY)


def keyed(offset: int, id: int, item: str) -> SinkRecord:
    record = order(offset, id, item)
    record.key, record.key_schema = Struct(KEY, id=id), KEY
    return record


_started: list[JdbcSinkTask] = []


@pytest.fixture(autouse=True)
def _stopped() -> Iterator[None]:
    yield
    while _started:
        _started.pop().stop()


def task_of(database: Database, **configs: str) -> JdbcSinkTask:
    task = JdbcSinkTask()
    task.context = SinkContext()
    named = {name.replace("_", "."): value for name, value in configs.items()}
    task.start({"name": "to-rows", **database.configs, **named})
    _started.append(task)
    task.open([("orders", 0)])
    return task


def rows(database: Database, table: str = "orders") -> list[tuple[Any, ...]]:
    return database.run(f"SELECT * FROM {table} ORDER BY 1")


def test_a_table_is_created_and_rows_inserted(database: Database) -> None:
    task = task_of(database, auto_create="true")
    task.put([order(0, 1, "cup"), order(1, 2, None)])
    task.put([order(2, 3, "plate")])
    assert rows(database) == [(1, "cup"), (2, None), (3, "plate")]
    task.stop()


def test_every_type_is_written(database: Database) -> None:
    schema = (
        SchemaBuilder.struct()
        .field("number", INT32)
        .field("ratio", FLOAT64)
        .field("yes", BOOLEAN)
        .field("text", STRING)
        .field("raw", BYTES)
        .field("price", decimal_schema(2))
        .field("day", DATE)
        .field("clock", TIME)
        .field("moment", TIMESTAMP)
        .build()
    )
    moment = dt.datetime(2024, 2, 29, 12, 30, 15, 250000, tzinfo=dt.UTC)
    value = Struct(
        schema,
        number=7,
        ratio=0.5,
        yes=True,
        text="a\tb\\N\n'é",
        raw=b"\x00\xff\\",
        price=Decimal("12.30"),
        day=moment.date(),
        clock=moment.time(),
        moment=moment,
    )
    task_of(database, auto_create="true").put([SinkRecord("orders", 0, 0, value, schema)])
    number, ratio, yes, text, raw, price, day, clock, at = rows(database)[0]
    assert (number, ratio, bool(yes), text, bytes(raw)) == (7, 0.5, True, "a\tb\\N\n'é", b"\x00\xff\\")
    assert Decimal(str(price)) == Decimal("12.30")
    assert (str(day), str(clock)) == ("2024-02-29", "12:30:15.250000")
    assert str(at).startswith("2024-02-29 12:30:15.250")


def test_an_upsert_that_comes_twice_counts_once(database: Database) -> None:
    task = task_of(database, **{key.replace(".", "_"): value for key, value in UPSERT.items()})
    records = [order(0, 1, "cup"), order(1, 2, "plate"), order(2, 1, "mug")]
    task.put(records)
    task.put(records)
    assert rows(database) == [(1, "mug"), (2, "plate")]


def test_an_update_changes_only_rows_that_are_there(database: Database) -> None:
    database.run("CREATE TABLE orders (id BIGINT PRIMARY KEY, item TEXT)")
    database.run("INSERT INTO orders VALUES (1, 'cup')")
    task = task_of(database, insert_mode="update", pk_mode="record_value", pk_fields="id")
    task.put([order(0, 1, "mug"), order(1, 2, "plate")])
    assert rows(database) == [(1, "mug")]


def test_tombstones_delete(database: Database) -> None:
    task = task_of(
        database, insert_mode="upsert", pk_mode="record_key", delete_enabled="true", auto_create="true"
    )
    task.put(
        [keyed(0, 1, "cup"), keyed(1, 2, "plate"), tombstone(2, 1), keyed(3, 3, "fork"), tombstone(4, 9)]
    )
    assert rows(database) == [(2, "plate"), (3, "fork")]


def test_a_tombstone_without_deletion(database: Database) -> None:
    task_of(database, pk_mode="record_key").put([tombstone(0, 1)])  # nothing to do
    with pytest.raises(
        ConnectError, match=r"orders-0 at offset 0: a tombstone, which needs delete.enabled=true"
    ):
        task_of(database, auto_create="true").put([tombstone(0, 1)])


def test_columns_are_added_while_records_change(database: Database) -> None:
    task = task_of(database, auto_create="true", auto_evolve="true")
    task.put([order(0, 1, "cup"), order(1, 2, "plate", WITH_COUNT, count=3), order(2, 3, "fork")])
    assert rows(database) == [(1, "cup", None), (2, "plate", 3), (3, "fork", None)]


@pytest.mark.parametrize("round", range(3))
def test_tasks_that_want_the_same_table_at_the_same_moment(database: Database, round: int) -> None:
    """Each puts its first rows when all are ready to, and then rows with a column more."""
    ready = Barrier(6)

    def put(number: int) -> None:
        ready.wait(30)
        task = task_of(database, auto_create="true", auto_evolve="true", offsets_table="positions")
        ready.wait(30)
        task.put([order(0, 2 * number, "cup")])
        ready.wait(30)
        task.put([order(1, 2 * number + 1, "plate", WITH_COUNT, count=3)])

    with ThreadPoolExecutor(6) as threads:
        for done in [threads.submit(put, number) for number in range(6)]:
            done.result()
    assert [row[0] for row in rows(database)] == list(range(12))


def test_keys_of_coordinates_and_single_values(database: Database) -> None:
    task_of(database, pk_mode="kafka", insert_mode="upsert", auto_create="true").put([order(5, 1, "cup")] * 2)
    assert rows(database) == [("orders", 0, 5, 1, "cup")]
    record = SinkRecord("others", 0, 0, Struct(ORDER, id=1, item="cup"), ORDER, "k", STRING)
    task_of(database, pk_mode="record_key", pk_fields="name", auto_create="true").put([record])
    assert rows(database, "others") == [("k", 1, "cup")]


def test_only_chosen_fields_and_a_table_by_format(database: Database) -> None:
    task_of(database, fields_whitelist="item", table_name_format="kafka_${topic}", auto_create="true").put(
        [order(0, 1, "cup")]
    )
    assert rows(database, "kafka_orders") == [("cup",)]


def test_a_transaction_is_all_or_nothing(database: Database) -> None:
    database.run("CREATE TABLE orders (id BIGINT PRIMARY KEY, item TEXT NOT NULL)")
    task = task_of(database)
    with pytest.raises(
        ConnectError, match=r"cannot write 2 records from orders-0 at offset 0 to .* offset 1"
    ):
        task.put([order(0, 1, "cup"), order(1, 2, None)])
    assert rows(database) == []
    task.put([order(0, 1, "cup")])
    assert rows(database) == [(1, "cup")]


def test_positions_are_remembered_with_the_rows(database: Database) -> None:
    configs = {"auto_create": "true", "offsets_table": "positions"}
    task = task_of(database, **configs)
    task.put([order(0, 1, "cup"), order(1, 2, "plate")])
    task.stop()
    assert database.run("SELECT * FROM positions") == [("to-rows", "orders", 0, 2)]
    after_a_crash = task_of(database, **configs)
    assert after_a_crash.context.sought == {("orders", 0): 2}


@pytest.mark.parametrize(
    ("configs", "record", "message"),
    [
        ({}, order(3, 1), "table orders is not there, and auto.create is false"),
        (
            {"auto_create": "true"},
            SinkRecord("orders", 0, 3, {"id": 1}),
            "orders-0 at offset 3: columns come from a value that is a struct with a schema; got a value without",
        ),
        (
            {"auto_create": "true", "pk_mode": "record_key", "pk_fields": "id"},
            order(3, 1),
            "orders-0 at offset 3: pk.mode is record_key, which needs a key with a schema; got no key",
        ),
        (
            {"auto_create": "true", "pk_mode": "record_value", "pk_fields": "number"},
            order(3, 1),
            "orders-0 at offset 3: pk.fields: the value has no field 'number'",
        ),
        (
            {"auto_create": "true", "fields_whitelist": "price"},
            order(3, 1),
            "orders-0 at offset 3: fields.whitelist: the value has no field 'price'",
        ),
    ],
)
def test_what_cannot_be_written_says_why(
    database: Database, configs: dict[str, str], record: SinkRecord, message: str
) -> None:
    with pytest.raises(ConnectError) as refused:
        task_of(database, **configs).put([record])
    assert str(refused.value).startswith(message)


def test_a_missing_column_says_which(database: Database) -> None:
    database.run("CREATE TABLE orders (id BIGINT)")
    with pytest.raises(ConnectError, match=r"table orders lacks the columns item, and auto.evolve is false"):
        task_of(database).put([order(0, 1)])
    needed = SchemaBuilder.struct().field("id", INT64).field("price", INT64).build()
    record = SinkRecord("orders", 0, 0, Struct(needed, id=1, price=2), needed)
    with pytest.raises(
        ConnectError, match="cannot add price: a column that rows lack so far has to be optional"
    ):
        task_of(database, auto_evolve="true").put([record])


@pytest.mark.processes
def test_a_database_that_is_away_is_waited_for(postgres: PostgresDatabase) -> None:
    task = task_of(postgres, auto_create="true", retry_backoff_ms="77")
    task.put([order(0, 1, "cup")])
    postgres.server.kill()
    with pytest.raises(RetriableConnectError, match="PostgreSQL: "):
        task.put([order(1, 2, "plate")])
    assert task.context.timeout_ms == 77
    with pytest.raises(RetriableConnectError, match="PostgreSQL: cannot connect: "):
        task.put([order(1, 2, "plate")])
    postgres.server.start()
    task.put([order(1, 2, "plate")])
    assert rows(postgres) == [(1, "cup"), (2, "plate")]


def test_a_wrong_password_is_not_waited_for(postgres: PostgresDatabase) -> None:
    task = task_of(postgres, connection_password="wrong")
    with pytest.raises(ConnectError, match="password authentication failed") as refused:
        task.put([order(0, 1)])
    assert not isinstance(refused.value, RetriableConnectError)


@pytest.mark.parametrize(
    ("configs", "key", "message"),
    [
        ({"insert.mode": "upsert"}, "pk.mode", "insert.mode=upsert needs a primary key"),
        ({"delete.enabled": "true"}, "delete.enabled", "needs pk.mode=record_key"),
        (
            {"pk.mode": "kafka", "pk.fields": "a,b"},
            "pk.fields",
            "got 2 names; takes three with pk.mode=kafka",
        ),
    ],
)
def test_configurations_that_do_not_fit_together(configs: dict[str, str], key: str, message: str) -> None:
    errors = JdbcSinkConnector().validate({"connection.url": "jdbc:sqlite:x.db", **configs})
    assert message in errors[key][0]


def test_a_wrong_url_says_what_it_takes() -> None:
    found = JdbcSinkConnector.config_def.validate({"connection.url": "jdbc:oracle:thin"})
    assert "takes jdbc:postgresql://host" in found["connection.url"].errors[0]
