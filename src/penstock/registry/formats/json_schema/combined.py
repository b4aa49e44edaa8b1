"""Comparing allOf, anyOf, oneOf and not."""

from __future__ import annotations

from penstock.registry.formats.json_schema.findings import Findings
from penstock.registry.formats.json_schema.matching import largest_matching
from penstock.registry.formats.json_schema.model import Combined, Node, Not
from penstock.registry.formats.json_schema.steps import Steps, StepsTo


def compare_combined(writer: Combined, reader: Combined, found: Findings) -> Steps:
    """Each part of the one with fewer parts must find one of the other, which no other part has, to be read by."""
    if writer.criterion != reader.criterion:
        if not _is_wider(writer, reader):
            found.add("COMBINED_TYPE_CHANGED")
            return
        found.add("COMBINED_TYPE_EXTENDED")
    _compare_sizes(writer, reader, found)
    readable = yield from _readable_parts(writer, reader)
    pairs = largest_matching([list(by_reader) for by_reader in readable])
    for part, by in pairs.items():
        found.include(readable[part][by], f"{writer.criterion}/{part}")
    if len(pairs) < min(len(writer.parts), len(reader.parts)):
        found.add("COMBINED_TYPE_SUBSCHEMAS_CHANGED")


def _is_wider(writer: Combined, reader: Combined) -> bool:
    """Whether one criterion may become the other: of one part they all say the same, and anyOf asks the least."""
    if reader.criterion == "anyOf":
        return True
    if len(writer.parts) == 1:
        return len(reader.parts) == 1 or reader.criterion == "oneOf"
    return len(reader.parts) == 1 and writer.criterion == "allOf"


def _compare_sizes(writer: Combined, reader: Combined, found: Findings) -> None:
    if len(writer.parts) < len(reader.parts):
        found.add("PRODUCT_TYPE_EXTENDED" if reader.criterion == "allOf" else "SUM_TYPE_EXTENDED")
    elif len(writer.parts) > len(reader.parts):
        found.add("PRODUCT_TYPE_NARROWED" if writer.criterion == "allOf" else "SUM_TYPE_NARROWED")


def _readable_parts(writer: Combined, reader: Combined) -> StepsTo[list[dict[int, Findings]]]:
    readable: list[dict[int, Findings]] = []
    for part in writer.parts:
        by_reader = {}
        for index, other in enumerate(reader.parts):
            inside = yield part, other
            if inside.is_compatible:
                by_reader[index] = inside
        readable.append(by_reader)
    return readable


def compare_one_with_many(writer: Node, reader: Node, found: Findings) -> StepsTo[bool]:
    """A single schema with a combined one; false if that does not settle it.

    One part that fits is enough if the reader has alternatives, or if all that the writer wrote fits each of its parts.
    """
    if isinstance(reader, Combined):
        many, is_enough, kind = reader, reader.criterion != "allOf", "SUM_TYPE_EXTENDED"
    elif isinstance(writer, Combined):
        many, is_enough, kind = writer, writer.criterion == "allOf", "PRODUCT_TYPE_NARROWED"
    else:
        return False
    if not is_enough and len(many.parts) != 1:
        return False
    for part in many.parts:
        inside = yield (writer, part) if many is reader else (part, reader)
        if inside.is_compatible:
            found.include(inside)
            if len(many.parts) > 1:
                found.add(kind)
            return True
    return False


def compare_negations(writer: Not, reader: Not, found: Findings) -> Steps:
    """The other way round: what the reader refuses, the writer must have refused."""
    inside = yield reader.part, writer.part
    found.add("NOT_TYPE_NARROWED" if inside.is_compatible else "NOT_TYPE_EXTENDED", "not")
