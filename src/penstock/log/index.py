"""The sparse indexes of a segment, as the bytes of their files.

`.index`:     8 bytes per entry: offset (relative to the segment's base), file position. The entry names the
              last offset of the batch that starts at that position.
`.timeindex`: 12 bytes per entry: the largest timestamp so far, and the (relative) last offset of its batch.

Entries live in a bytearray in the file's own format, so writing them out is one call; a lookup bisects it.
"""

from bisect import bisect_right
from struct import Struct

_OFFSET_ENTRY = Struct(">Ii")
_TIME_ENTRY = Struct(">qI")
_unpack_offset_entry = _OFFSET_ENTRY.unpack_from
_unpack_time_entry = _TIME_ENTRY.unpack_from

OFFSET_ENTRY_SIZE = _OFFSET_ENTRY.size
TIME_ENTRY_SIZE = _TIME_ENTRY.size
MAX_RELATIVE_OFFSET = 2**31 - 1


class OffsetIndex:
    __slots__ = ("base_offset", "entries")

    def __init__(self, base_offset: int, entries: bytearray) -> None:
        self.base_offset = base_offset
        self.entries = entries

    def __len__(self) -> int:
        return len(self.entries) // OFFSET_ENTRY_SIZE

    def append(self, offset: int, position: int) -> None:
        self.entries += _OFFSET_ENTRY.pack(offset - self.base_offset, position)

    def entry(self, number: int) -> tuple[int, int]:
        relative, position = _unpack_offset_entry(self.entries, number * OFFSET_ENTRY_SIZE)
        return self.base_offset + relative, position

    def lookup(self, offset: int) -> int:
        """A file position at or before the batch that holds `offset`."""
        number = self._count_up_to(offset)
        return self.entry(number - 1)[1] if number else 0

    def _count_up_to(self, offset: int) -> int:
        entries = self.entries

        def relative_offset(number: int) -> int:
            relative: int = _unpack_offset_entry(entries, number * OFFSET_ENTRY_SIZE)[0]
            return relative

        return bisect_right(range(len(self)), offset - self.base_offset, key=relative_offset)

    def last_entry(self) -> tuple[int, int]:
        return self.entry(len(self) - 1) if self.entries else (self.base_offset, 0)

    def truncate_to(self, offset: int) -> None:
        """Forget the entries at `offset` and above."""
        del self.entries[self._count_up_to(offset - 1) * OFFSET_ENTRY_SIZE :]

    def is_full(self, max_bytes: int) -> bool:
        return len(self.entries) + OFFSET_ENTRY_SIZE > max_bytes

    def is_sane(self, log_size: int) -> bool:
        """Whether the file may be used: whole entries that end inside the log, no zeros from a lost write."""
        if len(self.entries) % OFFSET_ENTRY_SIZE:
            return False
        return not self.entries or self.entry(0)[1] <= self.last_entry()[1] < log_size


class TimeIndex:
    __slots__ = ("base_offset", "entries")

    def __init__(self, base_offset: int, entries: bytearray) -> None:
        self.base_offset = base_offset
        self.entries = entries

    def __len__(self) -> int:
        return len(self.entries) // TIME_ENTRY_SIZE

    def entry(self, number: int) -> tuple[int, int]:
        timestamp, relative = _unpack_time_entry(self.entries, number * TIME_ENTRY_SIZE)
        return timestamp, self.base_offset + relative

    def last_entry(self) -> tuple[int, int]:
        return self.entry(len(self) - 1) if self.entries else (-1, self.base_offset)

    def maybe_append(self, timestamp: int, offset: int) -> None:
        """Timestamps in the index only grow; a batch that is not newer adds nothing."""
        if timestamp > self.last_entry()[0]:
            self.entries += _TIME_ENTRY.pack(timestamp, offset - self.base_offset)

    def lookup(self, timestamp: int) -> int:
        """An offset before which every record is older than `timestamp`."""
        entries = self.entries

        def entry_timestamp(number: int) -> int:
            value: int = _unpack_time_entry(entries, number * TIME_ENTRY_SIZE)[0]
            return value

        number = bisect_right(range(len(self)), timestamp - 1, key=entry_timestamp)
        return self.entry(number - 1)[1] if number else self.base_offset

    def truncate_to(self, offset: int) -> None:
        """Forget the entries at `offset` and above."""
        while self.entries and self.last_entry()[1] >= offset:
            del self.entries[-TIME_ENTRY_SIZE:]

    def is_full(self, max_bytes: int) -> bool:
        """One entry is kept for the largest timestamp, added when the segment closes."""
        return len(self.entries) + 2 * TIME_ENTRY_SIZE > max_bytes

    def is_sane(self) -> bool:
        if len(self.entries) % TIME_ENTRY_SIZE:
            return False
        return not self.entries or self.entry(0)[0] <= self.last_entry()[0]
