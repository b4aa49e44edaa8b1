"""What the objects in requests are made of: tables that check them, and that OpenAPI describes them by."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from penstock.rest.errors import UnrecognizedField, bad_field, missing_field
from penstock.web.request import Request

ANYTHING = object
V2_UNRECOGNIZED = 422
OPENAPI_TYPES: dict[type, str] = {
    str: "string",
    int: "integer",
    bool: "boolean",
    list: "array",
    dict: "object",
}
_TAKES = {
    str: "a string",
    int: "an integer",
    bool: "true or false",
    list: "an array",
    dict: "an object",
}


def coerced_integer(text: str) -> int | str:
    """A number that was sent as a string, which Jackson takes as what it says; else the text as it is."""
    return int(text) if _INTEGER.fullmatch(text) else text


def _coerced_boolean(text: str) -> bool | str:
    return _BOOLEANS.get(text.strip().lower(), text)


def _as_it_is(text: str) -> str:
    return text


_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")
_BOOLEANS = {"true": True, "false": False}
_COERCED: Mapping[type, Callable[[str], Any]] = {int: coerced_integer, bool: _coerced_boolean}


@dataclass(frozen=True, slots=True)
class Field:
    """`items` is what an object or an array's items are made of; `values` are those that a text may have."""

    kind: type
    required: bool = False
    items: Fields | None = None
    values: tuple[str, ...] = ()
    description: str = ""

    def check(self, name: str, value: Any) -> Any:
        if self.kind is ANYTHING:
            return value
        if type(value) is str:
            value = _COERCED.get(self.kind, _as_it_is)(value)
        if type(value) is not self.kind:
            raise bad_field(name, value, _TAKES[self.kind])
        if self.values and isinstance(value, str):
            if value.upper() not in self.values:
                raise bad_field(name, value, f"one of {', '.join(self.values)}")
            return value.upper()
        if self.items is not None and isinstance(value, list):
            return [self.items.check(f"{name}[{index}]", item) for index, item in enumerate(value)]
        if self.items is not None:
            return self.items.check(name, value)
        return value


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of an object. Another one is refused, as Confluent's proxy does: with 400 in v3, with 422 in v2."""

    name: str
    fields: Mapping[str, Field]
    unrecognized_status: int = 400

    async def read(self, request: Request) -> dict[str, Any]:
        return self.check("", await request.json_object())

    def check(self, where: str, given: Any) -> dict[str, Any]:
        """The fields that are given and not null, each of its type."""
        if not isinstance(given, dict):
            raise bad_field(where, given, "an object")
        if given.keys() - self.fields.keys():
            refuse_unrecognized(given, self.fields, self.unrecognized_status)
        found: dict[str, Any] = {}
        for name, field in self.fields.items():
            path = f"{where}.{name}" if where else name
            value = given.get(name)
            if value is not None:
                found[name] = field.check(path, value)
            elif field.required:
                raise missing_field(path)
        return found


V2Fields = partial(Fields, unrecognized_status=V2_UNRECOGNIZED)


def refuse_unrecognized(given: Iterable[str], known: Iterable[str], status: int = 400) -> None:
    """A field that nobody reads is a mistake, and what is left of its object may be an empty record."""
    names = frozenset(known)
    for name in given:
        if name not in names:
            raise UnrecognizedField(status, name)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One of the query."""

    name: str
    kind: type = str
    description: str = ""
    required: bool = False


def read_integer(name: str, text: str, least: int = 0, most: int = 2**63 - 1) -> int:
    """A number in the path or the query."""
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise bad_field(name, text, f"an integer of at least {least}")
    return number


def query_integer(request: Request, name: str, default: int, least: int = 0, most: int = 2**63 - 1) -> int:
    text = request.text(name)
    return read_integer(name, text, least, most) if text else default
