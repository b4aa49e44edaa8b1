"""Rows that are there, then changes: without a gap and without a repeat, whatever is written in between."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from penstock.pipeline.connect.data import SourceRecord
from tests.pipeline.connect.connectors.postgres_cdc.conftest import Captured, drained, events


def test_rows_first_and_then_changes(captured: Captured) -> None:
    captured.run("CREATE TABLE orders (id INT PRIMARY KEY, item TEXT)")
    captured.run("INSERT INTO orders SELECT i, 'old' FROM generate_series(1, 5) i")
    task = captured.task()
    first = drained(task)
    captured.run("INSERT INTO orders VALUES (6, 'new')")
    second = drained(task)
    assert events([*first, *second], "id") == [*(("r", number) for number in range(1, 6)), ("c", 6)]
    assert [each.value["source"]["snapshot"] for each in (first[0], second[0])] == ["true", "false"]
    assert drained(captured.task(after=[*first, *second])) == []


@pytest.mark.parametrize(("mode", "found"), [("initial_only", ["r"]), ("never", ["c"]), ("no_data", ["c"])])
def test_only_rows_or_only_changes(captured: Captured, mode: str, found: list[str]) -> None:
    captured.run("CREATE TABLE orders (id INT PRIMARY KEY)")
    captured.run("INSERT INTO orders VALUES (1)")
    task = captured.task(snapshot_mode=mode)
    records = drained(task)
    captured.run("INSERT INTO orders VALUES (2)")
    assert [each[0] for each in events([*records, *drained(task)])] == found


@pytest.mark.parametrize("key", ["INT", "TEXT", "NUMERIC", "UUID", "TIMESTAMP", "BOOLEAN"])
def test_a_snapshot_goes_on_behind_the_last_key(captured: Captured, key: str) -> None:
    """Each poll by a task of its own; keys of every type have an order in which none is left out."""
    captured.run(f"CREATE TABLE things (a {key}, b INT, PRIMARY KEY (a, b))")
    makes = {
        "INT": "(i * 7919) % 101 - 50",
        "TEXT": "chr(60 + i) || 'é'",
        "NUMERIC": "i * 3.25",
        "UUID": "md5(i::text)::uuid",
        "TIMESTAMP": "'2024-01-01'::timestamp + i * interval '11 hours'",
        "BOOLEAN": "i % 2 = 0",
    }
    captured.run(f"INSERT INTO things SELECT {makes[key]}, i FROM generate_series(1, 60) i")
    records: list[SourceRecord] = []
    for _ in range(10):
        records += captured.task(after=records, max_batch_size="11").poll() or []
    assert sorted(record.key["b"] for record in records) == list(range(1, 61))


def test_writes_between_the_parts_of_a_snapshot(captured: Captured) -> None:
    """At random, in every order: what the records say is in the end what the table says, and each change of a row
    follows from the one before."""
    captured.run("CREATE TABLE things (id INT PRIMARY KEY, value INT)")
    captured.run("INSERT INTO things SELECT i * 10, 0 FROM generate_series(1, 40) i")
    chance = random.Random(11)
    records: list[SourceRecord] = []
    for round in range(40):
        records += captured.task(after=records, max_batch_size="3").poll() or []
        for number in range(3):
            captured.run(_some_write(chance, round * 3 + number + 1))
    records += drained(captured.task(after=records))
    rows = _replayed(records)
    assert rows == dict(captured.run("SELECT id, value FROM things"))
    assert {each[0] for each in events(records)} == {"r", "c", "u", "d", None}


def _some_write(chance: random.Random, value: int) -> str:
    one, other = chance.randrange(1, 450), chance.randrange(1, 450)
    row = f"(SELECT id FROM things ORDER BY abs(id - {one}) LIMIT 1)"
    return chance.choice(
        [
            f"INSERT INTO things VALUES ({one}, {value}) ON CONFLICT (id) DO UPDATE SET value = {value}",
            f"UPDATE things SET value = {value} WHERE id = {row}",
            f"DELETE FROM things WHERE id = {row}",
            f"UPDATE things SET id = {other}, value = {value} WHERE id = {row} "
            f"AND NOT EXISTS (SELECT 1 FROM things WHERE id = {other})",
        ]
    )


def _replayed(records: Sequence[SourceRecord]) -> dict[int, Any]:
    """A row is made once before it is changed or deleted, and never twice."""
    rows: dict[int, Any] = {}
    for op, *values in events(records, "id", "value"):
        if op is None:
            continue
        key, value = values
        assert (key in rows) == (op in "ud"), f"{op} of {key}"
        if op == "d":
            del rows[key]
        else:
            rows[key] = value
    return rows


def test_a_transaction_that_is_open_while_rows_are_read(captured: Captured) -> None:
    import psycopg

    captured.run("CREATE TABLE orders (id INT PRIMARY KEY)")
    captured.run("INSERT INTO orders VALUES (1)")
    drained(captured.task(snapshot_mode="never"))  # makes the slot, which waits for nobody afterwards
    with psycopg.connect(captured.dsn) as writer:
        writer.execute("INSERT INTO orders VALUES (2)")
        task = captured.task()
        first = drained(task)
        writer.commit()
        second = drained(task)
    assert events([*first, *second], "id") == [("r", 1), ("c", 2)]
