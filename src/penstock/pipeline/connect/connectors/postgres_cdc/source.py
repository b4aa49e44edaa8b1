"""The connector and its one task: first the rows that are there, then changes, for ever.

What Kafka's offsets say is the truth; the slot follows. It is advanced to what a transaction of Kafka has committed:
when a task starts, from its offset, and while it runs, from what it hears of commits. A slot that lags costs work, as
what Kafka has is decoded again and left out. A slot that is ahead would lose changes, so it never is.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from penstock.pipeline.connect.api import ConfigDef, ConnectError, SourceConnector, SourceTask
from penstock.pipeline.connect.api.connector import Configs
from penstock.pipeline.connect.connectors.jdbc.databases import translated_errors
from penstock.pipeline.connect.connectors.jdbc.dialect import TableName
from penstock.pipeline.connect.connectors.postgres_cdc.config import (
    CONFIG,
    INITIAL,
    INITIAL_ONLY,
    is_captured,
)
from penstock.pipeline.connect.connectors.postgres_cdc.segments import Segments
from penstock.pipeline.connect.connectors.postgres_cdc.session import CaptureSession
from penstock.pipeline.connect.connectors.postgres_cdc.snapshot import Snapshot, segments_of, table_partition
from penstock.pipeline.connect.connectors.postgres_cdc.stream import Stream
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.errors import RetriableConnectError

SERVER: Final = "server"
MOST_WAIT_SECONDS: Final = 0.5
IDLE_ADVANCE_BYTES: Final = 1024 * 1024
"""How far a slot may lag behind because others write, not the tables that are captured."""


class PostgresTask(SourceTask):
    def start(self, configs: Mapping[str, str]) -> None:
        self._settings = CONFIG.parse(configs)
        self._is_captured = is_captured(self._settings)
        self._session = CaptureSession(self._settings)
        self._partition = {SERVER: self._settings["topic.prefix"]}
        self._stream: Stream | None = None
        self._snapshot: Snapshot | None = None
        self._is_peeking = self._peeked_any = False
        self._flushed_lsn = 0
        self._slot_lsn = 0
        self._safe_lsn = 0
        """What the slot may be advanced to: all records before it are in Kafka."""
        self._returned_lsn = self._returned_before_lsn = self._records_lsn = 0
        """Behind all that was polled; behind that before the last poll; behind the last poll that had records."""

    def poll(self) -> list[SourceRecord] | None:
        self._returned_before_lsn = self._returned_lsn
        try:
            with translated_errors(self._session, self._doing()):
                if not self._session.is_connected:
                    self._open()
                records = self._next_records()
        except ConnectError:
            self._session.close()  # whoever asks again begins with a new connection
            raise
        if not records:
            self._wait()
        return records or None

    def commit(self) -> None:
        """A commit since the poll before the last covers what that poll returned; of the last one it is not sure."""
        self._safe_lsn = max(self._safe_lsn, self._returned_before_lsn)

    def stop(self) -> None:
        self._session.close()

    def _doing(self) -> str:
        where = f"slot {self._settings['slot.name']}, publication {self._settings['publication.name']}"
        return f"capturing changes of {self._settings['database.dbname']} ({where})"

    # --- beginning

    def _open(self) -> None:
        session = self._session
        session.connect()
        self._is_peeking = False
        if self._stream is not None:  # the connection was lost
            self._stream.restart()
        offset = self.context.offsets.offset(self._partition)
        session.ensure_publication(self._captured_tables(is_new=offset is None))
        self._slot_lsn = self._found_slot(is_new=offset is None)
        self._safe_lsn = max(self._safe_lsn, int((offset or {}).get("lsn_end") or 0))
        self._begin(offset, [each for each in session.published() if self._is_captured(each)])
        session.commit()

    def _captured_tables(self, is_new: bool) -> list[TableName]:
        there = self._session.ordinary_tables()
        captured = [each for each in there if self._is_captured(each)]
        if not captured and is_new:
            names = ", ".join(map(str, there)) or "none"
            raise RetriableConnectError(
                f"table.include.list: no table of {self._settings['database.dbname']} is captured; it has {names}"
            )
        return captured

    def _found_slot(self, is_new: bool) -> int:
        lsn = self._session.slot_lsn()
        if lsn is not None:
            return lsn
        if not is_new or self._has_begun():
            raise ConnectError(
                f"slot.name: the slot {self._settings['slot.name']!r} is gone, and the changes since with it; "
                "reset the connector's offsets to begin anew, with a snapshot"
            )
        self._session.create_slot()
        return self._session.slot_lsn() or 0

    def _has_begun(self) -> bool:
        tables = [each for each in self._session.published() if self._is_captured(each)]
        return any(self.context.offsets.offsets([table_partition(self._partition, each) for each in tables]))

    def _begin(self, offset: Mapping[str, Any] | None, tables: list[TableName]) -> None:
        partitions = [table_partition(self._partition, each) for each in tables]
        known = dict(zip(map(str, tables), self.context.offsets.offsets(partitions), strict=True))
        segments = {name: segments_of(each) for name, each in known.items() if each}
        wants_rows = self._settings["snapshot.mode"] in (INITIAL, INITIAL_ONLY) and offset is None
        if self._stream is None:
            self._stream = self._new_stream(offset, segments)
            if wants_rows:
                left = [each for each in tables if not (known[str(each)] or {}).get("done")]
                self._snapshot = Snapshot(self._session, self._partition, self._settings, left, segments)
        elif self._snapshot is not None:
            self._snapshot.restart(tables)

    def _new_stream(self, offset: Mapping[str, Any] | None, segments: Mapping[str, Segments]) -> Stream:
        return Stream(
            *(self._partition, offset, self._settings),
            *(self._session.shape, self._is_captured, segments),
        )

    # --- going on

    def _next_records(self) -> list[SourceRecord]:
        if self._snapshot is not None:
            records = self._snapshot.next_records()
            if records or not self._snapshot.is_over:
                return records
            self._snapshot = None
        if self._settings["snapshot.mode"] == INITIAL_ONLY:
            return []
        return self._changes()

    def _changes(self) -> list[SourceRecord]:
        """Of one look at the slot, the next some; none when there are none."""
        assert self._stream is not None
        if not self._is_peeking:
            self._advance()
            self._flushed_lsn = self._session.flushed_lsn()
            self._session.peek()
            self._is_peeking, self._peeked_any = True, False
        records: list[SourceRecord] = []
        while not records:
            fetched = self._session.fetch_changes(self._settings["max.batch.size"])
            if not fetched:
                self._end_peek()
                break
            self._peeked_any = True
            for lsn, data in fetched:
                records += self._stream.feed(lsn, data)
            self._returned_lsn = max(self._returned_lsn, self._stream.end_lsn)
        if records:
            self._records_lsn = self._returned_lsn
        return records

    def _end_peek(self) -> None:
        self._session.commit()
        self._is_peeking = False
        if self._safe_lsn >= self._records_lsn:  # nothing that Kafka waits for
            self._safe_lsn = max(self._safe_lsn, self._returned_lsn)
        is_idle = not self._peeked_any and self._safe_lsn >= self._returned_lsn
        if is_idle and self._flushed_lsn - self._slot_lsn > IDLE_ADVANCE_BYTES:
            self._safe_lsn = self._flushed_lsn
            self._advance()

    def _advance(self) -> None:
        if self._safe_lsn > self._slot_lsn:
            self._session.advance(self._safe_lsn)
            self._slot_lsn = self._safe_lsn

    def _wait(self) -> None:
        deadline = time.monotonic() + min(self._settings["poll.interval.ms"] / 1000, MOST_WAIT_SECONDS)
        while not self.context.is_stopping() and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, 0.05))


class PostgresConnector(SourceConnector):
    """Captures the changes of PostgreSQL's tables. A slot has one reader, so there is one task."""

    task_class = PostgresTask
    config_def: ClassVar[ConfigDef] = CONFIG

    def validate(self, configs: Configs) -> dict[str, list[str]]:
        errors: dict[str, list[str]] = {}
        for what in ("schema", "table"):
            names = [f"{what}.include.list", f"{what}.exclude.list"]
            if all(configs.get(name) for name in names):
                errors |= {name: [f"{name}: takes only one of {' and '.join(names)}"] for name in names}
        return errors

    def alter_offsets(self, configs: Configs, offsets: Any) -> bool:
        for partition, offset in offsets:
            if SERVER not in (partition or {}):
                raise ConnectError(f"Partition objects should contain the key '{SERVER}'")
            if (
                offset is not None
                and "table" not in partition
                and not isinstance(offset.get("lsn_commit"), int)
            ):
                raise ConnectError("Offset objects should either be null or contain 'lsn_commit', a number")
        return True
