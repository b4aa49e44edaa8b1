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
class Seen:
    """What a snapshot saw: `xmin:xmax:running,...` of `pg_current_snapshot()`, in transaction ids of 64 bits, and
    `@lsn`, behind the commits of all that it sees. The stream has 32 bits of an id, which come round again; the place
    of the commit does not."""

    xmax: int
    running: frozenset[int]
    lsn: int

    @classmethod
    def parse(cls, text: str) -> Seen:
        ids, _, lsn = text.partition("@")
        _, xmax, running = ids.split(":")
        return cls(int(xmax), frozenset(map(int, filter(None, running.split(",")))), int(lsn))

    def sees(self, xid: int, commit_lsn: int) -> bool:
        """A transaction that has committed."""
        if commit_lsn >= self.lsn:
            return False
        distance = ((xid - self.xmax) & 0xFFFFFFFF) ^ 0x80000000
        whole = self.xmax + distance - 0x80000000
        return whole < self.xmax and whole not in self.running


class Segments:
    """Of one table, in the order of keys. Those of a table without a key have the key ()."""

    def __init__(self, known: list[tuple[Key, str]]) -> None:
        self._known = known
        self._keys = [key for key, _ in known]
        self._seen = [Seen.parse(text) for _, text in known]

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

    def has_seen(self, key: Key, xid: int, commit_lsn: int) -> bool:
        number = bisect_left(self._keys, key)
        return number < len(self._keys) and self._seen[number].sees(xid, commit_lsn)

    def has_seen_everywhere(self, xid: int, commit_lsn: int) -> bool:
        return bool(self._seen) and all(each.sees(xid, commit_lsn) for each in self._seen)
