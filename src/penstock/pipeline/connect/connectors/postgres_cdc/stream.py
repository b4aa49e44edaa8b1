"""From pgoutput's messages to records: transactions as they were committed, change by change.

A record's offset says which transaction it is of (`lsn_commit`), which change in it (`event`) and which record of that
change (`part`), so that a transaction may be left in the middle and gone on with: whoever comes next is given all of it
again and leaves out what is done. The last record of a transaction also has `lsn_end`, up to which the slot is done
with; that is why one change is always held back, until what follows it is known.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from penstock.pipeline.connect.connectors.jdbc.dialect import TableName
from penstock.pipeline.connect.connectors.postgres_cdc.pgoutput import (
    UNCHANGED,
    Begin,
    Commit,
    Delete,
    Insert,
    Relation,
    Row,
    Truncate,
    Update,
    decode_message,
)
from penstock.pipeline.connect.connectors.postgres_cdc.segments import Segments
from penstock.pipeline.connect.connectors.postgres_cdc.tables import TableShape
from penstock.pipeline.connect.data import SourceRecord, Struct
from penstock.pipeline.connect.errors import DataError

Offset = Mapping[str, Any]
NOTHING_SEEN: Final = Segments([])


class Stream:
    """`segments` are those of the snapshot, by the text of the table's name."""

    def __init__(
        self,
        partition: Mapping[str, Any],
        offset: Offset | None,
        settings: Mapping[str, Any],
        shape_of: Callable[[Relation], TableShape],
        is_captured: Callable[[TableName], bool],
        segments: Mapping[str, Segments],
    ) -> None:
        self._partition, self._settings = partition, settings
        self._shape_of, self._is_captured, self._segments = shape_of, is_captured, segments
        self._skipped = set(settings["skipped.operations"])
        self._done: Offset = offset or {}
        self._shapes: dict[int, TableShape | None] = {}
        self._begin = Begin(0, 0, 0)
        self._event = 0
        self._held: list[SourceRecord] = []
        self.end_lsn = int(self._done.get("lsn_end") or 0)
        """Behind the last transaction of which everything has been handed out."""

    def restart(self) -> None:
        """The messages begin anew, at any transaction."""
        self._held = []
        self._shapes = {}

    def feed(self, lsn: int, data: bytes) -> list[SourceRecord]:
        """The records that are ready now."""
        message = decode_message(data)
        if message is None:
            return []
        if isinstance(message, Begin):
            self._begin, self._event = message, 0
            return []
        if isinstance(message, Relation):
            self._shapes[message.oid] = self._captured_shape(message)
            return []
        if isinstance(message, Commit):
            return self._ended(message)
        self._event += 1
        if self._is_done(self._event, None):
            return []
        records = self._numbered(lsn, list(self._records(message, lsn)))
        if not records:
            return []
        ready, self._held = self._held, records
        return self._handed_out(ready)

    def _handed_out(self, ready: list[SourceRecord]) -> list[SourceRecord]:
        if ready:
            self._done = ready[-1].source_offset or {}
        return ready

    def _captured_shape(self, relation: Relation) -> TableShape | None:
        name = TableName(relation.schema, relation.name)
        return self._shape_of(relation) if self._is_captured(name) else None

    def _ended(self, commit: Commit) -> list[SourceRecord]:
        ready, self._held = self._held, []
        if ready:
            ready[-1].source_offset = {**(ready[-1].source_offset or {}), "lsn_end": commit.end_lsn}
        self.end_lsn = max(self.end_lsn, commit.end_lsn)
        return self._handed_out(ready)

    def _is_done(self, event: int, part: int | None) -> bool:
        """Of a record, or of all records of a change."""
        lsn = self._done.get("lsn_commit")
        if lsn is None or self._begin.commit_lsn > lsn:
            return False
        if self._begin.commit_lsn < lsn or self._done.get("lsn_end"):
            return True
        done = (self._done.get("event", 0), self._done.get("part", 0))
        return (event, part) <= done if part is not None else event < done[0]

    def _numbered(self, lsn: int, records: list[SourceRecord]) -> list[SourceRecord]:
        begin = self._begin
        for part, record in enumerate(records):
            record.source_offset = {
                "lsn": lsn,
                "lsn_proc": lsn,
                "lsn_commit": begin.commit_lsn,
                "txId": begin.xid,
                "ts_usec": begin.commit_us,
                "event": self._event,
                "part": part,
            }
        return [record for part, record in enumerate(records) if not self._is_done(self._event, part)]

    # --- of a change

    def _records(self, change: Insert | Update | Delete | Truncate, lsn: int) -> Iterator[SourceRecord]:
        if isinstance(change, Truncate):
            yield from self._truncated(change, lsn)
            return
        shape = self._shape(change.relation)
        if shape is None:
            return
        if isinstance(change, Insert):
            yield from self._created(shape, change.new, lsn)
        elif isinstance(change, Delete):
            yield from self._deleted(shape, change.old, lsn)
        else:
            yield from self._updated(shape, change, lsn)

    def _shape(self, relation: int) -> TableShape | None:
        if relation not in self._shapes:
            raise DataError(f"pgoutput: a change of table {relation}, which was not described")
        return self._shapes[relation]

    def _created(self, shape: TableShape, new: Row, lsn: int) -> Iterator[SourceRecord]:
        if self._is_wanted("c", shape, new):
            yield self._event_record(shape, "c", shape.key(new), None, shape.row(new), lsn)

    def _updated(self, shape: TableShape, change: Update, lsn: int) -> Iterator[SourceRecord]:
        """One that changes the key is a delete of the old one and a new row."""
        old, new = change.old, _completed(change.new, change.old)
        if old is not None and shape.sort_key(old) != shape.sort_key(new):
            yield from self._deleted(shape, old, lsn)
            yield from self._created(shape, new, lsn)
        elif self._is_wanted("u", shape, new):
            before = None if old is None or change.is_key_only else shape.row(old)
            yield self._event_record(shape, "u", shape.key(new), before, shape.row(new), lsn)

    def _deleted(self, shape: TableShape, old: Row, lsn: int) -> Iterator[SourceRecord]:
        if not self._is_wanted("d", shape, old):
            return
        key = shape.key(old)
        yield self._event_record(shape, "d", key, shape.row(old), None, lsn)
        if self._settings["tombstones.on.delete"] and key is not None:
            yield SourceRecord(self._partition, None, shape.topic, None, None, key, shape.key_schema)

    def _truncated(self, change: Truncate, lsn: int) -> Iterator[SourceRecord]:
        for relation in change.relations:
            shape = self._shape(relation)
            if shape is None or "t" in self._skipped:
                continue
            if not self._segments_of(shape).has_seen_everywhere(*self._transaction):
                yield self._event_record(shape, "t", None, None, None, lsn)

    def _is_wanted(self, op: str, shape: TableShape, row: Row) -> bool:
        if op in self._skipped:
            return False
        segments = self._segments_of(shape)
        return segments is NOTHING_SEEN or not segments.has_seen(shape.sort_key(row), *self._transaction)

    @property
    def _transaction(self) -> tuple[int, int]:
        return self._begin.xid, self._begin.commit_lsn

    def _segments_of(self, shape: TableShape) -> Segments:
        return self._segments.get(str(shape.name), NOTHING_SEEN)

    def _event_record(
        self,
        shape: TableShape,
        op: str,
        key: Struct | None,
        before: Struct | None,
        after: Struct | None,
        lsn: int,
    ) -> SourceRecord:
        source = shape.source(self._begin.commit_us // 1000, "false", self._begin.xid, lsn)
        value = shape.event(op, before, after, source, time.time_ns() // 1_000_000)
        key_schema = None if key is None else shape.key_schema
        return SourceRecord(self._partition, None, shape.topic, value, shape.envelope, key, key_schema)


def _completed(new: Row, old: Row | None) -> Row:
    """What is unchanged is taken from the old row, where that has it."""
    if old is None or UNCHANGED not in new:
        return new
    return tuple(
        before if now is UNCHANGED and before is not None else now
        for now, before in zip(new, old, strict=True)
    )
