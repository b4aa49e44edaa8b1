"""Comparing what schemas say of arrays: of all items, or of the first ones (tuples) and the others."""

from __future__ import annotations

from itertools import zip_longest

from penstock.registry.formats.json_schema.content_models import (
    added,
    compare_additional,
    compare_unevaluated,
    is_open,
    removed,
    schema_of_others,
)
from penstock.registry.formats.json_schema.findings import Findings
from penstock.registry.formats.json_schema.model import Anything, Array, Node, resolved
from penstock.registry.formats.json_schema.scalars import compare_limits
from penstock.registry.formats.json_schema.steps import Steps, compare_optional


def compare_arrays(writer: Array, reader: Array, found: Findings) -> Steps:
    yield from compare_optional(writer.items, reader.items, found, "items")
    yield from _compare_first_items(writer, reader, found)
    yield from compare_additional(writer, reader, found, "additionalItems", "ADDITIONAL_ITEMS")
    yield from compare_unevaluated(writer, reader, found, "unevaluatedItems", "UNEVALUATED_ITEMS")
    compare_limits(writer, reader, found)
    if writer.is_unique != reader.is_unique:
        found.add("UNIQUE_ITEMS_ADDED" if reader.is_unique else "UNIQUE_ITEMS_REMOVED", "uniqueItems")


def _compare_first_items(writer: Array, reader: Array, found: Findings) -> Steps:
    for index, (before, after) in enumerate(zip_longest(writer.first_items, reader.first_items)):
        at = f"items/{index}"
        if before is not None and after is not None:
            found.include((yield before, after), at)
        elif before is not None:
            yield from _removed_item(before, reader, found, at)
        elif after is not None:
            yield from _added_item(after, writer, found, at)


def _removed_item(schema: Node, reader: Array, found: Findings, at: str) -> Steps:
    if is_open(reader):
        found.add("ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL", at)
    else:
        yield from removed("ITEM", schema_of_others(reader), schema, found, at)


def _added_item(schema: Node, writer: Array, found: Findings, at: str) -> Steps:
    others = schema_of_others(writer)
    if is_open(writer):
        is_empty = isinstance(resolved(schema), Anything)
        found.add(f"ITEM_{'WITH_EMPTY_SCHEMA_' if is_empty else ''}ADDED_TO_OPEN_CONTENT_MODEL", at)
    elif others is not None:
        yield from added("ITEM", others, schema, found, at)
    else:
        found.add("ITEM_ADDED_TO_CLOSED_CONTENT_MODEL", at)
