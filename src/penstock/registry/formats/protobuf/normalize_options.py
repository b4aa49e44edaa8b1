"""Options in one order and one form: sorted by name, extensions named in full, assignments to one extension merged."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Any

from penstock.registry.formats.protobuf.default_values import integer_of
from penstock.registry.formats.protobuf.elements import Field, Message, Option, OptionName, Value, Word
from penstock.registry.formats.protobuf.scope import Scope
from penstock.registry.formats.protobuf.sources import ExtensionInfo

_MAX_EXPONENT = 400
"""Beyond the range of a double; such a number stays as it is written."""


class OptionOrder:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def ordered(self, options: list[Option], scope: str) -> list[Option]:
        by_name: dict[str, list[Option]] = {}
        for each in sorted((self._in_full(each, scope) for each in options), key=lambda each: each.key):
            by_name.setdefault(each.key, []).append(each)
        merged: list[Option] = []
        for name, assignments in by_name.items():
            info = self._scope.extension_info(name) if assignments[0].names[0].is_extension else None
            if info is not None and info.element.label != "repeated":
                assignments = [self._merged(assignments, info)]
            merged += assignments
        return [Option(each.names, self._value(each.value, scope)) for each in merged]

    def _in_full(self, option: Option, scope: str) -> Option:
        """`(a).b.c = 1` is `(full.a) = {b: {c: 1}}`."""
        first = option.names[0]
        info = self._scope.resolve_extension(first.text, scope) if first.is_extension else None
        if info is None:
            return option
        value = option.value
        for name in reversed(option.names[1:]):
            value = {f"[{name.text}]" if name.is_extension else name.text: value}
        return Option((OptionName(info.full_name, is_extension=True),), value)

    def _merged(self, assignments: list[Option], info: ExtensionInfo) -> Option:
        merged = assignments[0].value
        for each in assignments[1:]:
            if isinstance(merged, dict) and isinstance(each.value, dict):
                merged = self._merged_aggregates(self._message(info.element, info.scope), merged, each.value)
            else:
                merged = each.value
        return Option(assignments[0].names, merged)

    def _message(self, element: Any, scope: str) -> tuple[Message, str] | None:
        if not isinstance(element, Field):
            return None
        info = self._scope.resolve(element.type, scope)
        return (info.element, info.full_name) if info and isinstance(info.element, Message) else None

    def _merged_aggregates(
        self, message: tuple[Message, str] | None, first: dict[str, Any], second: dict[str, Any]
    ) -> dict[str, Any]:
        merged = dict(first)
        for key, value in second.items():
            field = message[0].field_named(key) if message else None
            scope = message[1] if message else ""
            merged[key] = self._merged_values(field, scope, merged[key], value) if key in merged else value
        return merged

    def _merged_values(self, field: Field | None, scope: str, first: Any, second: Any) -> Any:
        if field is None or field.label == "repeated" or field.map_types:
            return _union(first, second)
        inner = self._message(field, scope)
        if inner and isinstance(first, dict) and isinstance(second, dict):
            return self._merged_aggregates(inner, first, second)
        return second

    def _value(self, value: Value, scope: str) -> Value:
        if isinstance(value, Word):
            return Word(plain_number(value.text)) if value.is_number else value
        if isinstance(value, list):
            return [self._value(each, scope) for each in value]
        if isinstance(value, dict):
            entries = [self._entry(key, each, scope) for key, each in value.items() if each != []]
            return dict(sorted(entries, key=lambda entry: entry[0]))
        return value

    def _entry(self, key: str, value: Value, scope: str) -> tuple[str, Value]:
        if key.startswith("["):
            info = self._scope.resolve_extension(key[1:-1], scope)
            key = f"[{info.full_name}]" if info else key
        inner = self._value(value, scope)
        while isinstance(inner, list) and len(inner) == 1:
            inner = inner[0]
        return key, inner


def _union(first: Any, second: Any) -> list[Any]:
    union: list[Any] = []
    for each in (*_as_list(first), *_as_list(second)):
        if each not in union:
            union.append(each)
    return union


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def plain_number(text: str) -> str:
    """Decimal, with three digits after the point at most: so Confluent's registry compares numbers."""
    try:
        return str(integer_of(text))
    except ValueError:
        pass
    try:
        number = Decimal(text.rstrip("fF"))
        if not number.is_finite() or abs(number.adjusted()) > _MAX_EXPONENT:
            return text
        return _trimmed(format(_rounded(number), "f"))
    except InvalidOperation:
        return text


def _rounded(number: Decimal) -> Decimal:
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -3:
        return number.quantize(Decimal("0.001"), ROUND_HALF_EVEN)
    return number


def _trimmed(text: str) -> str:
    trimmed = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if trimmed == "-0" else trimmed
