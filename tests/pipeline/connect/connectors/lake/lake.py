"""What the tests of the lake's connectors have in common: tasks, records, and a look at what lies there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from penstock.pipeline.connect.connectors.lake.sink import LakeSinkTask
from penstock.pipeline.connect.data import Schema, SchemaBuilder, SinkRecord, Struct
from penstock.pipeline.connect.data.schema import INT64, OPTIONAL_STRING
from tests.pipeline.connect.connectors.contexts import SinkContext

ORDER = SchemaBuilder.struct().name("order").field("id", INT64).field("item", OPTIONAL_STRING).build()
ORDERS = ("orders", 0)


def order(offset: int, item: str | None = "cup", schema: Schema = ORDER, **more: Any) -> SinkRecord:
    timestamp = more.pop("timestamp", 1_700_000_000_000)
    value = Struct(schema, id=offset, item=item, **more)
    return SinkRecord("orders", 0, offset, value, schema, timestamp=timestamp)


def sink_task(place: Path | dict[str, str], **configs: str) -> LakeSinkTask:
    task = LakeSinkTask()
    task.context = SinkContext()
    where = place if isinstance(place, dict) else {"store.path": str(place)}
    named = {name.replace("_", "."): value for name, value in configs.items()}
    task.start({"name": "to-lake", **where, **named})
    task.open([ORDERS])
    return task


def written(task: LakeSinkTask, *records: SinkRecord) -> dict[tuple[str, int], int]:
    """Put and committed; the offsets that are safe then."""
    task.put(records)
    return dict(task.pre_commit({ORDERS: records[-1].original_offset + 1}))


def files(place: Path) -> list[str]:
    """What readers see."""
    topics = place / "topics"
    return sorted(str(each.relative_to(topics)) for each in topics.rglob("*") if each.is_file())


def leftovers(place: Path) -> list[str]:
    home = place / "_penstock"
    return [str(each) for each in home.rglob("*") if each.is_file() and each.suffix != ".manifest"]


def rows(place: Path, columns: str = "*", extension: str = "parquet") -> list[tuple[Any, ...]]:
    found = f"'{place}/topics/**/*.{extension}'"
    read = {
        "parquet": f"read_parquet({found}, union_by_name=true, hive_partitioning=false)",
        "json": f"read_json({found}, union_by_name=true, hive_partitioning=false)",
        "csv": f"read_csv({found}, union_by_name=true, hive_partitioning=false)",
    }[extension]
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT {columns} FROM {read} ORDER BY 1").fetchall()
