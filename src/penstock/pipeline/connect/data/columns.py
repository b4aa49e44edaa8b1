"""Many records at once, as columns: what it takes to move millions of them without an object for each.

Both kinds are sequences of records like any other: who does not know of columns reads records, which are made as they
are asked for. Who does know saves that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, overload

from penstock.pipeline.connect.data.records import SinkRecord, SourceRecord
from penstock.pipeline.connect.data.schema import Schema

if TYPE_CHECKING:
    from pyarrow import Table


class SinkColumns(Sequence[SinkRecord]):
    """Records of one topic, in the order in which they were read; their values are rows of a table of Arrow.

    With a schema the table has its fields (or the one column `value`, if it is no struct), in their order and with
    their types. Without one it has what the values have.
    """

    def __init__(
        self,
        topic: str,
        partitions: Sequence[int],
        offsets: Sequence[int],
        schema: Schema | None,
        table: Table,
        record_at: Callable[[int], SinkRecord],
        timestamps: Callable[[int, int], Sequence[int | None]] | None = None,
    ) -> None:
        self.topic, self.partitions, self.offsets = topic, partitions, offsets
        self.schema, self.table = schema, table
        self._record_at, self._timestamps = record_at, timestamps

    def __len__(self) -> int:
        return len(self.offsets)

    @overload
    def __getitem__(self, index: int) -> SinkRecord: ...
    @overload
    def __getitem__(self, index: slice) -> SinkColumns: ...
    def __getitem__(self, index: int | slice) -> SinkRecord | SinkColumns:
        where = range(len(self))[index]
        if isinstance(where, int):
            return self._record_at(where)
        if where.step != 1:
            raise ValueError("only records that follow each other stay columns")
        return self._part(where.start, where.stop)

    def _part(self, start: int, stop: int) -> SinkColumns:
        if start == 0 and stop == len(self):
            return self
        return SinkColumns(
            self.topic,
            self.partitions[start:stop],
            self.offsets[start:stop],
            self.schema,
            self.table.slice(start, stop - start),
            lambda index: self._record_at(start + index),
            lambda first, behind: self._timestamps_of(start + first, start + behind),
        )

    def timestamps(self) -> Sequence[int | None]:
        """In milliseconds; not there before they are asked for."""
        return self._timestamps_of(0, len(self))

    def _timestamps_of(self, start: int, stop: int) -> Sequence[int | None]:
        if self._timestamps is not None:
            return self._timestamps(start, stop)
        return [self._record_at(each).timestamp for each in range(start, stop)]

    def runs(self) -> Iterator[tuple[int, SinkColumns]]:
        """The same in pieces that are of one partition each."""
        start = 0
        for partition, same in groupby(self.partitions):
            stop = start + sum(1 for _ in same)
            yield partition, self._part(start, stop)
            start = stop


class SourceColumns(Sequence[SourceRecord]):
    """Values for one topic from one partition of the source, without keys.

    `offset_at` says where the source goes on behind a record. `now_ms` is the time of records that are made; those that
    need not be have the time at which they are sent.
    """

    def __init__(
        self,
        source_partition: Mapping[str, Any],
        offset_at: Callable[[int], Mapping[str, Any]],
        topic: str,
        values: Sequence[Any],
        schema: Schema | None,
        now_ms: int | None = None,
    ) -> None:
        self.source_partition, self.offset_at = source_partition, offset_at
        self.topic, self.values, self.schema, self.now_ms = topic, values, schema, now_ms

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> SourceRecord: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SourceRecord]: ...
    def __getitem__(self, index: int | slice) -> SourceRecord | Sequence[SourceRecord]:
        where = range(len(self))[index]
        return self._record(where) if isinstance(where, int) else [self._record(each) for each in where]

    def _record(self, index: int) -> SourceRecord:
        return SourceRecord(
            self.source_partition,
            self.offset_at(index),
            self.topic,
            self.values[index],
            self.schema,
            timestamp=self.now_ms,
        )
