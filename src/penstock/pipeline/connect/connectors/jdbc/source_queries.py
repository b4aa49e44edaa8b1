"""What to ask a table for, and where that leaves it: pure.

An offset says where reading goes on: the highest number seen; the latest time seen, and how many rows of that very time
were read, since a batch may end among them; for bulk, when the reading began and how many rows it has given. Rows come
in an order that is the same every time, so that counting them means something.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from penstock.pipeline.connect.connectors.jdbc.source_config import BOTH, BULK, INCREMENTING, TIMESTAMP

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Offset:
    """`timestamp` in microseconds since 1970; `rows` of that very time, or of a bulk, were handed on."""

    incrementing: int | None = None
    timestamp: int | None = None
    rows: int = 0
    bulk_began_ms: int | None = None

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any] | None) -> Offset:
        if not stored:
            return cls()
        timestamp = stored.get("timestamp")
        if timestamp is not None:
            timestamp = (
                timestamp // 1000 * 1_000_000
                + stored.get("timestamp_nanos", timestamp % 1000 * 1_000_000) // 1000
            )
        return cls(stored.get("incrementing"), timestamp, stored.get("rows", 0), stored.get("bulk_began_ms"))

    def stored(self) -> dict[str, Any]:
        """With Confluent's names, as far as they go."""
        found: dict[str, Any] = {}
        if self.incrementing is not None:
            found["incrementing"] = self.incrementing
        if self.timestamp is not None:
            found["timestamp"] = self.timestamp // 1000
            found["timestamp_nanos"] = self.timestamp % 1_000_000 * 1000
        if self.bulk_began_ms is not None:
            found["bulk_began_ms"] = self.bulk_began_ms
        return {**found, "rows": self.rows} if self.rows else found

    @property
    def moment(self) -> datetime | None:
        return None if self.timestamp is None else _EPOCH + timedelta(microseconds=self.timestamp)


def micros_of(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table or query is read. Names are quoted already; `placeholder` is the driver's."""

    mode: str
    source: str
    incrementing: str = ""
    timestamps: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    suffix: str = ""
    placeholder: str = "?"

    def sql(self, offset: Offset, until: Any, moment: Any) -> tuple[str, list[Any]]:
        """The query and its values for rows after `offset`. `moment` is the offset's time as the database takes it."""
        where, values = _WHERE[self.mode](self, offset, until, moment)
        order = ", ".join(dict.fromkeys((*self._order(), *self.order)))
        parts = [
            f"SELECT * FROM {self.source}",
            where and f"WHERE {where}",
            order and f"ORDER BY {order}",
            self.suffix,
        ]
        return " ".join(part for part in parts if part), values

    def _order(self) -> tuple[str, ...]:
        time = (f"{self.time} ASC",) if self.mode in (TIMESTAMP, BOTH) else ()
        number = (f"{self.incrementing} ASC",) if self.mode in (INCREMENTING, BOTH) else ()
        return (*time, *number)

    @property
    def time(self) -> str:
        return self.timestamps[0] if len(self.timestamps) == 1 else f"COALESCE({', '.join(self.timestamps)})"

    def after(self, before: Offset, incrementing: int | None, moment: datetime | None) -> Offset:
        """Where it stands after a row with that number and time."""
        timestamp = None if moment is None else micros_of(moment)
        if self.mode == BULK:
            return replace(before, rows=before.rows + 1)
        if self.mode == TIMESTAMP:
            same = timestamp == before.timestamp
            return replace(before, timestamp=timestamp, rows=before.rows + 1 if same else 1)
        return replace(
            before,
            incrementing=incrementing,
            timestamp=timestamp if self.mode == BOTH else before.timestamp,
        )

    def to_skip(self, offset: Offset) -> int:
        """How many of the first rows were handed on already."""
        return offset.rows if self.mode in (BULK, TIMESTAMP) else 0


Where = tuple[str, list[Any]]


def _bulk(reading: Reading, offset: Offset, until: Any, moment: Any) -> Where:
    return "", []


def _incrementing(reading: Reading, offset: Offset, until: Any, moment: Any) -> Where:
    if offset.incrementing is None:
        return "", []
    return f"{reading.incrementing} > {reading.placeholder}", [offset.incrementing]


def _timestamp(reading: Reading, offset: Offset, until: Any, moment: Any) -> Where:
    place = reading.placeholder
    if moment is None:
        return f"{reading.time} < {place}", [until]
    compare = ">=" if offset.rows else ">"
    return f"{reading.time} {compare} {place} AND {reading.time} < {place}", [moment, until]


def _both(reading: Reading, offset: Offset, until: Any, moment: Any) -> Where:
    place, time = reading.placeholder, reading.time
    if moment is None:
        return f"{time} < {place}", [until]
    if offset.incrementing is None:
        return f"{time} > {place} AND {time} < {place}", [moment, until]
    later = f"(({time} = {place} AND {reading.incrementing} > {place}) OR {time} > {place})"
    return f"{time} < {place} AND {later}", [until, moment, offset.incrementing, moment]


_WHERE = {BULK: _bulk, INCREMENTING: _incrementing, TIMESTAMP: _timestamp, BOTH: _both}
