"""The aborted transactions of a segment (`.txnindex`): what a reader of committed data must skip.

An entry is written when a transaction's abort marker is appended, so entries are ordered by last offset. It
also keeps the last stable offset of that moment: a search that has reached it can stop.
"""

from struct import Struct
from typing import NamedTuple

from penstock.log.fs import FileSystem

_ENTRY = Struct(">hqqqq")
_VERSION = 0
ENTRY_SIZE = _ENTRY.size


class AbortedTransaction(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TransactionIndex:
    """Its file exists only if there is an entry; entries are read when first asked for."""

    __slots__ = ("_entries", "_fs", "path")

    def __init__(self, fs: FileSystem, path: str) -> None:
        self._fs = fs
        self.path = path
        self._entries: list[AbortedTransaction] | None = None

    @property
    def entries(self) -> list[AbortedTransaction]:
        if self._entries is None:
            self._entries = self._read() if self._fs.exists(self.path) else []
        return self._entries

    def _read(self) -> list[AbortedTransaction]:
        data = self._fs.read_file(self.path)
        whole = len(data) - len(data) % ENTRY_SIZE
        return [AbortedTransaction(*fields[1:]) for fields in _ENTRY.iter_unpack(data[:whole])]

    def append(self, entry: AbortedTransaction) -> None:
        position = len(self.entries) * ENTRY_SIZE
        file = self._fs.open_file(self.path, create=True)
        file.pwrite(_ENTRY.pack(_VERSION, *entry), position)
        file.close()
        self.entries.append(entry)

    def collect(self, from_offset: int, to_offset: int) -> tuple[list[AbortedTransaction], bool]:
        """The aborted transactions that touch [from, to), and whether later segments need no search."""
        found: list[AbortedTransaction] = []
        for entry in self.entries:
            if entry.last_offset >= from_offset and entry.first_offset < to_offset:
                found.append(entry)
            if entry.last_stable_offset >= to_offset:
                return found, True
        return found, False

    def truncate_to(self, offset: int) -> None:
        kept = [entry for entry in self.entries if entry.last_offset < offset]
        if len(kept) != len(self.entries):
            self.replace(kept)

    def replace(self, entries: list[AbortedTransaction]) -> None:
        self._entries = entries
        if entries:
            data = b"".join(_ENTRY.pack(_VERSION, *entry) for entry in entries)
            self._fs.write_file(self.path, data, sync=False)
        else:
            self._fs.remove(self.path)
