"""Values of a key and the start of a window; or of a key and a time, several of each, as joins keep them."""

import struct
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from typing import Any

from penstock.pipeline.operators.stores.changes import Logged
from penstock.pipeline.operators.stores.key_value import Row
from penstock.pipeline.operators.stores.segments import Retention
from penstock.pipeline.plan.serdes import Serde
from penstock.pipeline.plan.stores import WindowStoreSpec
from penstock.pipeline.plan.windows import Window, Windowed

Entry = tuple[bytes, int]


START_AND_NUMBER = struct.Struct(">qI")
MOST_NUMBERS = 0x7FFFFFFF


class WindowStore(Logged):
    def __init__(self, spec: WindowStoreSpec, topic: str, key_serde: Serde, value_serde: Serde) -> None:
        self.name = spec.name
        self._topic, self.window_size_ms = topic, spec.window_size_ms
        self._retains_duplicates, self._is_timestamped = spec.retains_duplicates, spec.is_timestamped
        self._encode_key, self._decode_key = key_serde.encode, key_serde.decode
        self._encode, self._decode = value_serde.encode, value_serde.decode
        self._retention = Retention(spec.retention_ms, spec.emits_on_close)
        self._entries: dict[bytes, dict[int, list[Entry]]] = {}
        self._starts: dict[bytes, list[int]] = {}
        self._keys_at: dict[int, set[bytes]] = {}
        self._all_starts: list[int] = []
        self._number = 0
        """Of a record among those of its key and time."""
        self.expired_records = 0
        """Records that came too late to be kept."""

    # --- as windowed tables use it

    def row_at(self, key: Any, start: int) -> Row | None:
        entries = self.entries_of(self.key_bytes(key), start)
        return self.read(entries) if entries else None

    def put_row_at(self, key: Any, value: Any, timestamp: int, start: int) -> None:
        self.put_row_of(self.key_bytes(key), value, timestamp, start)

    def key_bytes(self, key: Any) -> bytes:
        """For those below, which need them again and again."""
        return self._encode_key(self._topic, key) or b""

    def entries_of(self, key: bytes, start: int) -> list[Entry] | None:
        """What is there already, for `read` and `replace`: nothing expires then, and nothing comes too late."""
        if start < self._retention.oldest_found or (windows := self._entries.get(key)) is None:
            return None
        return windows.get(start)

    def read(self, entries: list[Entry]) -> Row:
        data, timestamp = entries[0]
        return self._decode(self._topic, data), timestamp

    def replace(self, entries: list[Entry], key: bytes, value: Any, timestamp: int, start: int) -> None:
        data = self._encode(self._topic, value)
        if data is None or self._retains_duplicates:
            self.put_row_of(key, value, timestamp, start)
            return
        entries[0] = data, timestamp
        if self.log is not None:
            self.log(key + START_AND_NUMBER.pack(start, self._number), data, timestamp)

    def put_row_of(self, key: bytes, value: Any, timestamp: int, start: int) -> None:
        data = self._encode(self._topic, value)
        is_nothing = data is None and self._retains_duplicates
        if not is_nothing and not self._change(key, data, timestamp, start):
            self.expired_records += 1
        if self.log is not None:
            if self._retains_duplicates:
                self._number = (self._number + 1) & MOST_NUMBERS
            self.log(key + START_AND_NUMBER.pack(start, self._number), data, timestamp)

    def restore(self, key: bytes, value: bytes | None, timestamp: int) -> None:
        start, self._number = START_AND_NUMBER.unpack_from(key, len(key) - START_AND_NUMBER.size)
        if value is not None or not self._retains_duplicates:
            self._change(key[: -START_AND_NUMBER.size], value, timestamp, start)

    def _change(self, key: bytes, data: bytes | None, timestamp: int, start: int) -> bool:
        """Whether it is not too late for that."""
        is_admitted = self._retention.admits(start)
        if (before := self._retention.newly_expired_before()) is not None:
            self._drop(before)
        if is_admitted and data is None:
            self._remove(key, start)
        elif is_admitted and data is not None:
            self._add(key, start, (data, timestamp))
        return is_admitted

    def rows_of(self, key: Any, first: int, last: int) -> list[tuple[int, Row]]:
        """Of windows that start from `first` to `last`, in that order."""
        encoded = self.key_bytes(key)
        starts = self._starts.get(encoded)
        if not starts:
            return []
        low = bisect_left(starts, max(first, self._retention.oldest_found))
        high = bisect_right(starts, last)
        entries = self._entries[encoded]
        return [(start, self._row(entry)) for start in starts[low:high] for entry in entries[start]]

    def all_rows(self, first: int, last: int) -> list[tuple[Windowed[Any], Row]]:
        """By start, then by key."""
        low = bisect_left(self._all_starts, max(first, self._retention.oldest_found))
        high = bisect_right(self._all_starts, last)
        return [
            (self._windowed(key, start), self._row(entry))
            for start in self._all_starts[low:high]
            for key in sorted(self._keys_at[start])
            for entry in self._entries[key][start]
        ]

    def _row(self, entry: Entry) -> Row:
        return self._decode(self._topic, entry[0]), entry[1]

    def _windowed(self, key: bytes, start: int) -> Windowed[Any]:
        return Windowed(self._decode_key(self._topic, key), Window(start, start + self.window_size_ms))

    def _add(self, key: bytes, start: int, entry: Entry) -> None:
        entries = self._entries.get(key)
        if entries is None:
            entries = self._entries[key] = {}
        there = entries.get(start)
        if there is None:
            entries[start] = [entry]
            insort(self._starts.setdefault(key, []), start)
            if start not in self._keys_at:
                self._keys_at[start] = set()
                insort(self._all_starts, start)
            self._keys_at[start].add(key)
        elif self._retains_duplicates:
            there.append(entry)
        else:
            there[0] = entry

    def _remove(self, key: bytes, start: int) -> None:
        entries = self._entries.get(key, {})
        if entries.pop(start, None) is None:
            return
        self._starts[key].remove(start)
        keys = self._keys_at[start]
        keys.remove(key)
        if not keys:
            del self._keys_at[start]
            self._all_starts.remove(start)
        if not entries:
            del self._entries[key], self._starts[key]

    def _drop(self, before: int) -> None:
        expired = self._all_starts[: bisect_left(self._all_starts, before)]
        for start in expired:
            for key in list(self._keys_at[start]):
                self._remove(key, start)

    # --- as users see it

    def put(self, key: Any, value: Any, window_start_ms: int) -> None:
        is_pair = self._is_timestamped and value is not None
        value, timestamp = value if is_pair else (value, self.current_time)
        self.put_row_at(key, value, timestamp, window_start_ms)

    def fetch(self, key: Any, first_ms: int, last_ms: int | None = None) -> Any:
        """The value of one window, or, with a second time, starts and values of all that start between them."""
        if last_ms is None:
            row = self.row_at(key, first_ms)
            return None if row is None else self._shown(row)
        return ((start, self._shown(row)) for start, row in self.rows_of(key, first_ms, last_ms))

    def fetch_all(self, first_ms: int, last_ms: int) -> Iterator[tuple[Windowed[Any], Any]]:
        return ((windowed, self._shown(row)) for windowed, row in self.all_rows(first_ms, last_ms))

    def all(self) -> Iterator[tuple[Windowed[Any], Any]]:
        last = self._all_starts[-1] if self._all_starts else 0
        return self.fetch_all(0, last)

    def _shown(self, row: Row) -> Any:
        return row if self._is_timestamped else row[0]
