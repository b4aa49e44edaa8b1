"""Tags within schemas: words such as PII on a record or on a field, which Confluent's registry finds, adds and removes.

An entity is a record or a field, named by its path in the schema in each format's own way: `ns.User.email` in Avro,
`User.email` in Protobuf, `object.email` in JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from penstock.registry.formats.schema_format import Entity, InvalidSchema

TAGS_PROPERTY = "confluent:tags"
RECORD = "sr_record"
FIELD = "sr_field"


Tags: TypeAlias = Mapping[Entity, Sequence[str]]


def changed_tags(present: Sequence[str], added: Sequence[str], removed: Sequence[str]) -> list[str]:
    return [tag for tag in dict.fromkeys([*present, *added]) if tag not in removed]


def tags_in(properties: Mapping[str, Any]) -> list[str]:
    """Of a record, field or schema object that has them as a property."""
    tags = properties.get(TAGS_PROPERTY)
    return [str(tag) for tag in tags] if isinstance(tags, list) else []


def tag(properties: dict[str, Any], added: Sequence[str], removed: Sequence[str]) -> None:
    tags = changed_tags(tags_in(properties), added, removed)
    if tags:
        properties[TAGS_PROPERTY] = tags
    else:
        properties.pop(TAGS_PROPERTY, None)


def no_such_entity(entity: Entity) -> InvalidSchema:
    return InvalidSchema(f"No matching path '{entity.path}' found in the schema")
