"""Changes of a real PostgreSQL, as records."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from penstock.pipeline.connect.connectors.postgres_cdc.tables import UNAVAILABLE
from penstock.pipeline.connect.data.schema import Type
from penstock.pipeline.connect.errors import DataError
from tests.pipeline.connect.connectors.postgres_cdc.conftest import Captured, drained, events


@pytest.fixture
def orders(captured: Captured) -> Captured:
    captured.run("CREATE TABLE orders (id INT PRIMARY KEY, item TEXT)")
    return captured


def test_insert_update_delete_and_a_tombstone(orders: Captured) -> None:
    task = orders.task()
    assert drained(task) == []
    orders.run("INSERT INTO orders VALUES (1, 'tea'), (2, 'milk')")
    orders.run("UPDATE orders SET item = 'coffee' WHERE id = 1")
    orders.run("DELETE FROM orders WHERE id = 2")
    records = drained(task)
    assert events(records, "id", "item") == [
        ("c", 1, "tea"),
        ("c", 2, "milk"),
        ("u", 1, "coffee"),
        ("d", 2, None),
        (None, 2),
    ]
    assert {record.topic for record in records} == {"shop.public.orders"}
    assert [record.key["id"] for record in records] == [1, 2, 1, 2, 2]
    for record in records[:4]:
        record.value.validate()
    source = records[0].value["source"]
    assert (source["db"], source["schema"], source["table"]) == (orders.name, "public", "orders")
    assert source["lsn"] > 0
    assert records[0].value_schema.name == "shop.public.orders.Envelope"
    assert records[0].key_schema.name == "shop.public.orders.Key"


def test_an_update_of_the_key_is_a_delete_and_a_new_row(orders: Captured) -> None:
    task = orders.task()
    drained(task)
    orders.run("INSERT INTO orders VALUES (1, 'tea')")
    orders.run("UPDATE orders SET id = 7")
    records = drained(task, commits=False)
    assert events(records, "id", "item") == [("c", 1, "tea"), ("d", 1, None), (None, 1), ("c", 7, "tea")]
    parts = [(each.source_offset["event"], each.source_offset["part"]) for each in records[1:]]
    assert parts == [(1, 0), (1, 1), (1, 2)]
    for done in range(1, 4):  # a task that dies among them goes on behind each
        rest = drained(orders.task(after=records[:done]), commits=False)
        assert events(rest, "id", "item") == events(records[done:], "id", "item")


def test_truncate_is_left_out_unless_asked_for(orders: Captured) -> None:
    task = orders.task(skipped_operations="none")
    drained(task)
    orders.run("INSERT INTO orders VALUES (1, 'tea')")
    orders.run("TRUNCATE orders")
    records = drained(task, commits=False)
    assert events(records) == [("c",), ("t",)]
    assert records[1].key is None
    assert events(drained(orders.task(after=records[:1]))) == []


def test_no_tombstones_and_whole_rows_before(orders: Captured) -> None:
    orders.run("ALTER TABLE orders REPLICA IDENTITY FULL")
    task = orders.task(tombstones_on_delete="false")
    drained(task)
    orders.run("INSERT INTO orders VALUES (1, 'tea')")
    orders.run("UPDATE orders SET item = 'milk'")
    orders.run("DELETE FROM orders")
    records = drained(task)
    assert events(records, "id", "item") == [("c", 1, "tea"), ("u", 1, "milk"), ("d", 1, "milk")]
    assert records[1].value["before"]["item"] == "tea"
    assert [record.key["id"] for record in records] == [1, 1, 1]


def test_a_transaction_that_is_rolled_back_is_not_seen(orders: Captured) -> None:
    task = orders.task()
    drained(task)
    orders.run("BEGIN; INSERT INTO orders VALUES (1, 'tea'); ROLLBACK")
    orders.run("INSERT INTO orders VALUES (2, 'milk')")
    assert events(drained(task), "id") == [("c", 2)]


def test_columns_that_come_and_go_in_the_middle(orders: Captured) -> None:
    task = orders.task()
    drained(task)
    orders.run("INSERT INTO orders VALUES (1, 'tea')")
    orders.run("ALTER TABLE orders ADD COLUMN price NUMERIC(8, 2)")
    orders.run("INSERT INTO orders VALUES (2, 'milk', 1.5)")
    orders.run("ALTER TABLE orders DROP COLUMN item")
    orders.run("INSERT INTO orders VALUES (3, 2)")
    rows = [record.value["after"] for record in drained(task)]
    assert [[field.name for field in row.schema.fields] for row in rows] == [
        ["id", "item"],
        ["id", "item", "price"],
        ["id", "price"],
    ]
    assert [row.values for row in rows] == [[1, "tea"], [2, "milk", Decimal("1.50")], [3, Decimal("2.00")]]


def test_values_of_many_types(captured: Captured) -> None:
    captured.run("CREATE TYPE mood AS ENUM ('good', 'bad')")
    captured.run("CREATE DOMAIN cents AS NUMERIC(10, 3)")
    columns = {
        "a": ("smallint", "-5", -5),
        "b": ("bigint", "9000000000", 9_000_000_000),
        "c": ("real", "1.5", 1.5),
        "d": ("double precision", "0.1", 0.1),
        "e": ("boolean", "true", True),
        "f": ("numeric(12,4)", "3.5", Decimal("3.5000")),
        "g": ("numeric", "3.14159265358979323846", "3.14159265358979323846"),
        "h": ("bytea", "'\\x00ff'", b"\x00\xff"),
        "i": ("date", "'2024-02-29'", dt.date(2024, 2, 29)),
        "j": ("time", "'13:30:15.25'", dt.time(13, 30, 15, 250_000)),
        "k": ("timestamp", "'2024-01-02 03:04:05'", dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=dt.UTC)),
        "l": ("timestamptz", "'2024-01-02 03:04:05+02'", dt.datetime(2024, 1, 2, 1, 4, 5, tzinfo=dt.UTC)),
        "m": ("uuid", "'00000000-0000-0000-0000-00000000000a'", "00000000-0000-0000-0000-00000000000a"),
        "n": ("jsonb", """'{"x": [1, "é"]}'""", '{"x": [1, "é"]}'),
        "o": ("mood", "'bad'", "bad"),
        "p": ("cents", "1.25", Decimal("1.250")),
        "q": ("int[]", "'{1,NULL,3}'", [1, None, 3]),
        "r": ("text[]", "ARRAY['a b', 'c,\"d']", ["a b", 'c,"d']),
        "s": ("point", "'(1,2)'", "(1,2)"),
        "t": ("date", "'infinity'", dt.date.max),
    }
    declared = ", ".join(f"{name} {kind}" for name, (kind, *_) in columns.items())
    captured.run(f"CREATE TABLE things (id INT PRIMARY KEY, {declared})")
    texts = ", ".join(text for _, text, _ in columns.values())
    captured.run(f"INSERT INTO things VALUES (1, {texts})")
    task = captured.task()
    read = drained(task)
    captured.run("INSERT INTO things SELECT 2, " + ", ".join(columns) + " FROM things")
    captured.run("INSERT INTO things (id) VALUES (3)")
    for record in [*read, *drained(task)]:
        record.value.validate()
        row = record.value["after"]
        for name, (_, _, value) in columns.items():
            assert row[name] == (None if row["id"] == 3 else value), name
    assert [event[0] for event in events(read)] == ["r"]


def test_a_large_value_that_did_not_change(captured: Captured) -> None:
    captured.run("CREATE TABLE notes (id INT PRIMARY KEY, size INT, body TEXT)")
    captured.run("ALTER TABLE notes ALTER COLUMN body SET STORAGE EXTERNAL")
    task = captured.task()
    drained(task)
    captured.run("INSERT INTO notes VALUES (1, 1, repeat('x', 100000))")
    captured.run("UPDATE notes SET size = 2")
    captured.run("ALTER TABLE notes REPLICA IDENTITY FULL")
    captured.run("UPDATE notes SET size = 3")
    bodies = [record.value["after"]["body"] for record in drained(task)]
    assert bodies == ["x" * 100_000, UNAVAILABLE, "x" * 100_000]


def test_a_date_that_python_cannot_say(captured: Captured) -> None:
    captured.run("CREATE TABLE events (id INT PRIMARY KEY, day DATE)")
    task = captured.task()
    drained(task)
    captured.run("INSERT INTO events VALUES (1, '0044-03-15 BC')")
    with pytest.raises(DataError, match=r"public\.events\.day"):
        drained(task)


def test_tables_without_a_key(captured: Captured) -> None:
    captured.run("CREATE TABLE log (line TEXT)")
    captured.run("INSERT INTO log VALUES ('a'), ('a')")
    task = captured.task()
    first = drained(task)
    captured.run("INSERT INTO log VALUES ('a')")
    second = drained(task)
    assert events([*first, *second], "line") == [("r", "a"), ("r", "a"), ("c", "a")]
    assert [record.key for record in first] == [None, None]
    assert first[0].value["after"].schema.fields[0].schema.type is Type.STRING


def test_tables_are_chosen_by_expressions(captured: Captured) -> None:
    captured.run("CREATE SCHEMA depot")
    for name in ("public.orders", "public.order_lines", "depot.goods", "depot.bins"):
        captured.run(f"CREATE TABLE {name} (id INT PRIMARY KEY)")
    task = captured.task(table_include_list=r"public\.order.*,depot\.goods", table_exclude_list="")
    drained(task)
    for name in ("public.orders", "public.order_lines", "depot.goods", "depot.bins"):
        captured.run(f"INSERT INTO {name} VALUES (1)")
    topics = [record.topic for record in drained(task)]
    assert topics == ["shop.public.orders", "shop.public.order_lines", "shop.depot.goods"]


def test_the_slot_follows_what_kafka_has(orders: Captured) -> None:
    task = orders.task()
    drained(task)
    before = orders.slot_lsn()
    orders.run("INSERT INTO orders VALUES (1, 'tea')")
    records = task.poll() or []
    assert events(records, "id") == [("c", 1)]
    assert orders.slot_lsn() == before  # nothing is known to be committed
    assert (task.poll(), task.poll()) == (None, None)
    assert orders.slot_lsn() == before
    task.commit()
    task.poll()
    assert orders.slot_lsn() != before
    orders.run("INSERT INTO orders VALUES (2, 'milk')")
    assert events(drained(orders.task(after=records)), "id") == [("c", 2)]


def test_what_others_write_does_not_hold_the_slot_back(captured: Captured) -> None:
    captured.run("CREATE TABLE orders (id INT PRIMARY KEY)")
    captured.run("CREATE TABLE noise (id INT PRIMARY KEY, text TEXT)")
    for mode in ("filtered", "all_tables"):
        task = captured.task(table_include_list=r"public\.orders", publication_autocreate_mode=mode)
        drained(task)
        before = captured.slot_lsn()
        captured.run("TRUNCATE noise")
        captured.run("INSERT INTO noise SELECT i, repeat('x', 500) FROM generate_series(1, 5000) i")
        assert drained(task) == []
        drained(task)
        assert captured.slot_lsn() != before
        captured.run("DROP PUBLICATION dbz_publication")
        captured.run("SELECT pg_drop_replication_slot(%s)", captured.name)


def test_a_transaction_larger_than_a_poll(orders: Captured) -> None:
    configs = {"max_batch_size": "7", "snapshot_mode": "never"}
    task = orders.task(**configs)
    assert drained(task) == []
    orders.run("INSERT INTO orders SELECT i, 'item ' || i FROM generate_series(1, 50) i")
    orders.run("INSERT INTO orders VALUES (51, 'last')")
    records = task.poll() or []
    assert 0 < len(records) < 50
    while len(records) < 51:  # each poll by a task of its own
        records += orders.task(after=records, **configs).poll() or []
    assert events(records, "id") == [("c", number) for number in range(1, 52)]
    assert [bool(each.source_offset.get("lsn_end")) for each in records[48:]] == [False, True, True]
    assert drained(orders.task(after=records, **configs)) == []
