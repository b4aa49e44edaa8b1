"""What a comparison found, kept as it was found: own differences, and what was found inside, by reference.

Two schemas that share their definitions can be different in very many places for one reason, each place a path through
the definitions. So the paths are only made when somebody reads them, and no more than somebody would.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from penstock.registry.formats.json_schema.kinds import COMPATIBLE, MESSAGES

MAX_DIFFERENCES = 1000


class Difference(NamedTuple):
    kind: str
    path: str


class Findings:
    __slots__ = ("_compatible", "_entries", "is_compatible")

    def __init__(self, compatible: frozenset[str]) -> None:
        """`compatible` are the kinds of differences that break nobody."""
        self.is_compatible = True
        self._compatible = compatible
        self._entries: list[tuple[str, str | Findings]] = []

    def add(self, kind: str, at: str = "") -> None:
        assert kind in COMPATIBLE or kind in MESSAGES, kind
        self.is_compatible &= kind in self._compatible
        self._entries.append((at, kind))

    def include(self, found: Findings, at: str = "") -> None:
        self.is_compatible &= found.is_compatible
        self._entries.append((at, found))

    def differences(self) -> list[Difference]:
        return [difference for difference, _ in zip(self._walk(), range(MAX_DIFFERENCES), strict=False)]

    def incompatible_differences(self) -> list[Difference]:
        walk = (each for each in self._walk(only_incompatible=True) if each.kind not in self._compatible)
        return [difference for difference, _ in zip(walk, range(MAX_DIFFERENCES), strict=False)]

    def _walk(self, *, only_incompatible: bool = False) -> Iterator[Difference]:
        stack = [("#", iter(self._entries))]
        while stack:
            place, entries = stack[-1]
            entry = next(entries, None)
            if entry is None:
                stack.pop()
                continue
            at, found = entry
            inside = f"{place}/{at}" if at else place
            if isinstance(found, str):
                yield Difference(found, "#/" if inside == "#" else inside)
            elif not (only_incompatible and found.is_compatible):
                stack.append((inside, iter(found._entries)))
