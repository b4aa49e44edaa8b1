"""Comparing what schemas say of strings, numbers and fixed values, and the limits that types have in common."""

from __future__ import annotations

from collections.abc import Set
from decimal import Context, Decimal, InvalidOperation

from penstock.registry.formats.json_schema.findings import Findings
from penstock.registry.formats.json_schema.model import Constant, Enumeration, Limited, Node, Number, Text
from penstock.registry.formats.json_schema.text import fingerprint

_LIMITS = {
    "maxLength": "MAX_LENGTH",
    "minLength": "MIN_LENGTH",
    "maximum": "MAXIMUM",
    "minimum": "MINIMUM",
    "exclusiveMaximum": "EXCLUSIVE_MAXIMUM",
    "exclusiveMinimum": "EXCLUSIVE_MINIMUM",
    "maxProperties": "MAX_PROPERTIES",
    "minProperties": "MIN_PROPERTIES",
    "maxItems": "MAX_ITEMS",
    "minItems": "MIN_ITEMS",
    "maxContains": "MAX_CONTAINS",
    "minContains": "MIN_CONTAINS",
}
_ANNOTATIONS = {
    "id": "ID_CHANGED",
    "title": "TITLE_CHANGED",
    "description": "DESCRIPTION_CHANGED",
    "default": "DEFAULT_CHANGED",
}
_EXACT = Context(prec=2000)


def compare_annotations(writer: Node, reader: Node, found: Findings) -> None:
    for name, kind in _ANNOTATIONS.items():
        if not _same(writer, reader, name):
            found.add(kind)


def _same(writer: Node, reader: Node, name: str) -> bool:
    has, had = name in reader.annotations, name in writer.annotations
    if not (has and had):
        return has == had
    return fingerprint(writer.annotations[name]) == fingerprint(reader.annotations[name])


def compare_limits(writer: Limited, reader: Limited, found: Findings) -> None:
    for keyword, kind in _LIMITS.items():
        before, after = writer.limits.get(keyword), reader.limits.get(keyword)
        if before == after:
            continue
        if before is None:
            found.add(f"{kind}_ADDED", keyword)
        elif after is None:
            found.add(f"{kind}_REMOVED", keyword)
        else:
            found.add(f"{kind}_INCREASED" if before < after else f"{kind}_DECREASED", keyword)


def compare_texts(writer: Text, reader: Text, found: Findings) -> None:
    compare_limits(writer, reader, found)
    if writer.pattern == reader.pattern:
        return
    if writer.pattern is None:
        found.add("PATTERN_ADDED", "pattern")
    else:
        found.add("PATTERN_REMOVED" if reader.pattern is None else "PATTERN_CHANGED", "pattern")


def compare_numbers(writer: Number, reader: Number, found: Findings) -> None:
    compare_limits(writer, reader, found)
    if writer.multiple_of != reader.multiple_of:
        found.add(_change_of_multiple(writer.multiple_of, reader.multiple_of), "multipleOf")
    if writer.is_integer != reader.is_integer:
        found.add("TYPE_EXTENDED" if writer.is_integer else "TYPE_NARROWED")


def _change_of_multiple(before: int | Decimal | None, after: int | Decimal | None) -> str:
    if before is None:
        return "MULTIPLE_OF_ADDED"
    if after is None:
        return "MULTIPLE_OF_REMOVED"
    if _divides(before, after):
        return "MULTIPLE_OF_EXPANDED"
    return "MULTIPLE_OF_REDUCED" if _divides(after, before) else "MULTIPLE_OF_CHANGED"


def _divides(divisor: int | Decimal, number: int | Decimal) -> bool:
    try:
        return _EXACT.remainder(Decimal(number), Decimal(divisor)).is_zero()
    except InvalidOperation:  # by zero, or so far apart that the digits do not fit
        return False


def compare_enumerations(writer: Enumeration, reader: Enumeration, found: Findings) -> None:
    if writer.values != reader.values:
        found.add(f"ENUM_ARRAY_{change_of_set(writer.values, reader.values)}", "enum")


def compare_constants(writer: Constant, reader: Constant, found: Findings) -> None:
    if writer.value != reader.value:
        found.add("ENUM_ARRAY_CHANGED", "const")


def change_of_set(before: Set[str], after: Set[str]) -> str:
    if before < after:
        return "EXTENDED"
    return "NARROWED" if after < before else "CHANGED"
