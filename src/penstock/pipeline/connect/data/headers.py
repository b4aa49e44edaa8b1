"""The headers of a record: named values with schemas, in their order; a name may come twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from penstock.pipeline.connect.data.schema import Schema


@dataclass(frozen=True, slots=True)
class Header:
    key: str
    value: Any
    schema: Schema | None = None


class Headers:
    __slots__ = ("_headers",)

    def __init__(self, headers: Iterable[Header] = ()) -> None:
        self._headers = list(headers)

    def add(self, key: str, value: Any, schema: Schema | None = None) -> Self:
        self._headers.append(Header(key, value, schema))
        return self

    def remove(self, key: str) -> Self:
        self._headers = [each for each in self._headers if each.key != key]
        return self

    def last(self, key: str) -> Header | None:
        return next((each for each in reversed(self._headers) if each.key == key), None)

    def all_of(self, key: str) -> list[Header]:
        return [each for each in self._headers if each.key == key]

    def apply(self, change: Callable[[Header], Header | None]) -> Self:
        """Each header as `change` makes it; None drops it."""
        self._headers = [new for new in map(change, self._headers) if new is not None]
        return self

    def copy(self) -> Headers:
        return Headers(self._headers)

    def __iter__(self) -> Iterator[Header]:
        return iter(self._headers)

    def __len__(self) -> int:
        return len(self._headers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Headers) and self._headers == other._headers

    def __repr__(self) -> str:
        return f"Headers({self._headers!r})"
