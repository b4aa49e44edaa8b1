"""Rows of files become records."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from penstock.pipeline.connect.connectors.lake.source import LakeSourceConnector, LakeSourceTask
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.data.logical import DATE_NAME, DECIMAL_NAME, TIMESTAMP_NAME
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError
from tests.pipeline.connect.connectors.contexts import polled, started
from tests.pipeline.connect.connectors.lake.lake import order, sink_task, written
from tests.support.processes import free_port
from tests.support.s3_server import S3Server

WRITERS = {"parquet": "FORMAT parquet", "json": "FORMAT json", "csv": "FORMAT csv, HEADER"}


def write(path: Path, sql: str) -> None:
    """With DuckDB, in the format that the name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({sql}) TO '{path}' ({WRITERS[path.suffix[1:]]})")


def numbers(start: int, end: int) -> str:
    return f"SELECT n::BIGINT AS id, 'item ' || n AS item FROM range({start}, {end}) r(n) ORDER BY n"


def source(
    place: Path | dict[str, str], records: Sequence[SourceRecord] = (), **configs: str
) -> LakeSourceTask:
    where = place if isinstance(place, dict) else {"store.path": str(place)}
    named = {name.replace("_", "."): value for name, value in configs.items()}
    task = LakeSourceTask()
    started(task, {**where, "poll.interval.ms": "0", **named}, records)
    return task


def ids(records: Sequence[SourceRecord]) -> list[Any]:
    return [each.value.get("id") for each in records]


@pytest.mark.parametrize("extension", list(WRITERS))
def test_rows_of_each_format(tmp_path: Path, extension: str) -> None:
    write(tmp_path / f"topics/orders/day=1/a.{extension}", numbers(0, 3))
    records = polled(source(tmp_path, format_class=extension), 2)
    assert [(each.topic, each.value.get("id"), each.value.get("item")) for each in records] == [
        ("orders", 0, "item 0"),
        ("orders", 1, "item 1"),
        ("orders", 2, "item 2"),
    ]
    assert {each.source_partition["file"] for each in records} == {f"topics/orders/day=1/a.{extension}"}
    assert [each.source_offset["row"] for each in records] == [1, 2, 3]
    for each in records:
        each.value.validate()


@pytest.mark.parametrize("extension", list(WRITERS))
@pytest.mark.parametrize("done", [0, 1, 4, 5, 9, 10, 11, 12])
def test_a_task_that_is_started_again_goes_on_behind_the_last_row(
    tmp_path: Path, extension: str, done: int
) -> None:
    write(tmp_path / f"topics/orders/a.{extension}", numbers(0, 12))
    configs = {"format_class": extension, "batch_max_rows": "5"}
    records = polled(source(tmp_path, **configs), 5)
    assert ids(records) == list(range(12))
    assert ids(polled(source(tmp_path, records[:done], **configs), 5)) == list(range(done, 12))


def test_row_groups_that_are_read_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "topics/orders/a.parquet"
    path.parent.mkdir(parents=True)
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({numbers(0, 5000)}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    task = source(tmp_path, polled(source(tmp_path), 5)[:3000])
    assert ids(polled(task, 5)) == list(range(3000, 5000))


def test_new_files_are_read_when_they_come(tmp_path: Path) -> None:
    task = source(tmp_path)
    assert polled(task, 2) == []
    write(tmp_path / "topics/orders/a.parquet", numbers(0, 2))
    assert ids(polled(task, 2)) == [0, 1]
    write(tmp_path / "topics/orders/b.parquet", numbers(2, 4))
    write(tmp_path / "topics/bills/c.parquet", numbers(4, 5))
    records = polled(task, 4)
    assert sorted((each.topic, each.value.get("id")) for each in records) == [
        ("bills", 4),
        ("orders", 2),
        ("orders", 3),
    ]
    assert polled(task, 2) == []


def test_a_file_that_grows_is_read_on(tmp_path: Path) -> None:
    path = tmp_path / "topics/orders/a.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"id":1}\n')
    task = source(tmp_path, format_class="json")
    before = polled(task, 2)
    path.write_text('{"id":1}\n{"id":2}\n')
    assert ids(polled(task, 2)) == [2]
    assert ids(polled(source(tmp_path, before, format_class="json"), 2)) == [2]


def test_files_are_divided_over_tasks(tmp_path: Path) -> None:
    for number in range(20):
        write(tmp_path / f"topics/orders/{number}.parquet", numbers(number, number + 1))
    connector = LakeSourceConnector()
    connector.start({"store.path": str(tmp_path), "poll.interval.ms": "0"})
    configs = connector.task_configs(3)
    parts = [ids(polled(started(LakeSourceTask(), each), 21)) for each in configs]
    assert all(parts)
    assert sorted(id for part in parts for id in part) == list(range(20))


def test_what_the_sink_has_written_comes_back(tmp_path: Path) -> None:
    written(sink_task(tmp_path), *(order(number, f"item {number}") for number in range(5)))
    records = polled(source(tmp_path), 2)
    assert [(each.topic, each.value.get("item")) for each in records] == [
        ("orders", f"item {number}") for number in range(5)
    ]


def test_one_topic_for_all(tmp_path: Path) -> None:
    write(tmp_path / "topics/a.parquet", numbers(0, 1))
    assert [each.topic for each in polled(source(tmp_path, topic="everything"))] == ["everything"]
    with pytest.raises(
        ConnectError, match=r"topics/a\.parquet: lies in no topic's folder; `topic` names one"
    ):
        polled(source(tmp_path))


def test_hidden_and_other_files_are_no_data(tmp_path: Path) -> None:
    for name in ("_temporary/a.parquet", "orders/.a.parquet", "orders/_b.parquet", "orders/c.csv"):
        write(tmp_path / "topics" / name, numbers(0, 1))
    (tmp_path / "topics/orders/empty.parquet").touch()
    assert polled(source(tmp_path), 3) == []


def test_every_type_has_a_schema(tmp_path: Path) -> None:
    sql = """SELECT 1::TINYINT AS a, 2::UTINYINT AS b, 3::UINTEGER AS c, 1.5::FLOAT AS d, true AS e, 'x'::BLOB AS f,
        12.30::DECIMAL(10, 2) AS g, DATE '2024-02-29' AS h, TIMESTAMPTZ '2024-02-29 12:30:15.25+00' AS i,
        TIMESTAMP_NS '2024-02-29 12:30:15.123456789' AS j, [1, NULL] AS k, {'street': 'Main'} AS l,
        MAP {'x': 1} AS m, NULL::INTEGER AS n, TIME '12:30:15' AS o"""
    write(tmp_path / "topics/orders/a.parquet", sql)
    (record,) = polled(source(tmp_path))
    record.value.validate()
    values = {each.name: record.value.get(each.name) for each in record.value_schema.fields}
    assert [values[name] for name in "abcdef"] == [1, 2, 3, 1.5, True, b"x"]
    assert (values["g"], values["h"]) == (Decimal("12.30"), dt.date(2024, 2, 29))
    assert values["i"] == dt.datetime(2024, 2, 29, 12, 30, 15, 250000, tzinfo=dt.UTC)
    assert values["j"] == dt.datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=dt.UTC)
    assert (values["k"], values["l"].get("street"), values["m"]) == ([1, None], "Main", {"x": 1})
    assert (values["n"], values["o"]) == (None, dt.time(12, 30, 15))
    names = [record.value_schema.field(name).schema.name for name in "ghi"]
    assert names == [DECIMAL_NAME, DATE_NAME, TIMESTAMP_NAME]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.parquet", b"no parquet at all"),
        ("a.json", b'{"id": 1}\n{"id":\n'),
        ("a.csv", b"a,b\n1,2\n3\n"),
        ("a.csv", b"a,a\n1,2\n"),
    ],
)
def test_a_broken_file_fails_with_its_name(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / "topics/orders" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(ConnectError, match=f"topics/orders/{name}: cannot be read as") as caught:
        polled(source(tmp_path, format_class=path.suffix[1:]))
    assert not isinstance(caught.value, RetriableConnectError)
    assert "\n" not in str(caught.value)


def test_a_parquet_file_that_was_cut_fails_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "topics/orders/a.parquet"
    write(path, numbers(0, 1000))
    whole = path.read_bytes()
    path.write_bytes(whole[:200] + b"\x00" * 500 + whole[700:])
    with pytest.raises(ConnectError, match=r"topics/orders/a\.parquet: cannot be read as parquet"):
        polled(source(tmp_path))


def test_files_of_s3(s3: S3Server) -> None:
    s3.create_bucket("source-lake")
    configs = s3.configs("source-lake")
    written(sink_task(configs), *map(order, range(5)))
    records = polled(source(configs, batch_max_rows="2"), 4)
    assert ids(records) == list(range(5))
    assert ids(polled(source(configs, records[:3]), 2)) == [3, 4]


def test_a_store_that_cannot_be_reached_is_asked_again() -> None:
    with pytest.raises(RetriableConnectError, match="source-lake"):
        polled(source(S3Server(free_port()).configs("source-lake")))


def test_a_place_is_needed() -> None:
    assert "store.path" in LakeSourceConnector().validate({})
    assert LakeSourceConnector().validate({"store.path": "/lake"}) == {}


@pytest.mark.parametrize(("key", "value"), [("batch.max.rows", "0"), ("poll.interval.ms", "-1")])
def test_a_wrong_value_is_named(key: str, value: str) -> None:
    errors = LakeSourceConnector.config_def.validate({"store.path": "/lake", key: value})[key].errors
    assert len(errors) == 1
    assert key in errors[0]


def test_offsets_that_make_no_sense_are_refused() -> None:
    alter = LakeSourceConnector().alter_offsets
    assert alter({}, [({"file": "topics/a.csv"}, {"row": 3}), ({"file": "b"}, None)])
    with pytest.raises(ConnectError, match=r"takes {'row': how many rows are read} or null"):
        alter({}, [({"file": "topics/a.csv"}, {"row": -3})])
    with pytest.raises(ConnectError, match=r"takes {'file': a file's name}"):
        alter({}, [({"path": "topics/a.csv"}, None)])
