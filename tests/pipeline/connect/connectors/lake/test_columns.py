"""Records that come as columns lie in the same files, with the same rows, as those that come one by one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.pipeline.connect.converters.json_converter import JsonConverter
from penstock.pipeline.connect.data import SinkColumns, SinkRecord
from penstock.pipeline.connect.errors import ConnectError
from tests.pipeline.connect.connectors.lake.lake import files, rows, sink_task

START = 1_700_000_000_000


def converter() -> JsonConverter:
    made = JsonConverter()
    made.configure({"schemas.enable": "false"}, False)
    return made


def records_of(values: Sequence[Any], first: int = 0, step_ms: int = 1000) -> list[SinkRecord]:
    return [
        SinkRecord("orders", 0, first + place, value, timestamp=START + place * step_ms)
        for place, value in enumerate(values)
    ]


def columns_of(records: Sequence[SinkRecord]) -> SinkColumns:
    data = [json.dumps(each.value).encode() for each in records]
    found = converter().to_table("orders", data)
    assert found is not None
    offsets = [each.original_offset for each in records]
    partitions = [each.original_partition for each in records]
    return SinkColumns("orders", partitions, offsets, *found, records.__getitem__)


def put_all(
    place: Path, batches: Sequence[Sequence[SinkRecord]], **configs: str
) -> dict[tuple[str, int], int]:
    task = sink_task(place, **configs)
    for batch in batches:
        task.put(batch)
    ends = {
        ("orders", each.original_partition): each.original_offset + 1 for batch in batches for each in batch
    }
    return dict(task.pre_commit(ends))


def schemas(place: Path) -> list[Any]:
    return [pyarrow.parquet.read_schema(each) for each in sorted((place / "topics").rglob("*.parquet"))]


VALUES = [{"id": number, "item": f"cup {number}"} for number in range(10)]


@pytest.mark.parametrize(
    "configs",
    [
        {},
        {"flush_size": "3"},
        {"flush_size": "1"},
        {"topics_dir": ""},
        {"partitioner_class": "TimeBasedPartitioner", "path_format": "HH/mm/ss"},
        {
            "partitioner_class": "io.confluent.connect.storage.partitioner.HourlyPartitioner",
            "timezone": "Asia/Kolkata",
        },
        {"partitioner_class": "DailyPartitioner"},
        {"format_class": "csv"},
        {"format_class": "json"},
        {"partitioner_class": "FieldPartitioner", "partition_field_name": "item"},
        {
            "partitioner_class": "TimeBasedPartitioner",
            "timestamp_extractor": "RecordField",
            "timestamp_field": "id",
        },
    ],
)
def test_the_same_files_with_the_same_rows(tmp_path: Path, configs: dict[str, str]) -> None:
    records = records_of(VALUES, step_ms=700)
    safe = put_all(tmp_path / "records", [records[:4], records[4:]], **configs)
    assert (
        put_all(tmp_path / "columns", [columns_of(records[:4]), columns_of(records[4:])], **configs) == safe
    )
    found = files_below(tmp_path / "columns")
    assert found == files_below(tmp_path / "records")
    for name in found:
        assert (tmp_path / "columns" / name).read_bytes() == (tmp_path / "records" / name).read_bytes()


def files_below(place: Path) -> list[str]:
    all_files = (each for each in place.rglob("*") if each.is_file() and "_penstock" not in each.parts)
    return sorted(str(each.relative_to(place)) for each in all_files)


def test_both_may_come_in_turn(tmp_path: Path) -> None:
    """A batch with something unusual in it comes as records; the file has all of them."""
    odd = [*VALUES[:4], {"id": 4, "item": 5}, {"id": 2**70, "item": None}]
    records = records_of(odd)
    put_all(tmp_path, [columns_of(records[:2]), records[2:]])
    assert files(tmp_path) == ["orders/partition=0/orders+0+0000000000+0000000005.parquet"]
    assert rows(tmp_path, "count(*)") == [(6,)]
    assert {each[0] for each in rows(tmp_path, "item")} == {
        '"cup 0"',
        '"cup 1"',
        '"cup 2"',
        '"cup 3"',
        "5",
        None,
    }


@given(
    st.lists(
        st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "a": st.integers(-5, 5) | st.none(),
                    "b": st.floats(-5, 5) | st.integers(-5, 5),
                    "c": st.booleans(),
                },
            ).filter(bool),
            min_size=1,
            max_size=3,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_columns_that_differ_from_batch_to_batch(
    tmp_path_factory: Any, batches: list[list[dict[str, Any]]]
) -> None:
    place = tmp_path_factory.mktemp("lake")
    ends = [sum(map(len, batches[:number])) for number in range(len(batches))]
    records = [records_of(batch, first) for batch, first in zip(batches, ends, strict=True)]
    put_all(place / "records", records)
    put_all(place / "columns", list(map(columns_of, records)))
    assert schemas(place / "columns") == schemas(place / "records")
    assert rows(place / "columns") == rows(place / "records")


def test_what_is_put_again_is_known(tmp_path: Path) -> None:
    records = records_of(VALUES)
    task = sink_task(tmp_path)
    task.put(columns_of(records[:6]))
    task.put(columns_of(records[3:]))
    assert task.pre_commit({("orders", 0): 10}) == {("orders", 0): 10}
    sink_task(tmp_path).put(columns_of(records))
    assert rows(tmp_path, "count(*), count(DISTINCT id)") == [(10, 10)]


def test_partitions_that_take_turns(tmp_path: Path) -> None:
    records = records_of(VALUES)
    for each in records:
        each.original_partition = each.original_offset % 2
    task = sink_task(tmp_path)
    task.put(columns_of(records))
    assert task.pre_commit({("orders", 0): 9, ("orders", 1): 10}) == {("orders", 0): 9, ("orders", 1): 10}
    assert files(tmp_path) == [
        "orders/partition=0/orders+0+0000000000+0000000008.parquet",
        "orders/partition=1/orders+1+0000000001+0000000009.parquet",
    ]
    assert rows(tmp_path, "count(*), count(DISTINCT id)") == [(10, 10)]


def test_a_record_without_a_time_is_told(tmp_path: Path) -> None:
    records = records_of(VALUES)
    records[3].timestamp = None
    task = sink_task(tmp_path, partitioner_class="DailyPartitioner")
    with pytest.raises(ConnectError, match="orders-0 at offset 3: the record has no timestamp"):
        task.put(columns_of(records))
