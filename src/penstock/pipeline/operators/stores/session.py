"""Values of a key and a session."""

import struct
from bisect import bisect_left, insort
from collections.abc import Iterator
from typing import Any

from penstock.pipeline.operators.stores.changes import Logged
from penstock.pipeline.operators.stores.segments import Retention
from penstock.pipeline.plan.serdes import Serde
from penstock.pipeline.plan.stores import SessionStoreSpec
from penstock.pipeline.plan.windows import Window, Windowed

EndAndStart = tuple[int, int]


END_AND_START = struct.Struct(">qq")


class SessionStore(Logged):
    def __init__(self, spec: SessionStoreSpec, topic: str, key_serde: Serde, value_serde: Serde) -> None:
        self.name = spec.name
        self._topic = topic
        self._encode_key, self._decode_key = key_serde.encode, key_serde.decode
        self._encode, self._decode = value_serde.encode, value_serde.decode
        self._retention = Retention(spec.retention_ms)
        self._sessions: dict[bytes, dict[EndAndStart, bytes]] = {}
        self._sorted: dict[bytes, list[EndAndStart]] = {}
        self._in_time: list[tuple[int, int, bytes]] = []
        self.expired_records = 0

    def _key(self, key: Any) -> bytes:
        return self._encode_key(self._topic, key) or b""

    def put(self, session: Windowed[Any], value: Any, timestamp: int | None = None) -> None:
        """The timestamp is that of the record that makes the change."""
        data = self._encode(self._topic, value)
        key, (start, end) = self._key(session.key), session.window
        if not self._change(key, (end, start), data):
            self.expired_records += 1
        if self.log is not None:
            self.log(key + END_AND_START.pack(end, start), data, self._time(timestamp))

    def remove(self, session: Windowed[Any], timestamp: int | None = None) -> None:
        key, (start, end) = self._key(session.key), session.window
        self._remove(key, (end, start))
        if self.log is not None:
            self.log(key + END_AND_START.pack(end, start), None, self._time(timestamp))

    def _time(self, given: int | None) -> int:
        return self.current_time if given is None else given

    def restore(self, key: bytes, value: bytes | None, timestamp: int) -> None:
        end, start = END_AND_START.unpack_from(key, len(key) - END_AND_START.size)
        self._change(key[: -END_AND_START.size], (end, start), value)

    def _change(self, key: bytes, place: EndAndStart, data: bytes | None) -> bool:
        """Whether it is not too late for that."""
        is_admitted = self._retention.admits(place[0])
        if (before := self._retention.newly_expired_before()) is not None:
            self._drop(before)
        if is_admitted and data is not None:
            self._add(key, place, data)
        elif is_admitted:
            self._remove(key, place)
        return is_admitted

    def _add(self, key: bytes, place: EndAndStart, data: bytes) -> None:
        sessions = self._sessions.setdefault(key, {})
        if place not in sessions:
            insort(self._sorted.setdefault(key, []), place)
            insort(self._in_time, (*place, key))
        sessions[place] = data

    def _remove(self, key: bytes, place: EndAndStart) -> None:
        if self._sessions.get(key, {}).pop(place, None) is None:
            return
        self._sorted[key].remove(place)
        del self._in_time[bisect_left(self._in_time, (*place, key))]
        if not self._sessions[key]:
            del self._sessions[key], self._sorted[key]

    def _drop(self, before: int) -> None:
        for end, start, key in self._in_time[: bisect_left(self._in_time, (before,))]:
            self._remove(key, (end, start))

    def find_sessions(
        self, key: Any, earliest_end: int, latest_start: int
    ) -> list[tuple[Windowed[Any], Any]]:
        """Those of a key that end and start in these bounds, by end, then by start."""
        encoded = self._key(key)
        places = self._sorted.get(encoded)
        if not places:
            return []
        first = bisect_left(places, (max(earliest_end, self._retention.oldest_found),))
        return [self._found(encoded, place) for place in places[first:] if place[1] <= latest_start]

    def find_ended(self, earliest_end: int, latest_end: int) -> list[tuple[Windowed[Any], Any]]:
        """Of all keys, by end, start and key."""
        first = bisect_left(self._in_time, (earliest_end,))
        last = bisect_left(self._in_time, (latest_end + 1,))
        return [self._found(key, (end, start)) for end, start, key in self._in_time[first:last]]

    def _found(self, key: bytes, place: EndAndStart) -> tuple[Windowed[Any], Any]:
        end, start = place
        windowed = Windowed(self._decode_key(self._topic, key), Window(start, end))
        return windowed, self._decode(self._topic, self._sessions[key][place])

    def fetch_session(self, key: Any, start: int, end: int) -> Any:
        if end < self._retention.oldest_found:
            return None
        data = self._sessions.get(self._key(key), {}).get((end, start))
        return self._decode(self._topic, data)

    def fetch(self, key: Any) -> Iterator[tuple[Windowed[Any], Any]]:
        """All sessions of a key."""
        last = 1 << 62
        return iter(self.find_sessions(key, 0, last))

    def all(self) -> Iterator[tuple[Windowed[Any], Any]]:
        return iter(self.find_ended(0, 1 << 62))
