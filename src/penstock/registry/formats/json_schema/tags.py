"""Tags on objects and their properties: the member `confluent:tags` of a schema object.

A path tells the way from the root in lower case: `object.address.object.street`, `array.object`, `oneof.1.object.a`,
`object.definitions.Name.object.first`. Alternatives are counted in an order of their own, by kind, title, description
and default, so that a path stays the same when they change places. A schema object that says things of several kinds,
such as `properties` beside `anyOf`, counts as an `allOf` of these, a list of types as an `anyOf`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.registry.formats.json_schema.text import fingerprint
from penstock.registry.formats.schema_format import Entity
from penstock.registry.formats.tags import FIELD, RECORD, Tags, no_such_entity, tag, tags_in

Json = dict[str, Any]

CRITERIA = ("allOf", "anyOf", "oneOf")
_CONDITION = ("if", "then", "else")
_DEFINITIONS = ("definitions", "$defs")
_KINDS = (
    *("array", "boolean", "combined", "conditional", "const", "empty", "enum", "false", "not", "null"),
    *("number", "object", "reference", "string", "true"),
)
"""In their order."""
_KIND_OF_CRITERION = dict.fromkeys(CRITERIA, "combined")
_KIND_OF_TYPE = {"integer": "number"}
_SPOKEN_OF = {"object": ("properties", "required", "additionalProperties"), "array": ("items", "prefixItems")}


def tags_of(document: Any) -> dict[Entity, list[str]]:
    entities = _entities(document, "", in_field=False)
    return {entity: tags for entity, schema in entities if (tags := tags_in(schema))}


def change_tags(document: Any, added: Tags, removed: Tags) -> None:
    entities = dict(_entities(document, "", in_field=False))
    for entity in dict.fromkeys([*added, *removed]):
        if entity not in entities:
            raise no_such_entity(entity)
        tag(entities[entity], added.get(entity, ()), removed.get(entity, ()))


def _entities(schema: Any, scope: str, *, in_field: bool) -> Iterator[tuple[Entity, Json]]:
    if not isinstance(schema, dict):
        return
    parts = _parts(schema)
    if len(parts) == 1:
        yield from _part_entities(parts[0], schema, scope, in_field=in_field)
    for index, part in enumerate(parts if len(parts) > 1 else ()):
        yield from _part_entities(part, schema, f"{scope}allof.{index}.", in_field=False)


def _parts(schema: Json) -> list[str]:
    """What it says things about, in order: keywords, and types."""
    found = [criterion for criterion in CRITERIA if isinstance(schema.get(criterion), list)]
    found += [keyword for keyword in ("$ref", "enum", "not", "const") if keyword in schema]
    if not schema.keys().isdisjoint(_CONDITION):
        found.append("conditional")
    types = _types(schema)
    if isinstance(schema.get("type"), list):
        found.append("type")
    else:
        found += types
    found += [
        kind
        for kind, keywords in _SPOKEN_OF.items()
        if kind not in types and not schema.keys().isdisjoint(keywords)
    ]
    return sorted(found, key=_rank)


def _types(schema: Json) -> list[str]:
    types = schema.get("type", [])
    return [each for each in (types if isinstance(types, list) else [types]) if isinstance(each, str)]


def _rank(part: str) -> int:
    kinds = {**_KIND_OF_CRITERION, **_KIND_OF_TYPE, "type": "combined", "$ref": "reference"}
    kind = kinds.get(part, part)
    return _KINDS.index(kind) if kind in _KINDS else len(_KINDS)


def _part_entities(part: str, schema: Json, scope: str, *, in_field: bool) -> Iterator[tuple[Entity, Json]]:
    if part in CRITERIA:
        for index, alternative in enumerate(sorted(schema[part], key=_order)):
            yield from _entities(alternative, f"{scope}{part.lower()}.{index}.", in_field=False)
    elif part == "type":
        for index, name in enumerate(sorted(_types(schema), key=_rank)):
            yield from _part_entities(name, schema, f"{scope}anyof.{index}.", in_field=False)
    elif part == "object":
        yield from _object_entities(schema, f"{scope}object", in_field=in_field)
    elif part == "array":
        yield from _entities(schema.get("items"), f"{scope}array.", in_field=False)
    elif part == "not":
        yield from _entities(schema["not"], f"{scope}not.", in_field=False)
    elif part == "conditional":
        for keyword in _CONDITION:
            yield from _entities(schema.get(keyword), f"{scope}conditional.{keyword}.", in_field=False)


def _object_entities(schema: Json, path: str, *, in_field: bool) -> Iterator[tuple[Entity, Json]]:
    if not in_field:
        yield Entity(RECORD, path), schema
    for name, value in _members(schema, "properties"):
        if isinstance(value, dict):
            yield Entity(FIELD, f"{path}.{name}"), value
            yield from _entities(value, f"{path}.{name}.", in_field=True)
    for keyword in _DEFINITIONS:
        for name, value in _members(schema, keyword):
            yield from _entities(value, f"{path}.{keyword}.{name}.", in_field=False)


def _members(schema: Json, keyword: str) -> list[tuple[str, Any]]:
    members = schema.get(keyword)
    return list(members.items()) if isinstance(members, dict) else []


def _order(schema: Any) -> tuple[object, ...]:
    if not isinstance(schema, dict):
        return (_KINDS.index("true" if schema else "false"),)
    parts = _parts(schema)
    kind = _rank("empty" if not parts else parts[0] if len(parts) == 1 else "combined")
    words = [_word(schema, name) for name in ("title", "description", "default", "const", "enum")]
    names = sorted(name for name, _ in _members(schema, "properties"))
    required = schema.get("required")
    return kind, *words, names, sorted(map(str, required)) if isinstance(required, list) else []


def _word(schema: Json, name: str) -> tuple[bool, str]:
    if name not in schema:
        return False, ""
    value = schema[name]
    return True, value if isinstance(value, str) else fingerprint(value)
