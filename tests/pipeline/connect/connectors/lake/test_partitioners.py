"""The folders that files lie in."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from penstock.pipeline.connect.data import SchemaBuilder, SinkRecord, Struct
from penstock.pipeline.connect.data.logical import DATE, TIMESTAMP
from penstock.pipeline.connect.data.schema import OPTIONAL_STRING
from penstock.pipeline.connect.errors import ConnectError
from tests.pipeline.connect.connectors.lake.lake import files, order, rows, sink_task, written

MOMENT_MS = 1_709_209_815_250  # 2024-02-29 12:30:15.25 UTC
TIMES = SchemaBuilder.struct().field("moment", TIMESTAMP).field("day", DATE).build()
MOMENT = dt.datetime(2024, 2, 29, 23, 30, tzinfo=dt.UTC)


def folders(place: Path) -> list[str]:
    return sorted({name.rpartition("/")[0] for name in files(place)})


def test_by_field(tmp_path: Path) -> None:
    task = sink_task(tmp_path, partitioner_class="FieldPartitioner", partition_field_name="item")
    written(task, *(order(number, item) for number, item in enumerate(["cup", "a/b", None, "cup", ""])))
    assert folders(tmp_path) == [
        "orders/item=__HIVE_DEFAULT_PARTITION__",
        "orders/item=a%2Fb",
        "orders/item=cup",
    ]
    assert rows(tmp_path, "id") == [(n,) for n in range(5)]


def test_by_fields_of_fields(tmp_path: Path) -> None:
    task = sink_task(tmp_path, partitioner_class="FieldPartitioner", partition_field_name="who.city, id")
    written(task, SinkRecord("orders", 0, 0, {"id": 7, "who": {"city": "Ulm"}}))
    assert folders(tmp_path) == ["orders/who.city=Ulm/id=7"]


def test_a_record_without_the_field_fails_with_its_place(tmp_path: Path) -> None:
    task = sink_task(tmp_path, partitioner_class="FieldPartitioner", partition_field_name="color")
    with pytest.raises(ConnectError, match="orders-0 at offset 4: the value has no field 'color'"):
        task.put([order(4)])


@pytest.mark.parametrize(
    ("configs", "folder"),
    [
        ({"partitioner_class": "HourlyPartitioner"}, "year=2024/month=02/day=29/hour=12"),
        ({"partitioner_class": "DailyPartitioner"}, "year=2024/month=02/day=29"),
        (
            {
                "partitioner_class": "io.confluent.connect.storage.partitioner.TimeBasedPartitioner",
                "path_format": "'dt'=yyyy-MM-dd/HH_mm_ss/DDD",
            },
            "dt=2024-02-29/12_30_15/060",
        ),
        (
            {"partitioner_class": "DailyPartitioner", "timezone": "Pacific/Auckland"},
            "year=2024/month=03/day=01",
        ),
    ],
)
def test_by_the_records_time(tmp_path: Path, configs: dict[str, str], folder: str) -> None:
    written(sink_task(tmp_path, **configs), order(0, timestamp=MOMENT_MS))
    assert folders(tmp_path) == [f"orders/{folder}"]


@pytest.mark.parametrize("field", ["moment", "day"])
def test_by_a_field_that_is_a_time(tmp_path: Path, field: str) -> None:
    task = sink_task(
        tmp_path,
        partitioner_class="DailyPartitioner",
        timestamp_extractor="RecordField",
        timestamp_field=field,
    )
    value = Struct(TIMES, moment=MOMENT, day=MOMENT.date())
    written(task, SinkRecord("orders", 0, 0, value, TIMES))
    assert folders(tmp_path) == ["orders/year=2024/month=02/day=29"]


@pytest.mark.parametrize("value", [MOMENT_MS, "2024-02-29T12:30:15Z", "2024-02-29"])
def test_by_a_field_that_says_a_time(tmp_path: Path, value: object) -> None:
    task = sink_task(tmp_path, partitioner_class="DailyPartitioner", timestamp_extractor="RecordField")
    written(task, SinkRecord("orders", 0, 0, {"timestamp": value}))
    assert folders(tmp_path) == ["orders/year=2024/month=02/day=29"]


@pytest.mark.parametrize("value", ["noon", None, 1.5, 10**30])
def test_a_field_that_says_no_time_fails_with_its_place(tmp_path: Path, value: object) -> None:
    task = sink_task(tmp_path, partitioner_class="DailyPartitioner", timestamp_extractor="RecordField")
    with pytest.raises(ConnectError, match=r"orders-0 at offset 0: field 'timestamp': got .*; takes a time"):
        task.put([SinkRecord("orders", 0, 0, {"timestamp": value})])


def test_by_the_clock(tmp_path: Path) -> None:
    task = sink_task(
        tmp_path,
        partitioner_class="TimeBasedPartitioner",
        timestamp_extractor="Wallclock",
        path_format="YYYY",
    )
    before = dt.datetime.now(dt.UTC).year
    written(task, order(0, timestamp=MOMENT_MS))
    assert folders(tmp_path)[0] in (f"orders/{before}", f"orders/{dt.datetime.now(dt.UTC).year}")


def test_a_record_without_a_time_fails_with_its_place(tmp_path: Path) -> None:
    task = sink_task(tmp_path, partitioner_class="DailyPartitioner")
    with pytest.raises(ConnectError, match="orders-0 at offset 0: the record has no timestamp"):
        task.put([order(0, timestamp=None)])


def test_the_topics_may_lie_at_the_top(tmp_path: Path) -> None:
    value = Struct(SchemaBuilder.struct().field("item", OPTIONAL_STRING).build(), item="cup")
    written(sink_task(tmp_path, topics_dir=""), SinkRecord("orders", 0, 0, value, value.schema))
    assert (tmp_path / "orders" / "partition=0").is_dir()
