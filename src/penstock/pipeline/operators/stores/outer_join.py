"""Records of both sides of a join that have met no partner yet, in the order of their times."""

from bisect import bisect_left, insort
from typing import Any

from penstock.pipeline.plan.serdes import Serde

LEFT, RIGHT = 1, 0
"""As Kafka Streams sorts them: of one time, the right side first."""
Place = tuple[int, int, bytes]


class OuterJoinStore:
    def __init__(
        self, name: str, topic: str, key_serde: Serde, left_serde: Serde, right_serde: Serde
    ) -> None:
        self.name = name
        self._topic, self._key_serde = topic, key_serde
        self._serdes = {LEFT: left_serde, RIGHT: right_serde}
        self._values: dict[Place, list[bytes | None]] = {}
        self._places: list[Place] = []

    def _place(self, key: Any, timestamp: int, side: int) -> Place:
        return (timestamp, side, self._key_serde.encode(self._topic, key) or b"")

    def add(self, key: Any, timestamp: int, side: int, value: Any) -> None:
        place = self._place(key, timestamp, side)
        data = self._serdes[side].encode(self._topic, value)
        if place not in self._values:
            self._values[place] = []
            insort(self._places, place)
        self._values[place].append(data)

    def forget(self, key: Any, timestamp: int, side: int) -> None:
        self.remove(self._place(key, timestamp, side))

    def remove(self, place: Place) -> None:
        if self._values.pop(place, None) is not None:
            del self._places[bisect_left(self._places, place)]

    def places(self) -> list[Place]:
        return list(self._places)

    def key_at(self, place: Place) -> Any:
        return self._key_serde.decode(self._topic, place[2])

    def values_at(self, place: Place) -> list[Any]:
        decode = self._serdes[place[1]].decode
        return [decode(self._topic, data) for data in self._values[place]]
