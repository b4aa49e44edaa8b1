"""A mapping that lies over another: what is changed is kept here, the one below is only read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Final, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class _Gone:
    pass


_GONE: Final = _Gone()


class LayeredMapping(MutableMapping[K, V], Generic[K, V]):
    def __init__(self, below: Mapping[K, V]) -> None:
        self._below = below
        self._changed: dict[K, V | _Gone] = {}

    def __getitem__(self, key: K) -> V:
        value = self._changed.get(key)
        if isinstance(value, _Gone):
            raise KeyError(key)
        return self._below[key] if value is None and key not in self._changed else value  # type: ignore[return-value]

    def __setitem__(self, key: K, value: V) -> None:
        self._changed[key] = value

    def __delitem__(self, key: K) -> None:
        if key not in self:
            raise KeyError(key)
        self._changed[key] = _GONE

    def __iter__(self) -> Iterator[K]:
        for key in self._below:
            if not isinstance(self._changed.get(key), _Gone):
                yield key
        for key, value in self._changed.items():
            if key not in self._below and not isinstance(value, _Gone):
                yield key

    def __len__(self) -> int:
        return sum(1 for _ in self)
