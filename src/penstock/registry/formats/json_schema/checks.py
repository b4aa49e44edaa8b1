"""Whether a text is a schema of its draft: what the meta-schema asks of each keyword.."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from penstock.registry.formats.json_schema.drafts import Draft
from penstock.registry.formats.json_schema.patterns import compiled
from penstock.registry.formats.json_schema.text import fingerprint, shown
from penstock.registry.formats.schema_format import InvalidSchema

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_ANCHOR = re.compile(r"^[A-Za-z_][-A-Za-z0-9._]*$")
_ANCHOR_WITH_COLONS = re.compile(r"^[A-Za-z][-A-Za-z0-9.:_]*$")
_ID = re.compile(r"^[^#]*#?$")

Places = Iterable[tuple[str, Any]]
"""The schemas inside a value, with their places."""


def check(document: Any, draft: Draft) -> None:
    """Raise for the first fault, outer ones before inner ones."""
    pending: list[tuple[str, Any]] = [("#", document)]
    for place, schema in pending:
        pending.extend(_check_schema(place, schema, draft))


def pointer(place: str, key: object) -> str:
    return f"{place}/{str(key).replace('~', '~0').replace('/', '~1')}"


def fault(place: str, why: str) -> InvalidSchema:
    return InvalidSchema(f"{why} (at {place})")


def _check_schema(place: str, schema: Any, draft: Draft) -> list[tuple[str, Any]]:
    if isinstance(schema, bool) and draft.has_boolean_schemas:
        return []
    if not isinstance(schema, dict):
        takes = "an object or a boolean" if draft.has_boolean_schemas else "an object"
        raise fault(place, f"a schema is {takes}, not {shown(schema)}")
    inside: list[tuple[str, Any]] = []
    for keyword, value in schema.items():
        shape = draft.shapes.get(keyword)
        if shape is not None:
            inside.extend(_SHAPES[shape](value, pointer(place, keyword)))
        needed = draft.needs.get(keyword, keyword)
        if needed not in schema:
            raise fault(pointer(place, keyword), f"{keyword} is nothing without {needed}")
    return inside


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def _plain(takes: str, is_right: Callable[[Any], bool]) -> Callable[[Any, str], Places]:
    def shape(value: Any, place: str) -> Places:
        if not is_right(value):
            raise fault(place, f"got {shown(value)}, takes {takes}")
        return ()

    return shape


def _is_size(value: Any) -> bool:
    if not _is_number(value) or value < 0:
        return False
    return isinstance(value, int) or value == value.to_integral_value()


def _is_type(value: Any) -> bool:
    if not isinstance(value, list):
        return value in TYPES
    return 0 < len(value) == len(_distinct(value)) and all(one in TYPES for one in value)


def _distinct(values: list[Any]) -> set[str]:
    return {fingerprint(value) for value in values}


def _are_names(value: Any) -> bool:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        return False
    return len(set(value)) == len(value)


def _pattern(value: Any, place: str) -> Places:
    if not isinstance(value, str):
        raise fault(place, f"got {shown(value)}, takes a regular expression")
    try:
        compiled(value)
    except re.error as error:
        raise fault(place, f"{shown(value)} is no regular expression: {error}") from error
    return ()


def _schema(value: Any, place: str) -> Places:
    return [(place, value)]


def _schema_or_boolean(value: Any, place: str) -> Places:
    return () if isinstance(value, bool) else [(place, value)]


def _schemas(value: Any, place: str) -> Places:
    if not isinstance(value, list) or not value:
        raise fault(place, f"got {shown(value)}, takes an array of schemas, at least one")
    return [(f"{place}/{index}", schema) for index, schema in enumerate(value)]


def _schema_or_schemas(value: Any, place: str) -> Places:
    return _schemas(value, place) if isinstance(value, list) else [(place, value)]


def _schemas_by_name(value: Any, place: str) -> Places:
    return [(pointer(place, name), schema) for name, schema in _members(value, place)]


def _schemas_by_pattern(value: Any, place: str) -> Places:
    for name, _ in _members(value, place):
        _pattern(name, pointer(place, name))
    return _schemas_by_name(value, place)


def _dependencies(value: Any, place: str) -> Places:
    inside: list[tuple[str, Any]] = []
    for name, needs in _members(value, place):
        shape = _SHAPES["names"] if isinstance(needs, list) else _schema
        inside.extend(shape(needs, pointer(place, name)))
    return inside


def _dependencies_not_empty(value: Any, place: str) -> Places:
    for name, needs in _members(value, place):
        if needs == []:
            raise fault(pointer(place, name), "got [], takes a schema or an array of names, at least one")
    return _dependencies(value, place)


def _by_name(shape: str) -> Callable[[Any, str], Places]:
    def by_name(value: Any, place: str) -> Places:
        for name, one in _members(value, place):
            _SHAPES[shape](one, pointer(place, name))
        return ()

    return by_name


def _members(value: Any, place: str) -> Iterable[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise fault(place, f"got {shown(value)}, takes an object")
    return value.items()


def _matches(form: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and form.search(value) is not None


_SHAPES: dict[str, Callable[[Any, str], Places]] = {
    "string": _plain("a string", lambda value: isinstance(value, str)),
    "boolean": _plain("true or false", lambda value: isinstance(value, bool)),
    "array": _plain("an array", lambda value: isinstance(value, list)),
    "number": _plain("a number", _is_number),
    "positive number": _plain("a number above 0", lambda value: _is_number(value) and value > 0),
    "size": _plain("an integer of at least 0", _is_size),
    "type": _plain(f"one of {', '.join(TYPES)}, or an array of different ones", _is_type),
    "names": _plain("an array of different names", _are_names),
    "names, at least one": _plain(
        "an array of different names, at least one", lambda value: bool(value) and _are_names(value)
    ),
    "distinct values": _plain(
        "an array of different values, at least one",
        lambda value: isinstance(value, list) and 0 < len(value) == len(_distinct(value)),
    ),
    "id": _plain("a URI without a fragment", _matches(_ID)),
    "anchor": _plain("a name of letters, digits and -._", _matches(_ANCHOR)),
    "anchor with colons": _plain("a name of letters, digits and -._:", _matches(_ANCHOR_WITH_COLONS)),
    "pattern": _pattern,
    "schema": _schema,
    "schema or boolean": _schema_or_boolean,
    "schemas": _schemas,
    "schema or schemas": _schema_or_schemas,
    "schemas by name": _schemas_by_name,
    "schemas by pattern": _schemas_by_pattern,
    "dependencies": _dependencies,
    "dependencies, not empty": _dependencies_not_empty,
    "booleans by name": _by_name("boolean"),
    "names by name": _by_name("names"),
}
