"""What the tests of Delta tables have in common: a look at a table with delta-rs, as any other reader has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from penstock.pipeline.connect.connectors.lake.sink import LakeSinkTask
from tests.pipeline.connect.connectors.lake.lake import sink_task

APPLICATION = "penstock/to-lake/orders-0"


def delta_task(place: Path | dict[str, str], **configs: str) -> LakeSinkTask:
    return sink_task(place, format_class="delta", **configs)


def table(place: Path | dict[str, str], topic: str = "orders") -> DeltaTable:
    if isinstance(place, Path):
        return DeltaTable(str(place / "topics" / topic))
    options = {
        "aws_endpoint_url": place["store.url"],
        "aws_allow_http": "true",
        "aws_region": "us-east-1",
        "aws_access_key_id": place["aws.access.key.id"],
        "aws_secret_access_key": place["aws.secret.access.key"],
    }
    return DeltaTable(f"s3://{place['s3.bucket.name']}/topics/{topic}", storage_options=options)


def has_table(place: Path, topic: str = "orders") -> bool:
    return DeltaTable.is_deltatable(str(place / "topics" / topic))


def delta_rows(place: Path | dict[str, str], topic: str = "orders") -> list[dict[str, Any]]:
    return list(table(place, topic).to_pyarrow_table().to_pylist())


def ids(place: Path | dict[str, str], topic: str = "orders") -> list[int]:
    return sorted(row["id"] for row in delta_rows(place, topic))
