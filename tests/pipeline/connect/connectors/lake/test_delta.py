"""Records become rows of Delta tables, which delta-rs reads back."""

from __future__ import annotations

import datetime as dt
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyarrow.parquet import ParquetFile

from penstock.pipeline.connect.connectors.lake.sink import LakeSinkConnector
from penstock.pipeline.connect.connectors.lake.source import LakeSourceConnector
from penstock.pipeline.connect.data import SchemaBuilder, SinkRecord, Struct
from penstock.pipeline.connect.data.schema import FLOAT64, INT32, INT64, OPTIONAL_STRING, STRING
from penstock.pipeline.connect.errors import ConnectError, DataError, RetriableConnectError
from tests.pipeline.connect.connectors.lake.delta import (
    APPLICATION,
    delta_rows,
    delta_task,
    has_table,
    ids,
    table,
)
from tests.pipeline.connect.connectors.lake.lake import ORDERS, order, written
from tests.pipeline.connect.connectors.lake.test_columns import columns_of, records_of
from tests.pipeline.connect.connectors.lake.test_sink import MOMENT, WITH_COUNT, everything
from tests.support.processes import free_port
from tests.support.s3_server import S3Server

BY_ITEM = {"partitioner_class": "FieldPartitioner", "partition_field_name": "item"}


def test_a_topic_is_a_table(tmp_path: Path) -> None:
    task = delta_task(tmp_path)
    assert written(task, order(0), order(1, None), order(2, 'a "b", ü\n')) == {ORDERS: 3}
    found = table(tmp_path)
    assert delta_rows(tmp_path) == [
        {"id": 0, "item": "cup"},
        {"id": 1, "item": None},
        {"id": 2, "item": 'a "b", ü\n'},
    ]
    assert found.transaction_version(APPLICATION) == 3
    assert found.metadata().name == "orders"
    assert found.metadata().partition_columns == []


@pytest.mark.parametrize("name", ["delta", "Delta", "io.confluent.connect.s3.format.delta.DeltaFormat"])
def test_names_of_the_format(tmp_path: Path, name: str) -> None:
    task = delta_task(tmp_path)
    task.start({"name": "to-lake", "store.path": str(tmp_path), "format.class": name})
    written(task, order(0))
    assert ids(tmp_path) == [0]


def test_a_chunk_is_a_commit(tmp_path: Path) -> None:
    task = delta_task(tmp_path, flush_size="4")
    task.put([order(offset) for offset in range(10)])
    assert ids(tmp_path) == list(range(8))
    assert table(tmp_path).version() == 2, "one that creates the table, one for each chunk"
    assert task.pre_commit({ORDERS: 10}) == {ORDERS: 10}
    assert ids(tmp_path) == list(range(10))
    assert table(tmp_path).version() == 3


def test_what_waits_is_not_safe(tmp_path: Path) -> None:
    task = delta_task(tmp_path, rotate_interval_ms=str(10**15))
    assert written(task, order(0), order(1)) == {ORDERS: 0}
    assert not has_table(tmp_path)


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
def test_every_codec_can_be_read(tmp_path: Path, codec: str) -> None:
    written(delta_task(tmp_path, parquet_codec=codec), order(0))
    assert ids(tmp_path) == [0]
    (name,) = (tmp_path / "topics/orders").glob("*.parquet")
    found = ParquetFile(name).metadata.row_group(0).column(0).compression.lower()
    assert found in (codec, {"none": "uncompressed"}.get(codec), f"{codec}_raw")


def test_every_type(tmp_path: Path) -> None:
    written(delta_task(tmp_path), everything())
    (row,) = delta_rows(tmp_path)
    assert list(row.values())[:7] == [-1, 300, 7, 0.5, 0.25, True, b"\x00\xff"]
    assert (row["price"], row["day"], row["moment"]) == (Decimal("12.30"), MOMENT.date(), MOMENT)
    assert row["moment"].utcoffset() == dt.timedelta(0)
    assert row["clock"] == "12:30:15.250"
    assert (row["tags"], dict(row["counts"]), row["address"]) == (["a", "b"], {"x": 1}, {"street": "Main"})
    types = {field.name: str(field.type) for field in table(tmp_path).schema().fields}
    assert types["tiny"] == 'PrimitiveType("byte")'
    assert types["moment"] == 'PrimitiveType("timestamp")'
    assert types["price"] == 'PrimitiveType("decimal(38,2)")'


def test_every_type_fits_its_own_column(tmp_path: Path) -> None:
    written(delta_task(tmp_path), everything())
    before = table(tmp_path).schema()
    again = everything()
    again.original_offset = 1
    written(delta_task(tmp_path), again)
    first, second = delta_rows(tmp_path)
    assert first == second
    assert table(tmp_path).schema() == before


def test_new_fields_become_columns(tmp_path: Path) -> None:
    """In one chunk, in the next one, and for the record of the old schema that comes late."""
    written(delta_task(tmp_path), order(0), order(1, schema=WITH_COUNT, count=5), order(2))
    more = (
        SchemaBuilder.struct().field("id", INT64).field("item", OPTIONAL_STRING).field("note", STRING).build()
    )
    written(delta_task(tmp_path), order(3, schema=more, note="n"), order(4))
    assert [(row["id"], row["count"], row["note"]) for row in sorted(delta_rows(tmp_path), key=_id)] == [
        (0, None, None),
        (1, 5, None),
        (2, None, None),
        (3, None, "n"),
        (4, None, None),
    ]


def _id(row: dict[str, Any]) -> int:
    return int(row["id"])


PRICED = SchemaBuilder.struct().field("id", INT64).field("price", FLOAT64).build()
NARROW = SchemaBuilder.struct().field("id", INT32).field("item", OPTIONAL_STRING).build()
WORDS = SchemaBuilder.struct().field("id", STRING).field("item", OPTIONAL_STRING).build()


def test_a_narrower_type_fits(tmp_path: Path) -> None:
    written(delta_task(tmp_path), order(0))
    written(delta_task(tmp_path), order(1, schema=NARROW))
    assert ids(tmp_path) == [0, 1]


def test_a_type_that_does_not_fit_fails_with_its_place(tmp_path: Path) -> None:
    written(delta_task(tmp_path), order(0))
    strange = SinkRecord("orders", 0, 2, Struct(WORDS, id="7", item="x"), WORDS, timestamp=1)
    with pytest.raises(DataError, match="orders-0 at offset 2: field 'id': got string, the table has int64"):
        delta_task(tmp_path).put([order(1), strange])


def test_a_record_that_does_not_fit_is_reported_and_the_rest_written(tmp_path: Path) -> None:
    written(delta_task(tmp_path), *records_of([{"id": 0, "price": 1}]))
    task = delta_task(tmp_path)
    refused: list[tuple[int, str]] = []
    task.context.report = lambda record, error: refused.append((record.original_offset, str(error)))
    values = [
        {"id": 1, "price": 2},
        {"id": 2, "price": 2.5},
        {"id": 3, "price": 3.0},
        {"id": 4, "price": "x"},
    ]
    written(task, *records_of(values, first=1))
    assert [row["price"] for row in sorted(delta_rows(tmp_path), key=_id)] == [1, 2, 3]
    assert [offset for offset, _ in refused] == [2, 4]
    assert "field 'price': does not fit int64" in refused[0][1]
    assert "field 'price': got string, the table has int64" in refused[1][1]
    assert table(tmp_path).transaction_version(APPLICATION) == 5


def test_what_came_before_in_the_chunk_says_the_type_too(tmp_path: Path) -> None:
    task = delta_task(tmp_path)
    task.put(records_of([{"id": 0, "price": 1}]))
    with pytest.raises(DataError, match="at offset 1: field 'price': got string, the table has int64"):
        task.put(records_of([{"id": 1, "price": "x"}], first=1))


def test_names_that_differ_in_case_only(tmp_path: Path) -> None:
    written(delta_task(tmp_path), *records_of([{"id": 0}]))
    with pytest.raises(DataError, match="field 'ID': differs from 'id' only in case"):
        delta_task(tmp_path).put(records_of([{"ID": 1}], first=1))


def test_nulls_say_no_type(tmp_path: Path) -> None:
    values = [{"id": 0, "a": None, "b": {"c": None}, "d": [], "e": {"f": 1, "g": None}}]
    written(delta_task(tmp_path), *records_of(values))
    assert delta_rows(tmp_path) == [{"id": 0, "e": {"f": 1}}]
    later = [{"id": 1, "a": "x", "b": {"c": 1}, "d": [2], "e": {"f": None, "g": True}}]
    written(delta_task(tmp_path), *records_of(later, first=1))
    assert sorted(delta_rows(tmp_path), key=_id) == [
        {"id": 0, "e": {"f": 1, "g": None}, "a": None, "b": None, "d": None},
        {"id": 1, "e": {"f": None, "g": True}, "a": "x", "b": {"c": 1}, "d": [2]},
    ]


def test_a_record_without_any_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="orders-0 at offset 0: every field is null"):
        delta_task(tmp_path).put(records_of([{"id": None}]))


@pytest.mark.parametrize("configs", [{}, {"flush_size": "3"}, BY_ITEM, {"flush_size": "1"}])
def test_columns_lie_there_as_records_do(tmp_path: Path, configs: dict[str, str]) -> None:
    values = [{"id": number, "item": f"cup {number % 3}", "n": None} for number in range(10)]
    for place, batch in (("a", records_of(values)), ("b", columns_of(records_of(values)))):
        task = delta_task(tmp_path / place, **configs)
        task.put(batch)
        assert task.pre_commit({ORDERS: 10}) == {ORDERS: 10}
    assert ids(tmp_path / "b") == list(range(10))
    assert _sorted_rows(tmp_path / "a") == _sorted_rows(tmp_path / "b")
    assert table(tmp_path / "a").schema() == table(tmp_path / "b").schema()


def _sorted_rows(place: Path) -> list[dict[str, Any]]:
    return sorted(delta_rows(place), key=_id)


def test_columns_that_do_not_fit_are_looked_at_one_by_one(tmp_path: Path) -> None:
    written(delta_task(tmp_path), *records_of([{"id": 0, "price": 1}]))
    task = delta_task(tmp_path)
    refused: list[int] = []
    task.context.report = lambda record, error: refused.append(record.original_offset)
    task.put(columns_of(records_of([{"id": 1, "price": 2.0}, {"id": 2, "price": 2.5}], first=1)))
    assert task.pre_commit({ORDERS: 3}) == {ORDERS: 3}
    assert (ids(tmp_path), refused) == ([0, 1], [2])


def test_fields_are_partition_columns(tmp_path: Path) -> None:
    written(delta_task(tmp_path, **BY_ITEM), order(0), order(1, "x/y"), order(2, None), order(3))
    found = table(tmp_path)
    assert found.metadata().partition_columns == ["item"]
    assert found.version() == 1, "one commit, whatever the folders are"
    rows = sorted(delta_rows(tmp_path), key=_id)
    assert [(row["id"], row["item"]) for row in rows] == [(0, "cup"), (1, "x/y"), (2, None), (3, "cup")]
    folders = {each.parent.name for each in (tmp_path / "topics/orders").rglob("*.parquet")}
    assert folders == {"item=cup", "item=x%2Fy", "item=__HIVE_DEFAULT_PARTITION__"}


def test_a_partition_column_that_is_null_at_first_is_text(tmp_path: Path) -> None:
    written(delta_task(tmp_path, **BY_ITEM), *records_of([{"id": 0, "item": None}]))
    written(delta_task(tmp_path, **BY_ITEM), *records_of([{"id": 1, "item": "cup"}], first=1))
    assert [row["item"] for row in sorted(delta_rows(tmp_path), key=_id)] == [None, "cup"]


def test_a_record_without_the_partition_field_is_refused(tmp_path: Path) -> None:
    values = [{"id": 0, "item": "cup"}, {"id": 1}]
    for batch in (records_of(values), columns_of(records_of(values))):
        with pytest.raises(ConnectError, match="orders-0 at offset 1: the value has no field 'item'"):
            delta_task(tmp_path, **BY_ITEM).put(batch)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"item": "cup"}, "partition.field.name has every field of the value; a table needs one more"),
        ({"id": 0, "item": ["cup"]}, "field 'item': list<.*> cannot be partitioned by"),
    ],
)
def test_what_cannot_be_partitioned(tmp_path: Path, value: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=f"orders-0 at offset 0: {message}"):
        delta_task(tmp_path, **BY_ITEM).put(records_of([value]))


def test_a_table_with_other_partitions_is_not_written(tmp_path: Path) -> None:
    written(delta_task(tmp_path), order(0))
    with pytest.raises(
        ConnectError, match=r"partitioned by \[\], the connector by \['item'\]: partition.field.name"
    ):
        delta_task(tmp_path, **BY_ITEM).put([order(1)])


def test_renamed_topics_have_tables_and_positions_of_their_own(tmp_path: Path) -> None:
    """A transform has sent every other record elsewhere."""

    def routed(start: int, end: int) -> list[SinkRecord]:
        found = [order(offset) for offset in range(start, end)]
        for each in found[::2]:
            each.topic = "even"
        return found

    task = delta_task(tmp_path, flush_size="3")
    task.put(routed(0, 8))
    assert (ids(tmp_path, "even"), ids(tmp_path)) == ([0, 2, 4], [1, 3, 5])
    safe = delta_task(tmp_path, rotate_interval_ms=str(10**15))
    safe.put(routed(0, 8))
    assert safe.pre_commit({ORDERS: 8}) == {ORDERS: 6}
    assert written(delta_task(tmp_path), *routed(0, 10)) == {ORDERS: 10}
    assert (ids(tmp_path, "even"), ids(tmp_path)) == ([0, 2, 4, 6, 8], [1, 3, 5, 7, 9])


def test_tombstones_are_refused_or_left_out(tmp_path: Path) -> None:
    tombstone = SinkRecord("orders", 0, 1, None, timestamp=1)
    with pytest.raises(ConnectError, match="orders-0 at offset 1: a tombstone"):
        delta_task(tmp_path).put([order(0), tombstone])
    task = delta_task(tmp_path, behavior_on_null_values="ignore")
    assert written(task, order(0), tombstone) == {ORDERS: 2}
    assert ids(tmp_path) == [0]


def test_a_place_that_is_a_file_fails(tmp_path: Path) -> None:
    (tmp_path / "topics").write_text("in the way")
    with pytest.raises(ConnectError, match=r"cannot create the table .*Not a directory") as caught:
        written(delta_task(tmp_path), order(0))
    assert not isinstance(caught.value, RetriableConnectError)
    assert "\n" not in str(caught.value)


def test_a_store_that_cannot_be_reached_is_tried_again() -> None:
    place = {"s3.bucket.name": "nowhere", "store.url": f"http://127.0.0.1:{free_port()}"}
    task = delta_task({**place, "aws.access.key.id": "k", "aws.secret.access.key": "s"})
    with pytest.raises(
        RetriableConnectError, match="cannot read the table s3://nowhere/topics/orders"
    ) as caught:
        task.put([order(0)])
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_a_bucket_that_is_not_there_fails(s3: S3Server) -> None:
    with pytest.raises(ConnectError, match="NoSuchBucket") as caught:
        written(delta_task(s3.configs("no-such-bucket")), order(0))
    assert not isinstance(caught.value, RetriableConnectError)
    assert "\n" not in str(caught.value)


def problems(**configs: str) -> dict[str, list[str]]:
    named = {name.replace("_", "."): value for name, value in configs.items()}
    return LakeSinkConnector().validate({"store.path": "/lake", "format.class": "delta", **named})


def test_configs_are_checked() -> None:
    assert problems() == {}
    assert problems(**BY_ITEM) == {}
    only = "with format.class=delta it takes"
    for name in ("DailyPartitioner", "TimeBasedPartitioner", "io.confluent.connect.x.HourlyPartitioner"):
        assert problems(partitioner_class=name) == {
            "partitioner.class": [
                f"partitioner.class: got {name!r}; {only} DefaultPartitioner or FieldPartitioner"
            ]
        }
    assert problems(partitioner_class="FieldPartitioner", partition_field_name="id,a.b") == {
        "partition.field.name": [f"partition.field.name: got 'a.b'; {only} fields of the value itself"]
    }
    assert problems(store_path="hdfs://host/lake") == {
        "store.path": [f"store.path: got 'hdfs://host/lake'; {only} a folder or s3://bucket/..."]
    }


def test_a_missing_package_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "deltalake", None)
    assert problems() == {
        "format.class": ["format.class: delta needs the package deltalake; pip install 'penstock[delta]'"]
    }


def test_the_source_reads_files_only() -> None:
    found = LakeSourceConnector.config_def.validate({"store.path": "/lake", "format.class": "delta"})
    (message,) = found["format.class"].errors
    assert message.endswith("takes parquet, json, csv, or Confluent's class of it")
