"""Confluent's rules of compatibility: whether a reader's schema takes whatever fitted the writer's.

The rules go by structure. Every difference has a kind, and a kind either breaks readers or does not (see `kinds`).
They are neither complete (they refuse some schemas that could read everything) nor always right (they do not look into
`contains`, `propertyNames` and conditions), but they are what registries agree on.

Schemas may lead back to themselves. A pair that is met again while it is still being compared is taken as compatible.
If it turns out not to be, what was concluded from it was wrong, so the whole is compared again with that pair known as
incompatible; as such pairs only ever become more, it ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.registry.formats.effort import count_pair
from penstock.registry.formats.json_schema.arrays import compare_arrays
from penstock.registry.formats.json_schema.combined import (
    compare_combined,
    compare_negations,
    compare_one_with_many,
)
from penstock.registry.formats.json_schema.findings import Findings
from penstock.registry.formats.json_schema.model import (
    Anything,
    Array,
    Combined,
    Constant,
    Enumeration,
    Node,
    Not,
    Nothing,
    Number,
    Object,
    Text,
    resolved,
)
from penstock.registry.formats.json_schema.objects import compare_objects
from penstock.registry.formats.json_schema.scalars import (
    compare_annotations,
    compare_constants,
    compare_enumerations,
    compare_numbers,
    compare_texts,
)
from penstock.registry.formats.json_schema.steps import Pair, Steps

_FLAT: dict[type[Node], Callable[[Any, Any, Findings], None]] = {
    Text: compare_texts,
    Number: compare_numbers,
    Constant: compare_constants,
    Enumeration: compare_enumerations,
}
_NESTED: dict[type[Node], Callable[[Any, Any, Findings], Steps]] = {
    Combined: compare_combined,
    Not: compare_negations,
    Object: compare_objects,
    Array: compare_arrays,
}


def compare(writer: Node, reader: Node, compatible: frozenset[str]) -> Findings:
    refuted: dict[Pair, Findings] = {}
    while True:
        attempt = _Attempt(compatible, refuted)
        found = attempt.compare(writer, reader)
        if not attempt.has_assumed_wrongly():
            return found
        refuted |= attempt.incompatible_pairs()


class _Attempt:
    def __init__(self, compatible: frozenset[str], refuted: dict[Pair, Findings]) -> None:
        self._compatible = compatible
        self._refuted = refuted
        self._known: dict[Pair, Findings] = {}
        self._open: set[Pair] = set()
        self._assumed: set[Pair] = set()

    def has_assumed_wrongly(self) -> bool:
        return any(not self._known[pair].is_compatible for pair in self._assumed)

    def incompatible_pairs(self) -> dict[Pair, Findings]:
        """They are so in spite of all that was assumed, so they stay so."""
        return {pair: found for pair, found in self._known.items() if not found.is_compatible}

    def compare(self, writer: Node, reader: Node) -> Findings:
        stack = [self._begin((resolved(writer), resolved(reader)))]
        answer: Findings | None = None
        while stack:
            pair, found, steps = stack[-1]
            try:
                wanted = next(steps) if answer is None else steps.send(answer)
            except StopIteration:
                stack.pop()
                self._open.discard(pair)
                self._known[pair] = answer = found
                continue
            wanted = (resolved(wanted[0]), resolved(wanted[1]))
            answer = self._answer(wanted)
            if answer is None:
                stack.append(self._begin(wanted))
        assert answer is not None
        return answer

    def _begin(self, pair: Pair) -> tuple[Pair, Findings, Steps]:
        count_pair()
        self._open.add(pair)
        found = Findings(self._compatible)
        return pair, found, _compare_nodes(*pair, found)

    def _answer(self, pair: Pair) -> Findings | None:
        if pair in self._known:
            return self._known[pair]
        if pair not in self._open:
            return None
        if pair in self._refuted:
            return self._refuted[pair]
        self._assumed.add(pair)
        return Findings(self._compatible)


def _compare_nodes(writer: Node, reader: Node, found: Findings) -> Steps:
    if isinstance(writer, Combined) != isinstance(reader, Combined):
        is_settled = yield from compare_one_with_many(writer, reader, found)
        if is_settled:
            return
    if type(writer) is not type(reader):
        if not _is_never_broken(writer, reader):
            found.add("TYPE_CHANGED")
        return
    compare_annotations(writer, reader, found)
    if type(writer) in _FLAT:
        _FLAT[type(writer)](writer, reader, found)
    elif type(writer) in _NESTED:
        yield from _NESTED[type(writer)](writer, reader, found)


def _is_never_broken(writer: Node, reader: Node) -> bool:
    """Nothing can be read as anything, everything by a reader that takes anything.

    Connect's bytes and decimals are of different types in its older and newer schemas.
    """
    if isinstance(writer, Nothing) or isinstance(reader, Anything):
        return True
    return all(node.annotations.get("connect.type") == "bytes" for node in (writer, reader))
