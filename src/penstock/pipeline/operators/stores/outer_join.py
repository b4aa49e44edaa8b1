"""Records of both sides of a join that have met no partner yet, in the order of their times.

In the changelog a key has its time and its side before it; its value is the list of all that wait there, each with its
side and its length.
"""

import struct
from bisect import bisect_left, insort
from collections.abc import Iterator
from typing import Any

from penstock.pipeline.operators.stores.changes import Logged
from penstock.pipeline.plan.serdes import Serde

LEFT, RIGHT = 1, 0
"""As Kafka Streams sorts them: of one time, the right side first."""
Place = tuple[int, int, bytes]
TIME_AND_SIDE = struct.Struct(">qB")
LENGTH = struct.Struct(">i")
VARIABLE_SIZE = b"\x01"


class OuterJoinStore(Logged):
    def __init__(
        self, name: str, topic: str, key_serde: Serde, left_serde: Serde, right_serde: Serde
    ) -> None:
        self.name = name
        self._topic, self._key_serde = topic, key_serde
        self._serdes = {LEFT: left_serde, RIGHT: right_serde}
        self._values: dict[Place, list[bytes]] = {}
        self._places: list[Place] = []

    def _place(self, key: Any, timestamp: int, side: int) -> Place:
        return (timestamp, side, self._key_serde.encode(self._topic, key) or b"")

    def add(self, key: Any, timestamp: int, side: int, value: Any) -> None:
        place = self._place(key, timestamp, side)
        data = self._serdes[side].encode(self._topic, value) or b""
        self._set(place, [*self._values.get(place, ()), data])
        self._tell(place, _encode_all(side, self._values[place]), timestamp)

    def forget(self, key: Any, timestamp: int, side: int, now: int) -> None:
        if (place := self._place(key, timestamp, side)) in self._values:
            self.remove(place, now)

    def remove(self, place: Place, now: int) -> None:
        self._set(place, [])
        self._tell(place, None, now)

    def _set(self, place: Place, values: list[bytes]) -> None:
        is_there = place in self._values
        if values:
            self._values[place] = values
            if not is_there:
                insort(self._places, place)
        elif is_there:
            del self._values[place], self._places[bisect_left(self._places, place)]

    def _tell(self, place: Place, data: bytes | None, timestamp: int) -> None:
        if self.log is not None:
            self.log(TIME_AND_SIDE.pack(*place[:2]) + place[2], data, timestamp)

    def restore(self, key: bytes, value: bytes | None, timestamp: int) -> None:
        time, side = TIME_AND_SIDE.unpack_from(key)
        self._set((time, side, key[TIME_AND_SIDE.size :]), [] if value is None else _decode_all(value))

    def places(self) -> list[Place]:
        return list(self._places)

    def key_at(self, place: Place) -> Any:
        return self._key_serde.decode(self._topic, place[2])

    def values_at(self, place: Place) -> list[Any]:
        decode = self._serdes[place[1]].decode
        return [decode(self._topic, data) for data in self._values[place]]

    def all(self) -> Iterator[tuple[Place, list[Any]]]:
        return ((place, self.values_at(place)) for place in self._places)


def _encode_all(side: int, values: list[bytes]) -> bytes:
    entries = (LENGTH.pack(1 + len(data)) + bytes([side]) + data for data in values)
    return b"".join([VARIABLE_SIZE, LENGTH.pack(len(values)), *entries])


def _decode_all(value: bytes) -> list[bytes]:
    (count,), position, values = LENGTH.unpack_from(value, 1), 1 + LENGTH.size, []
    for _ in range(count):
        (length,) = LENGTH.unpack_from(value, position)
        position += LENGTH.size
        values.append(value[position + 1 : position + length])
        position += length
    return values
