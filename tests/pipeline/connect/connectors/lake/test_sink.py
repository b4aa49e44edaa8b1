"""Records become files, which DuckDB opens."""

from __future__ import annotations

import datetime as dt
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from penstock.pipeline.connect.connectors.lake.sink import LakeSinkConnector
from penstock.pipeline.connect.data import SchemaBuilder, SinkRecord, Struct, Type
from penstock.pipeline.connect.data.logical import DATE, TIME, TIMESTAMP, decimal_schema
from penstock.pipeline.connect.data.schema import (
    BOOLEAN,
    BYTES,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    OPTIONAL_INT32,
    OPTIONAL_STRING,
    STRING,
)
from penstock.pipeline.connect.errors import ConnectError, DataError, RetriableConnectError
from tests.pipeline.connect.connectors.lake.lake import (
    ORDER,
    ORDERS,
    files,
    leftovers,
    order,
    rows,
    sink_task,
    written,
)
from tests.support.processes import free_port
from tests.support.s3_server import S3Server

WITH_COUNT = SchemaBuilder.struct().name("order").version(2)
WITH_COUNT = (
    WITH_COUNT.field("id", INT64).field("item", OPTIONAL_STRING).field("count", OPTIONAL_INT32).build()
)
FORMATS = ("parquet", "json", "csv")


@pytest.mark.parametrize("extension", FORMATS)
def test_rows_arrive_in_each_format(tmp_path: Path, extension: str) -> None:
    task = sink_task(tmp_path, format_class=extension)
    assert written(task, order(0), order(1, None), order(2, 'a "b", ü\n')) == {ORDERS: 3}
    assert rows(tmp_path, "id, item", extension) == [(0, "cup"), (1, None), (2, 'a "b", ü\n')]
    assert files(tmp_path) == [f"orders/partition=0/orders+0+0000000000+0000000002.{extension}"]
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize(
    "name", ["io.confluent.connect.s3.format.parquet.ParquetFormat", "Parquet", "parquet"]
)
def test_confluents_names_of_formats_are_known(tmp_path: Path, name: str) -> None:
    written(sink_task(tmp_path, format_class=name), order(0))
    assert rows(tmp_path) == [(0, "cup")]


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
def test_every_codec_can_be_read(tmp_path: Path, codec: str) -> None:
    written(sink_task(tmp_path, parquet_codec=codec), order(0))
    assert rows(tmp_path) == [(0, "cup")]
    with duckdb.connect() as connection:
        sql = f"SELECT DISTINCT compression FROM parquet_metadata('{tmp_path}/topics/**/*.parquet')"
        found = connection.execute(sql).fetchall()
    assert [each[0].lower() for each in found] in ([codec], ["uncompressed"], [f"{codec}_raw"])


MOMENT = dt.datetime(2024, 2, 29, 12, 30, 15, 250000, tzinfo=dt.UTC)
ADDRESS = SchemaBuilder.struct().field("street", STRING).build()
EVERYTHING = (
    SchemaBuilder.struct()
    .field("tiny", INT8)
    .field("small", INT16)
    .field("number", INT32)
    .field("ratio", FLOAT64)
    .field("single", FLOAT32)
    .field("yes", BOOLEAN)
    .field("raw", BYTES)
    .field("price", decimal_schema(2))
    .field("day", DATE)
    .field("clock", TIME)
    .field("moment", TIMESTAMP)
    .field("tags", SchemaBuilder.array(STRING).build())
    .field("counts", SchemaBuilder.map(STRING, INT32).build())
    .field("address", ADDRESS)
    .build()
)


def everything() -> SinkRecord:
    value = Struct(
        EVERYTHING,
        tiny=-1,
        small=300,
        number=7,
        ratio=0.5,
        single=0.25,
        yes=True,
        raw=b"\x00\xff",
        price=Decimal("12.30"),
        day=MOMENT.date(),
        clock=MOMENT.time(),
        moment=MOMENT,
        tags=["a", "b"],
        counts={"x": 1},
        address=Struct(ADDRESS, street="Main"),
    )
    return SinkRecord("orders", 0, 0, value, EVERYTHING, timestamp=1)


def test_every_type_is_in_parquet(tmp_path: Path) -> None:
    written(sink_task(tmp_path), everything())
    (row,) = rows(tmp_path, "* REPLACE (timezone('UTC', moment) AS moment)")
    assert row[:7] == (-1, 300, 7, 0.5, 0.25, True, b"\x00\xff")
    assert row[7:10] == (Decimal("12.30"), MOMENT.date(), MOMENT.time())
    assert row[10:] == (MOMENT.replace(tzinfo=None), ["a", "b"], {"x": 1}, {"street": "Main"})


def test_every_type_is_in_json(tmp_path: Path) -> None:
    written(sink_task(tmp_path, format_class="json"), everything())
    (name,) = files(tmp_path)
    assert (tmp_path / "topics" / name).read_text() == (
        '{"tiny":-1,"small":300,"number":7,"ratio":0.5,"single":0.25,"yes":true,"raw":"AP8=","price":"12.30",'
        '"day":"2024-02-29","clock":"12:30:15.250000","moment":"2024-02-29T12:30:15.250000+00:00","tags":["a","b"],'
        '"counts":{"x":1},"address":{"street":"Main"}}\n'
    )


def test_every_type_has_a_cell_of_csv(tmp_path: Path) -> None:
    written(sink_task(tmp_path, format_class="csv"), everything())
    (row,) = rows(tmp_path, "raw, price::VARCHAR, tags, address", "csv")
    assert row == ("AP8=", "12.30", '["a","b"]', '{"street":"Main"}')


def test_values_that_are_no_structs_are_a_column(tmp_path: Path) -> None:
    written(sink_task(tmp_path), *(SinkRecord("orders", 0, n, n * 10, INT64) for n in range(3)))
    assert rows(tmp_path, "value") == [(0,), (10,), (20,)]


def without_schema(*values: Any) -> list[SinkRecord]:
    return [SinkRecord("orders", 0, number, value) for number, value in enumerate(values)]


def test_values_without_a_schema_lose_no_field(tmp_path: Path) -> None:
    """A name that only a later record has is a column too."""
    records = without_schema({"id": 1}, {"id": 2, "late": "x"}, {"id": 3, "more": {}}, {"id": 4})
    written(sink_task(tmp_path), *records)
    assert rows(tmp_path, "id, late, more") == [
        (1, None, None),
        (2, "x", None),
        (3, None, "{}"),
        (4, None, None),
    ]


def test_values_without_any_field_are_rows(tmp_path: Path) -> None:
    written(sink_task(tmp_path), *without_schema({}, {}))
    assert rows(tmp_path) == [("{}",), ("{}",)]


def test_a_struct_without_fields_fails_with_its_place(tmp_path: Path) -> None:
    empty = SchemaBuilder.struct().build()
    with pytest.raises(DataError, match="orders-0 at offset 0: a struct without fields"):
        sink_task(tmp_path).put([SinkRecord("orders", 0, 0, Struct(empty), empty)])


def test_fields_that_were_never_put_have_their_default(tmp_path: Path) -> None:
    schema = (
        SchemaBuilder.struct()
        .field("id", INT64)
        .field("item", SchemaBuilder(Type.STRING).default("cup").build())
        .field("inner", SchemaBuilder.struct().field("street", STRING).optional().build())
        .build()
    )
    written(sink_task(tmp_path), SinkRecord("orders", 0, 0, Struct(schema, id=1), schema))
    assert rows(tmp_path, "id, item") == [(1, "cup")]


def test_values_of_different_types_become_text(tmp_path: Path) -> None:
    written(sink_task(tmp_path), *without_schema({"a": 1}, {"a": "x"}, {"a": [2**70]}))
    assert rows(tmp_path, "a") == [('"x"',), ("1",), (f"[{2**70}]",)]


def test_a_schema_that_changes_begins_another_file(tmp_path: Path) -> None:
    task = sink_task(tmp_path)
    new = order(1, schema=WITH_COUNT, count=5)
    assert written(task, order(0), new, order(2), order(3, schema=WITH_COUNT, count=6)) == {ORDERS: 4}
    assert len(files(tmp_path)) == 2
    assert rows(tmp_path, "id, count") == [(0, None), (1, 5), (2, None), (3, 6)]


def test_a_full_chunk_is_written_at_once(tmp_path: Path) -> None:
    task = sink_task(tmp_path, flush_size="3")
    task.put([order(n, timestamp=_now()) for n in range(8)])
    assert [row[0] for row in rows(tmp_path)] == [0, 1, 2, 3, 4, 5]
    assert len(files(tmp_path)) == 2
    assert task.pre_commit({ORDERS: 8}) == {ORDERS: 6}
    task.put([order(8, timestamp=_now())])
    assert len(files(tmp_path)) == 3


def test_young_records_wait_and_their_position_with_them(tmp_path: Path) -> None:
    task = sink_task(tmp_path, rotate_interval_ms="600000")
    assert written(task, order(0, timestamp=_now()), order(1)) == {ORDERS: 0}
    assert files(tmp_path) == []
    task.close([ORDERS])
    assert written(sink_task(tmp_path), order(0), order(1)) == {ORDERS: 2}
    assert rows(tmp_path, "id") == [(0,), (1,)]


def test_records_from_the_future_do_not_wait_for_it(tmp_path: Path) -> None:
    assert written(sink_task(tmp_path), order(0, timestamp=_now() + 3_600_000)) == {ORDERS: 1}


def _now() -> int:
    return time.time_ns() // 1_000_000


def test_records_that_come_again_are_not_written_again(tmp_path: Path) -> None:
    written(sink_task(tmp_path), *map(order, range(5)))
    again = sink_task(tmp_path)
    assert written(again, *map(order, range(3))) == {ORDERS: 3}
    assert written(again, *map(order, range(3, 8))) == {ORDERS: 8}
    assert rows(tmp_path, "id") == [(n,) for n in range(8)]


def test_tombstones_are_left_out_if_told(tmp_path: Path) -> None:
    task = sink_task(tmp_path, behavior_on_null_values="ignore")
    assert written(task, order(0), SinkRecord("orders", 0, 1), order(2)) == {ORDERS: 3}
    assert rows(tmp_path, "id") == [(0,), (2,)]
    assert written(task, SinkRecord("orders", 0, 3)) == {ORDERS: 4}


def test_a_tombstone_fails_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(
        ConnectError, match=r"orders-0 at offset 1: a tombstone; behavior\.on\.null\.values=ignore"
    ):
        sink_task(tmp_path).put([order(0), SinkRecord("orders", 0, 1)])


PRICED = SchemaBuilder.struct().field("price", decimal_schema(2)).build()


def priced(offset: int, price: str) -> SinkRecord:
    return SinkRecord("orders", 0, offset, Struct(PRICED, price=Decimal(price)), PRICED, timestamp=1)


def test_a_record_that_fits_no_column_fails_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^orders-0 at offset 2: the values do not fit a column"):
        sink_task(tmp_path).put([priced(0, "1.00"), priced(1, "2.00"), priced(2, f"{'9' * 40}.00")])


def test_records_that_cannot_be_written_are_reported_where_that_is_tolerated(tmp_path: Path) -> None:
    task = sink_task(tmp_path)
    reported: list[int] = []
    task.context.report = lambda record, error: reported.append(record.original_offset)
    poison = [priced(1, f"{'9' * 40}.00"), SinkRecord("orders", 0, 2)]
    assert written(task, priced(0, "1.00"), *poison, priced(3, "4.00")) == {ORDERS: 4}
    assert rows(tmp_path) == [(Decimal("1.00"),), (Decimal("4.00"),)]
    assert sorted(reported) == [1, 2]


def test_offsets_can_be_set_back(tmp_path: Path) -> None:
    written(sink_task(tmp_path), *map(order, range(4)))
    configs = {"name": "to-lake", "store.path": str(tmp_path)}
    assert LakeSinkConnector().alter_offsets(configs, {ORDERS: 2})
    written(sink_task(tmp_path), *map(order, range(5)))
    assert rows(tmp_path, "id") == [(0,), (1,), (2,), (2,), (3,), (3,), (4,)]
    assert LakeSinkConnector().alter_offsets(configs, {ORDERS: None})
    written(sink_task(tmp_path), order(0))
    assert rows(tmp_path, "id")[:2] == [(0,), (0,)]


def test_s3_gets_the_same_files(s3: S3Server, tmp_path: Path) -> None:
    s3.create_bucket("orders-lake")
    configs = s3.configs("orders-lake")
    assert written(sink_task(configs), *map(order, range(3))) == {ORDERS: 3}
    assert written(sink_task(configs), *map(order, range(5))) == {ORDERS: 5}
    listed = s3.request("GET", "/orders-lake?list-type=2")[1].decode()
    names = [part.partition("<")[0] for part in listed.split("<Key>")[1:]]
    data = [name for name in names if name.startswith("topics/")]
    assert data == [
        "topics/orders/partition=0/orders+0+0000000000+0000000002.parquet",
        "topics/orders/partition=0/orders+0+0000000003+0000000004.parquet",
    ]
    assert [name for name in names if name.endswith((".staged", ".tmp"))] == []
    (tmp_path / "topics").mkdir()
    for number, name in enumerate(data):
        (tmp_path / "topics" / f"{number}.parquet").write_bytes(s3.read(f"orders-lake/{name}"))
    assert rows(tmp_path, "id") == [(n,) for n in range(5)]


def test_a_bucket_that_is_not_there_is_a_lasting_error(s3: S3Server) -> None:
    with pytest.raises(ConnectError, match="nowhere-to-be-found") as caught:
        sink_task(s3.configs("nowhere-to-be-found")).put([order(0)])
    assert not isinstance(caught.value, RetriableConnectError)


def test_a_store_that_cannot_be_reached_is_asked_again() -> None:
    configs = S3Server(free_port()).configs("orders-lake")
    task = sink_task(configs)
    with pytest.raises(RetriableConnectError, match="orders-lake"):
        task.put([order(0)])
    assert task.context.timeout_ms == 1000


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("format.class", "orc", "takes parquet, json, csv"),
        ("flush.size", "0", "at least 1"),
        ("rotate.interval.ms", "-1", "at least 0"),
        ("parquet.codec", "zip", "one of: none, snappy"),
        ("partitioner.class", "Mine", "takes DefaultPartitioner"),
        ("timestamp.extractor", "Sun", "takes Record, Wallclock, RecordField"),
        ("behavior.on.null.values", "write", "one of: fail, ignore"),
        ("retry.backoff.ms", "-5", "at least 0"),
    ],
)
def test_a_wrong_value_is_named(key: str, value: str, said: str) -> None:
    errors = LakeSinkConnector.config_def.validate({"store.path": "/lake", key: value})[key].errors
    assert len(errors) == 1
    assert key in errors[0]
    assert value in errors[0]
    assert said in errors[0]


@pytest.mark.parametrize(
    ("configs", "key", "said"),
    [
        ({}, "store.path", "takes a folder, s3://bucket/"),
        ({"partitioner.class": "FieldPartitioner"}, "partition.field.name", "is empty"),
        ({"partitioner.class": "TimeBasedPartitioner", "path.format": "QQ"}, "path.format", "got 'QQ'"),
        ({"partitioner.class": "TimeBasedPartitioner", "path.format": "YYYY'"}, "path.format", 'got "\'"'),
        ({"partitioner.class": "DailyPartitioner", "timezone": "Mars/Base"}, "timezone", "got 'Mars/Base'"),
    ],
)
def test_values_that_do_not_go_together_are_named(configs: dict[str, str], key: str, said: str) -> None:
    where = {} if key == "store.path" else {"store.path": "/lake"}
    errors = LakeSinkConnector().validate({**where, **configs})
    assert list(errors) == [key]
    assert said in errors[key][0]


def test_a_right_configuration_has_no_errors() -> None:
    assert LakeSinkConnector().validate({"s3.bucket.name": "lake"}) == {}


def test_a_folder_that_is_a_file_is_a_lasting_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConnectError, match="file/_penstock") as caught:
        sink_task(tmp_path / "file").put([order(0)])
    assert not isinstance(caught.value, RetriableConnectError)


def test_each_task_gets_the_whole_configuration() -> None:
    connector = LakeSinkConnector()
    connector.start({"store.path": "/lake"})
    assert connector.task_configs(2) == [{"store.path": "/lake"}] * 2


def test_the_same_schema_by_value_shares_a_file(tmp_path: Path) -> None:
    twin = SchemaBuilder.struct().name("order").field("id", INT64).field("item", OPTIONAL_STRING).build()
    assert twin == ORDER
    written(sink_task(tmp_path), order(0), order(1, schema=twin))
    assert len(files(tmp_path)) == 1
