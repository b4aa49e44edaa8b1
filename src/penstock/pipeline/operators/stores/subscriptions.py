"""Which rows of a table wait for which foreign key; which comes, after its length, before the key in the changelog."""

import struct
from collections.abc import Iterator
from typing import Any

from penstock.pipeline.operators.stores.changes import Logged
from penstock.pipeline.plan.serdes import Serde

LENGTH = struct.Struct(">i")


class SubscriptionStore(Logged):
    def __init__(
        self, name: str, topic: str, foreign_key_serde: Serde, key_serde: Serde, value_serde: Serde
    ) -> None:
        self.name = name
        self._topic, self._foreign, self._own, self._value = topic, foreign_key_serde, key_serde, value_serde
        self._waiting: dict[bytes, dict[bytes, bytes]] = {}

    def put(self, foreign_key: Any, key: Any, subscription: Any, timestamp: int) -> None:
        self._tell(*self._keys(foreign_key, key), self._value.encode(self._topic, subscription), timestamp)

    def delete(self, foreign_key: Any, key: Any, timestamp: int) -> None:
        self._tell(*self._keys(foreign_key, key), None, timestamp)

    def _keys(self, foreign_key: Any, key: Any) -> tuple[bytes, bytes]:
        foreign = self._foreign.encode(self._topic, foreign_key) or b""
        return foreign, self._own.encode(self._topic, key) or b""

    def _tell(self, foreign: bytes, own: bytes, data: bytes | None, timestamp: int) -> None:
        self._change(foreign, own, data)
        if self.log is not None:
            self.log(LENGTH.pack(len(foreign)) + foreign + own, data, timestamp)

    def restore(self, key: bytes, value: bytes | None, timestamp: int) -> None:
        end = LENGTH.size + LENGTH.unpack_from(key)[0]
        self._change(key[LENGTH.size : end], key[end:], value)

    def _change(self, foreign: bytes, own: bytes, data: bytes | None) -> None:
        waiting = self._waiting.setdefault(foreign, {})
        if data is None:
            waiting.pop(own, None)
        else:
            waiting[own] = data
        if not waiting:
            del self._waiting[foreign]

    def waiting_for(self, foreign_key: Any) -> Iterator[Any]:
        """Subscriptions in the order of their rows' keys."""
        waiting = self._waiting.get(self._foreign.encode(self._topic, foreign_key) or b"", {})
        return iter([self._value.decode(self._topic, waiting[own]) for own in sorted(waiting)])

    def all(self) -> Iterator[tuple[Any, Any]]:
        """Foreign keys with those that wait for them."""
        for foreign in sorted(self._waiting):
            key = self._foreign.decode(self._topic, foreign)
            yield from ((key, subscription) for subscription in self.waiting_for(key))
