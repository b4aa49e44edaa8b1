"""The rows that are there when capturing begins, table by table, in the order of their keys.

Each table has a partition of its own among the source's offsets, with its segments: the last key that is in Kafka, and
what each tick's snapshot saw (see `segments`). A table without a key cannot be read in parts: all of its rows are
handed out at once. Of a table that has no rows there is nothing to put an offset on: until the first change is in
Kafka it is looked at again in each tick, and what it has by then is read, not streamed; each row once all the same.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from typing import Any, Final

from penstock.pipeline.connect.connectors.jdbc.dialect import TableName
from penstock.pipeline.connect.connectors.postgres_cdc.pgoutput import Row
from penstock.pipeline.connect.connectors.postgres_cdc.segments import Segments
from penstock.pipeline.connect.connectors.postgres_cdc.session import CaptureSession
from penstock.pipeline.connect.connectors.postgres_cdc.tables import TableShape
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.errors import ConnectError

MOST_ROWS_WITHOUT_KEY: Final = 500_000


def table_partition(partition: Mapping[str, Any], table: TableName) -> dict[str, Any]:
    return {**partition, "table": str(table)}


def segments_of(offset: Mapping[str, Any]) -> Segments:
    earlier = Segments.from_text(offset["segments"])
    return earlier.reaching(tuple(json.loads(offset["key"])), offset["snapshot"])


class Snapshot:
    """`segments` are those of earlier ticks; they grow as rows are read."""

    def __init__(
        self,
        session: CaptureSession,
        partition: Mapping[str, Any],
        settings: Mapping[str, Any],
        tables: list[TableName],
        segments: dict[str, Segments],
    ) -> None:
        self._session, self._partition = session, partition
        self._at_once: int = settings["max.batch.size"]
        self._left, self._segments = list(tables), segments
        self._seen: str | None = None
        self._shape: TableShape | None = None

    @property
    def is_over(self) -> bool:
        return not self._left

    def restart(self, tables: Collection[TableName]) -> None:
        """The connection was lost, and what it saw; of what is left, these tables are still there."""
        self._seen = self._shape = None
        self._left = [each for each in self._left if each in tables]

    def next_records(self) -> list[SourceRecord]:
        """Some of the next table that has any; none when it is over."""
        if self._seen is None and self._left:
            self._seen = self._session.begin_snapshot()
        records: list[SourceRecord] = []
        while self._left and not records:
            records = self._of_table(self._left[0])
        if not self._left and self._seen is not None:
            self._session.commit()
            self._seen = None
        return records

    def _of_table(self, table: TableName) -> list[SourceRecord]:
        known = self._segments.get(str(table), Segments([]))
        if self._shape is None:
            self._shape = self._session.shape_now(table)
            self._session.select_rows(self._shape, known.last_key)
            self._table = table_partition(self._partition, table)
        shape = self._shape
        rows, is_last = self._rows(shape)
        if is_last:
            self._session.end_rows()
            self._shape = None
            self._left.pop(0)
        if not rows:
            return []
        assert self._seen is not None
        self._segments[str(table)] = known.reaching(shape.sort_key(rows[-1]), self._seen)
        offset = {"segments": known.to_text(), "snapshot": self._seen, "done": False}
        records = [self._record(shape, row, offset) for row in rows]
        records[-1].source_offset = {**(records[-1].source_offset or offset), "done": is_last}
        return records

    def _rows(self, shape: TableShape) -> tuple[list[Row], bool]:
        if shape.key_schema is not None:
            rows = self._session.fetch_rows(self._at_once)
            return rows, len(rows) < self._at_once
        rows = self._session.fetch_rows(MOST_ROWS_WITHOUT_KEY + 1)
        if len(rows) > MOST_ROWS_WITHOUT_KEY:
            raise ConnectError(
                f"{shape.name}: has no primary key and more than {MOST_ROWS_WITHOUT_KEY} rows, which cannot be read in "
                "parts; give it a key, leave it out with table.exclude.list, or use snapshot.mode=never"
            )
        return rows, True

    def _record(self, shape: TableShape, row: Row, offset: Mapping[str, Any]) -> SourceRecord:
        now_ms = time.time_ns() // 1_000_000
        value = shape.event("r", None, shape.row(row), shape.source(now_ms, "true", None, None), now_ms)
        return SourceRecord(
            self._table,
            {**offset, "key": json.dumps(shape.sort_key(row))},
            *(shape.topic, value, shape.envelope, shape.key(row), shape.key_schema),
        )
