"""Columns become the rows that records become, in PostgreSQL and in SQLite, but without a record for each."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from penstock.pipeline.connect.connectors.jdbc.sink import JdbcSinkTask
from penstock.pipeline.connect.data import Schema, SchemaBuilder, SinkRecord
from penstock.pipeline.connect.data.columns import SinkColumns
from penstock.pipeline.connect.data.logical import DATE, TIME, TIMESTAMP, decimal_schema
from penstock.pipeline.connect.data.schema import (
    BOOLEAN,
    BYTES,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    OPTIONAL_INT32,
    OPTIONAL_STRING,
    STRING,
)
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError
from tests.pipeline.connect.connectors.contexts import SinkContext
from tests.pipeline.connect.connectors.jdbc.columns import (
    AWKWARD_TEXTS,
    SAMPLES,
    Columns,
    decimals,
    random_schema,
    random_values,
    struct_of,
)
from tests.pipeline.connect.connectors.jdbc.conftest import Database, PostgresDatabase

ORDER = struct_of(id=INT64, item=OPTIONAL_STRING)
VALUE_KEY = {"pk_mode": "record_value", "pk_fields": "id,part"}
MODES = [
    {"insert_mode": "insert"},
    {"insert_mode": "insert", "pk_mode": "kafka"},
    {"insert_mode": "upsert", "pk_mode": "kafka", "pk_fields": "t,p,o", "batch_size": "4"},
    {"insert_mode": "upsert", **VALUE_KEY},
    {"insert_mode": "upsert", **VALUE_KEY, "batch_size": "7", "fields_whitelist": "field 0"},
    {"insert_mode": "update", **VALUE_KEY},
]
StartTask = Callable[..., JdbcSinkTask]


@pytest.fixture
def start_task() -> Iterator[StartTask]:
    started: list[JdbcSinkTask] = []

    def start(database: Database, **configs: str) -> JdbcSinkTask:
        task = JdbcSinkTask()
        task.context = SinkContext()
        named = {name.replace("_", "."): value for name, value in configs.items()}
        task.start({"name": "to-rows", **database.configs, **named})
        task.open([("orders", 0)])
        started.append(task)
        return task

    yield start
    for task in started:
        task.stop()


def rows(database: Database, table: str) -> list[str]:
    """As texts, in which a NaN is itself and no zero is like the other."""
    return sorted(map(repr, database.run(f"SELECT * FROM {table}")))


def put_both_ways(
    database: Database, start_task: StartTask, puts: Sequence[Columns], **configs: str
) -> tuple[list[str], list[str]]:
    """The rows that records give, and those that columns give."""
    of_records = start_task(database, table_name_format="of_records", **configs)
    of_columns = start_task(database, table_name_format="of_columns", **configs)
    assert of_columns.takes_columns
    for columns in puts:
        of_records.put(list(columns))
        columns.made.clear()
        of_columns.put(columns)
    return rows(database, "of_records"), rows(database, "of_columns")


@pytest.mark.parametrize("configs", MODES, ids=lambda configs: "-".join(configs.values()))
@pytest.mark.parametrize("seed", range(3))
def test_any_columns_give_the_rows_of_their_records(
    database: Database, start_task: StartTask, configs: dict[str, str], seed: int
) -> None:
    chance = random.Random(seed)
    schema = random_schema(chance)
    puts = [Columns(schema, random_values(chance, schema, 40), first) for first in (0, 40)]
    if configs["insert_mode"] == "update":
        put_both_ways(database, start_task, puts[:1], auto_create="true", insert_mode="upsert", **VALUE_KEY)
    expected, found = put_both_ways(database, start_task, puts, auto_create="true", **configs)
    assert found == expected
    assert expected
    assert all(each.stayed_columns for each in puts)


@pytest.mark.parametrize("kind", list(SAMPLES), ids=lambda kind: kind.name or kind.type.value)
def test_all_samples_of_a_type_beside_nulls(database: Database, start_task: StartTask, kind: Schema) -> None:
    """A row of nothing but a null is an empty line."""
    values = [[each] for each in (None, *SAMPLES[kind], None)]
    columns = Columns(struct_of(value=kind.as_optional()), values)
    expected, found = put_both_ways(database, start_task, [columns], auto_create="true")
    assert found == expected
    assert len(found) == len(values)
    assert columns.stayed_columns


def test_texts_arrive_as_they_were(database: Database, start_task: StartTask) -> None:
    values = [list(each) for each in enumerate([*AWKWARD_TEXTS, None])]
    start_task(database, auto_create="true").put(Columns(ORDER, values))
    assert database.run("SELECT * FROM orders ORDER BY id") == [tuple(each) for each in values]


def test_more_rows_than_are_text_at_once(postgres: PostgresDatabase, start_task: StartTask) -> None:
    values = [[number, f"item {number}"] for number in range(25_001)]
    start_task(postgres, auto_create="true").put(Columns(ORDER, values))
    assert postgres.run("SELECT count(*), sum(id), count(DISTINCT item) FROM orders") == [
        (25_001, sum(range(25_001)), 25_001)
    ]


@pytest.mark.parametrize(
    ("column", "stays"),
    [
        ("ratio NUMERIC", False),
        ("ratio TEXT", False),
        ("ratio REAL", True),
        ("narrow DOUBLE PRECISION", False),
        ("yes TEXT", False),
        ("day TEXT", True),
        ("day TIMESTAMP", True),
        ("clock TEXT", False),
        ("moment TIMESTAMPTZ", True),
        ("moment TEXT", False),
        ("moment DATE", False),
        ("number TEXT", True),
        ("number NUMERIC", True),
        ("text VARCHAR(20)", True),
        ("text JSON", True),
    ],
)
def test_columns_that_are_of_another_type(
    postgres: PostgresDatabase, start_task: StartTask, column: str, stays: bool
) -> None:
    kinds = {"ratio": FLOAT64, "narrow": FLOAT32, "yes": BOOLEAN, "day": DATE, "clock": TIME}
    kinds |= {"moment": TIMESTAMP, "number": INT32, "text": STRING}
    name = column.split()[0]
    samples = SAMPLES[kinds[name]] if name != "text" else ['{"a": 1}', "17", "null"]
    finite = [each for each in samples if str(each) not in ("inf", "-inf", "nan")]
    if column == "ratio REAL":
        finite = [0.1, 1.0, 1e22]
    for table in ("of_records", "of_columns"):
        postgres.run(f"CREATE TABLE {table} ({column})")
    columns = Columns(struct_of(**{name: kinds[name]}), [[each] for each in finite * 2])
    expected, found = put_both_ways(postgres, start_task, [columns])
    assert found == expected
    assert len(found) == 2 * len(finite)
    assert columns.stayed_columns == stays


WITH_DEFAULT = SchemaBuilder.like(OPTIONAL_INT32).default(7).build()


@pytest.mark.parametrize(
    ("columns", "configs"),
    [
        (Columns(struct_of(id=INT64, raw=BYTES), [[1, b"\x00\xff"], [2, b""], [3, b'"']]), {}),
        (Columns(struct_of(id=INT64, price=decimal_schema(2)), decimals("1.20", "-0.01", "3.00")), {}),
        (Columns(struct_of(id=INT64, n=WITH_DEFAULT), [[1, None], [2, 2], [3, None]]), {}),
        (
            Columns(struct_of(id=FLOAT64, n=INT64), [[0.0, 1], [-0.0, 2], [1.0, 3]]),
            {"insert_mode": "upsert", "pk_mode": "record_value", "pk_fields": "id"},
        ),
    ],
    ids=["bytes", "decimal", "default", "float-key"],
)
def test_what_columns_cannot_say_is_written_as_records(
    database: Database, start_task: StartTask, columns: Columns, configs: dict[str, str]
) -> None:
    expected, found = put_both_ways(database, start_task, [columns], auto_create="true", **configs)
    assert found == expected
    assert not columns.stayed_columns


def test_a_field_that_is_left_out_may_be_anything(database: Database, start_task: StartTask) -> None:
    schema = struct_of(id=INT64, list=SchemaBuilder.array(INT64).build())
    columns = Columns(schema, [[1, [1, 2]], [2, []], [3, [3]]])
    start_task(database, auto_create="true", fields_whitelist="id").put(columns)
    assert database.run("SELECT * FROM orders ORDER BY 1") == [(1,), (2,), (3,)]
    assert columns.stayed_columns


def test_keys_of_records_need_records(database: Database, start_task: StartTask) -> None:
    task = start_task(database, auto_create="true", pk_mode="record_key", pk_fields="name")
    assert not task.takes_columns
    columns = Columns(ORDER, [[1, "cup"]])

    def keyed(index: int) -> SinkRecord:
        return columns[index].changed(key="k", key_schema=STRING)

    task.put(SinkColumns("orders", [0], [0], ORDER, columns.table, keyed))
    assert database.run("SELECT * FROM orders") == [("k", 1, "cup")]


def test_values_without_a_schema_are_refused_as_records_are(
    database: Database, start_task: StartTask
) -> None:
    table = Columns(ORDER, [[1, "cup"]]).table
    columns = SinkColumns(
        "orders", [0], [3], None, table, lambda index: SinkRecord("orders", 0, 3, {"id": 1})
    )
    with pytest.raises(
        ConnectError, match="orders-0 at offset 3: columns come from a value that is a struct"
    ):
        start_task(database, auto_create="true").put(columns)


def test_columns_are_added_while_schemas_change(database: Database, start_task: StartTask) -> None:
    wider = struct_of(id=INT64, item=OPTIONAL_STRING, count=OPTIONAL_INT32)
    task = start_task(database, auto_create="true", auto_evolve="true")
    task.put(Columns(ORDER, [[1, "cup"]]))
    task.put(Columns(wider, [[2, "plate", 3]]))
    task.put(Columns(ORDER, [[3, None]]))
    assert database.run("SELECT * FROM orders ORDER BY 1") == [
        (1, "cup", None),
        (2, "plate", 3),
        (3, None, None),
    ]


def test_positions_are_remembered_with_the_rows(database: Database, start_task: StartTask) -> None:
    task = start_task(database, auto_create="true", offsets_table="positions")
    columns = Columns(ORDER, [[number, "cup"] for number in range(10)], first=100)
    task.put(columns)
    assert columns.stayed_columns
    assert sorted(database.run("SELECT kafka_partition, next_offset FROM positions")) == [
        *((0, 110), (1, 108), (2, 109))
    ]


REFUSED: list[tuple[str, list[list[Any]], dict[str, str]]] = [
    ("id BIGINT, item TEXT NOT NULL", [[1, "a"], [2, None], [3, "b"]], {}),
    ("id BIGINT PRIMARY KEY, item TEXT", [[1, "a"], [2, "b"], [1, "c"]], {}),
    ("id BIGINT CHECK (id < 5), item TEXT", [[1, "a"], [2, "b"], [5_000_000_000, "c"]], {}),
    (
        "id BIGINT PRIMARY KEY, item TEXT NOT NULL",
        [[1, "a"], [2, None], [3, "c"]],
        {"insert_mode": "upsert", "pk_mode": "record_value", "pk_fields": "id"},
    ),
    (
        "id BIGINT, item TEXT",  # no key to meet at
        [[1, "a"], [2, "b"], [3, "c"]],
        {"insert_mode": "upsert", "pk_mode": "record_value", "pk_fields": "id"},
    ),
]
REFUSED_BY_POSTGRES = [
    ("id INT, item TEXT", [[1, "a"], [2, "b"], [5_000_000_000, "c"]], {}),
    ("id BIGINT, item VARCHAR(3)", [[1, "a"], [2, "four"], [3, "c"]], {}),
    ("id BIGINT, item DATE", [[1, "2024-02-29"], [2, ""], [3, "2023-02-29"]], {}),
]


def refusal(task: JdbcSinkTask, records: Sequence[SinkRecord]) -> ConnectError:
    with pytest.raises(ConnectError) as refused:
        task.put(records)
    return refused.value


def is_refused_both_ways(
    database: Database, start_task: StartTask, table: str, values: list[list[Any]], configs: dict[str, str]
) -> None:
    database.run(f"CREATE TABLE orders ({table})")
    of_records = refusal(start_task(database, **configs), list(Columns(ORDER, values, first=7)))
    task, columns = (
        start_task(database, offsets_table="positions", **configs),
        Columns(ORDER, values, first=7),
    )
    of_columns = refusal(task, columns)
    assert columns.stayed_columns
    assert type(of_columns) is type(of_records) is ConnectError
    # behind CONTEXT there is the line as it was sent
    assert str(of_columns).partition(" CONTEXT:")[0] == str(of_records).partition(" CONTEXT:")[0]
    assert "cannot write 3 records from orders-0 at offset 7 to orders-2 at offset 9: " in str(of_columns)
    assert database.run("SELECT * FROM orders") == database.run("SELECT * FROM positions") == []


@pytest.mark.parametrize(("table", "values", "configs"), REFUSED)
def test_what_the_database_refuses_is_undone(
    database: Database, start_task: StartTask, table: str, values: list[list[Any]], configs: dict[str, str]
) -> None:
    is_refused_both_ways(database, start_task, table, values, configs)


@pytest.mark.parametrize(("table", "values", "configs"), REFUSED_BY_POSTGRES)
def test_values_that_do_not_fit_a_column(
    postgres: PostgresDatabase,
    start_task: StartTask,
    table: str,
    values: list[list[Any]],
    configs: dict[str, str],
) -> None:
    is_refused_both_ways(postgres, start_task, table, values, configs)


def test_a_task_goes_on_after_a_refusal(database: Database, start_task: StartTask) -> None:
    database.run("CREATE TABLE orders (id BIGINT PRIMARY KEY, item TEXT NOT NULL)")
    task = start_task(database)
    refusal(task, Columns(ORDER, [[1, "cup"], [2, None]]))
    task.put(Columns(ORDER, [[1, "cup"], [2, "plate"]]))
    assert database.run("SELECT * FROM orders ORDER BY 1") == [(1, "cup"), (2, "plate")]


def test_a_text_with_a_nul_is_refused_for_good(postgres: PostgresDatabase, start_task: StartTask) -> None:
    refused = refusal(start_task(postgres, auto_create="true"), Columns(ORDER, [[1, "a\0b"], [2, "c"]]))
    assert not isinstance(refused, RetriableConnectError)


@pytest.mark.processes
def test_columns_are_put_again_when_the_database_is_back(
    postgres: PostgresDatabase, start_task: StartTask
) -> None:
    task = start_task(
        postgres, auto_create="true", offsets_table="positions", retry_backoff_ms="77", max_retries="3"
    )
    task.put(Columns(ORDER, [[1, "cup"]]))
    postgres.server.kill()
    columns = Columns(ORDER, [[2, "plate"], [3, "fork"], [4, "mug"]], first=1)
    for message in ("cannot write 3 records from", "cannot connect"):
        with pytest.raises(RetriableConnectError, match=f"PostgreSQL: {message}"):
            task.put(columns)
        assert task.context.timeout_ms == 77
    postgres.server.start()
    task.put(columns)
    assert columns.stayed_columns
    assert postgres.run("SELECT id FROM orders ORDER BY 1") == [(1,), (2,), (3,), (4,)]
