"""Which changes a snapshot has seen already.

Rows are read in the order of their key, for as long as a tick lasts; the next tick goes on behind the last key, and
sees the table as it is then. So a snapshot is a list of segments: the rows up to some key, as one snapshot of
PostgreSQL saw them. A change that is streamed later is left out if its transaction is visible in the snapshot of the
segment that its row's key belongs to: then the row was read with the change in it. That is exact, whatever was written
while the table was read, and needs no moment at which everything was read.

Behind the last key there was nothing to read: changes of such rows are all streamed.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

Key = tuple[Any, ...]
"""A key's columns as they compare in PostgreSQL: whole numbers, or text in the order of its code points."""


@dataclass(frozen=True, slots=True)
class XidSnapshot:
    """What `pg_current_snapshot()` says: `xmin:xmax:running,...`, in transaction ids of 64 bits."""

    xmin: int
    xmax: int
    running: frozenset[int]

    @classmethod
    def parse(cls, text: str) -> XidSnapshot:
        xmin, xmax, running = text.split(":")
        return cls(int(xmin), int(xmax), frozenset(map(int, filter(None, running.split(",")))))

    def sees(self, xid: int) -> bool:
        """A transaction that has committed, by the 32 bits that the stream has of its id."""
        distance = ((xid - self.xmax) & 0xFFFFFFFF) ^ 0x80000000
        whole = self.xmax + distance - 0x80000000
        return whole < self.xmax and whole not in self.running


class Segments:
    """Of one table, in the order of keys. Those of a table without a key have the key ()."""

    def __init__(self, known: list[tuple[Key, str]]) -> None:
        self._known = known
        self._keys = [key for key, _ in known]
        self._snapshots = [XidSnapshot.parse(text) for _, text in known]

    @classmethod
    def from_text(cls, text: str) -> Segments:
        return cls([(tuple(key), snapshot) for key, snapshot in json.loads(text)])

    def to_text(self) -> str:
        return json.dumps(self._known, separators=(",", ":"))

    @property
    def last_key(self) -> Key | None:
        return self._keys[-1] if self._keys else None

    def reaching(self, key: Key, snapshot: str) -> Segments:
        """With the rows up to `key`, as that snapshot saw them."""
        known = self._known
        if known and known[-1][1] == snapshot:
            known = known[:-1]
        return Segments([*known, (key, snapshot)])

    def has_seen(self, key: Key, xid: int) -> bool:
        number = bisect_left(self._keys, key)
        return number < len(self._keys) and self._snapshots[number].sees(xid)

    def has_seen_everywhere(self, xid: int) -> bool:
        return bool(self._snapshots) and all(each.sees(xid) for each in self._snapshots)
