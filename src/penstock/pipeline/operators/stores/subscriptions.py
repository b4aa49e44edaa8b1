"""Which rows of a table wait for which foreign key."""

from collections.abc import Iterator
from typing import Any

from penstock.pipeline.plan.serdes import Serde


class SubscriptionStore:
    def __init__(self, name: str, topic: str, foreign_key_serde: Serde, key_serde: Serde) -> None:
        self.name = name
        self._topic, self._foreign, self._own = topic, foreign_key_serde, key_serde
        self._waiting: dict[bytes | None, dict[bytes | None, Any]] = {}

    def put(self, foreign_key: Any, key: Any, subscription: Any) -> None:
        waiting = self._waiting.setdefault(self._foreign.encode(self._topic, foreign_key), {})
        waiting[self._own.encode(self._topic, key)] = subscription

    def delete(self, foreign_key: Any, key: Any) -> None:
        encoded = self._foreign.encode(self._topic, foreign_key)
        waiting = self._waiting.get(encoded, {})
        waiting.pop(self._own.encode(self._topic, key), None)
        if not waiting:
            self._waiting.pop(encoded, None)

    def waiting_for(self, foreign_key: Any) -> Iterator[Any]:
        """Subscriptions in the order of their rows' keys."""
        waiting = self._waiting.get(self._foreign.encode(self._topic, foreign_key), {})
        return iter([waiting[key] for key in sorted(waiting, key=lambda key: key or b"")])
