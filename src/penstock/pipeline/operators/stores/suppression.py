"""Changes that are held back, by their time and then by the bytes of their keys; one for each key.

How large it is is reckoned as Kafka Streams does: the bytes of key, of the rows and of headers and topic, and some for
numbers. Its changelog has, of each key that is held back, all that is known of it: numbers, then the three rows and the
headers, each after its length.
"""

import heapq
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.pipeline.operators.processor_api import Headers
from penstock.pipeline.operators.stores.changes import Logged
from penstock.pipeline.plan.serdes import Serde

Place = tuple[int, bytes]
BUFFER_TIME_BYTES = 8
RECORD_CONTEXT_BYTES = 8 + 8 + 4
"""Timestamp, offset, partition."""


@dataclass(slots=True)
class Held:
    prior: bytes | None
    """What the row was when the first of the changes came that are held back."""
    old: bytes | None
    new: bytes | None
    timestamp: int
    headers: Headers
    size: int
    time: int
    """By which it is held back, from the first of the changes on."""


NUMBERS = struct.Struct(">qqqi")
"""Time by which it is held back, timestamp, size, how many headers."""
LENGTH = struct.Struct(">i")
NOTHING = -1


class SuppressionBuffer(Logged):
    def __init__(self, name: str, topic: str, key_serde: Serde, value_serde: Serde) -> None:
        self.name = name
        self._topic, self._key_serde, self._value_serde = topic, key_serde, value_serde
        self._held: dict[bytes, Held] = {}
        self._places: list[Place] = []
        """A heap: a place is only ever left by the first."""
        self.size = 0

    def __len__(self) -> int:
        return len(self._places)

    @property
    def first_time(self) -> int | None:
        return self._places[0][0] if self._places else None

    def put(
        self, time: int, key: Any, new: Any, old: Any, timestamp: int, headers: Headers, topic: str
    ) -> None:
        """A key that is there already keeps its place."""
        encoded = self._key_serde.encode(self._topic, key) or b""
        old_data, new_data = (self._value_serde.encode(self._topic, row) for row in (old, new))
        there = self._held.get(encoded)
        prior = old_data if there is None else there.prior
        size = _size(encoded, prior, old_data, new_data, headers, topic, prior is old_data)
        if there is None:
            heapq.heappush(self._places, (time, encoded))
        else:
            self.size -= there.size
            time = there.time
        self._held[encoded] = held = Held(prior, old_data, new_data, timestamp, headers, size, time)
        self.size += size
        if self.log is not None:
            self.log(encoded, _packed(held), timestamp)

    def restore(self, key: bytes, value: bytes | None, timestamp: int) -> None:
        there = self._held.pop(key, None)
        held = None if value is None else _unpacked(value)
        if there is not None:
            self.size -= there.size
            if held is None or held.time != there.time:  # it may have left and come again in one transaction
                self._leave(there.time, key)
        if held is not None:
            self._held[key] = held
            self.size += held.size
            if there is None or held.time != there.time:
                heapq.heappush(self._places, (held.time, key))

    def _leave(self, time: int, key: bytes) -> None:
        if self._places[0] == (time, key):  # as it was when that was logged
            heapq.heappop(self._places)
        else:
            self._places.remove((time, key))
            heapq.heapify(self._places)

    def first(self) -> tuple[Any, Any, Any, Held]:
        """Key, new row, old row and what else is known of the one that comes out next."""
        encoded = self._places[0][1]
        held = self._held[encoded]
        decode = self._value_serde.decode
        key = self._key_serde.decode(self._topic, encoded)
        return key, decode(self._topic, held.new), decode(self._topic, held.old), held

    def remove_first(self, now: int) -> None:
        _, encoded = heapq.heappop(self._places)
        self.size -= self._held.pop(encoded).size
        if self.log is not None:
            self.log(encoded, None, now)

    def all(self) -> Iterator[Held]:
        """By time, then by key."""
        return (self._held[key] for _, key in sorted(self._places))

    def prior_row(self, key: Any) -> tuple[bool, Any]:
        """Whether changes of the key are held back, and what its row was before them."""
        held = self._held.get(self._key_serde.encode(self._topic, key) or b"")
        return (False, None) if held is None else (True, self._value_serde.decode(self._topic, held.prior))


def _size(
    key: bytes,
    prior: bytes | None,
    old: bytes | None,
    new: bytes | None,
    headers: Headers,
    topic: str,
    old_is_prior: bool,
) -> int:
    rows = len(prior or b"") + (0 if old_is_prior else len(old or b"")) + len(new or b"")
    of_headers = sum(len(name.encode()) + len(value or b"") for name, value in headers)
    return BUFFER_TIME_BYTES + len(key) + rows + RECORD_CONTEXT_BYTES + len(topic) + of_headers


def _packed(held: Held) -> bytes:
    parts = [held.prior, held.old, held.new]
    for name, value in held.headers:
        parts += [name.encode(), value]
    numbers = NUMBERS.pack(held.time, held.timestamp, held.size, len(held.headers))
    return numbers + b"".join(
        LENGTH.pack(NOTHING) if part is None else LENGTH.pack(len(part)) + part for part in parts
    )


def _unpacked(value: bytes) -> Held:
    time, timestamp, size, count = NUMBERS.unpack_from(value)
    parts = _parts(value, NUMBERS.size)
    prior, old, new = next(parts), next(parts), next(parts)
    headers = tuple(((next(parts) or b"").decode(), next(parts)) for _ in range(count))
    return Held(prior, old, new, timestamp, headers, size, time)


def _parts(value: bytes, position: int) -> Iterator[bytes | None]:
    while position < len(value):
        (length,) = LENGTH.unpack_from(value, position)
        position += LENGTH.size
        yield None if length == NOTHING else value[position : position + length]
        position += max(0, length)
