"""What objects and arrays have in common: how open they are to properties and items that they do not name.

An open model takes anything, a closed one nothing, a partially open one what fits a schema: of additional properties
or items or, if nothing is said of those, of unevaluated ones.
"""

from __future__ import annotations

from penstock.registry.formats.json_schema.findings import Findings
from penstock.registry.formats.json_schema.model import Anything, Array, Node, Nothing, Object, resolved
from penstock.registry.formats.json_schema.steps import Steps


def is_open(model: Object | Array) -> bool:
    if model.additional is not True:
        return False
    return model.unevaluated is None or isinstance(resolved(model.unevaluated), Anything)


def schema_of_others(model: Object | Array) -> Node | None:
    """What the unnamed must fit, if the model is partially open."""
    if isinstance(model.additional, Node):
        return model.additional
    if model.additional and model.unevaluated is not None:
        is_plain = isinstance(resolved(model.unevaluated), (Anything, Nothing))
        return None if is_plain else model.unevaluated
    return None


def compare_additional(
    writer: Object | Array, reader: Object | Array, found: Findings, keyword: str, kind: str
) -> Steps:
    before, after = writer.additional, reader.additional
    if isinstance(before, Node) and isinstance(after, Node):
        found.include((yield before, after), keyword)
    elif (before is False) != (after is False):
        found.add(f"{kind}_ADDED" if before is False else f"{kind}_REMOVED", keyword)
    elif isinstance(after, Node):
        found.add(f"{kind}_NARROWED", keyword)
    elif isinstance(before, Node):
        found.add(f"{kind}_EXTENDED", keyword)


def compare_unevaluated(
    writer: Object | Array, reader: Object | Array, found: Findings, keyword: str, kind: str
) -> Steps:
    before, after = writer.unevaluated, reader.unevaluated
    rank_before, rank_after = _strictness(before), _strictness(after)
    if before is not None and after is not None and rank_before == rank_after:
        found.include((yield before, after), keyword)
    elif rank_before < rank_after:
        found.add(f"{kind}_REMOVED" if rank_after == _NOTHING else f"{kind}_NARROWED", keyword)
    elif rank_before > rank_after:
        found.add(f"{kind}_ADDED" if rank_before == _NOTHING else f"{kind}_EXTENDED", keyword)


_UNSAID, _ANYTHING, _SOMETHING, _NOTHING = range(4)


def _strictness(unevaluated: Node | None) -> int:
    if unevaluated is None:
        return _UNSAID
    target = resolved(unevaluated)
    if isinstance(target, Anything):
        return _ANYTHING
    return _NOTHING if isinstance(target, Nothing) else _SOMETHING


def added(kind: str, others: Node, schema: Node, found: Findings, at: str) -> Steps:
    """A property or item that the writer had no name for, but a schema."""
    inside = yield others, schema
    found.include(inside, at)
    found.add(f"{kind}_ADDED_{_cover(inside)}_BY_PARTIALLY_OPEN_CONTENT_MODEL", at)


def removed(kind: str, others: Node | None, schema: Node, found: Findings, at: str) -> Steps:
    """A property or item that the reader has no name for; `others` is the reader's schema of such."""
    if others is not None:
        inside = yield schema, others
        found.include(inside, at)
        found.add(f"{kind}_REMOVED_{_cover(inside)}_BY_PARTIALLY_OPEN_CONTENT_MODEL", at)
    elif isinstance(resolved(schema), Nothing):
        found.add(f"{kind}_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL", at)
    else:
        found.add(f"{kind}_REMOVED_FROM_CLOSED_CONTENT_MODEL", at)


def _cover(inside: Findings) -> str:
    return "IS_COVERED" if inside.is_compatible else "NOT_COVERED"
