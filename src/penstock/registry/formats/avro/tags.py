"""Tags on records and their fields: the property `confluent:tags`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.registry.formats.avro.types import Array, AvroType, Record, Union
from penstock.registry.formats.schema_format import Entity
from penstock.registry.formats.tags import FIELD, RECORD, Tags, no_such_entity, tag, tags_in


def tags_of(root: AvroType) -> dict[Entity, list[str]]:
    entities = _entities(root, set())
    return {entity: tags for entity, properties in entities if (tags := tags_in(properties))}


def change_tags(root: AvroType, known: frozenset[str], added: Tags, removed: Tags) -> None:
    """In what the schema itself defines, not in those that are `known` by reference."""
    entities = dict(_entities(root, set(known)))
    for entity in dict.fromkeys([*added, *removed]):
        tag(_found(entities, entity), added.get(entity, ()), removed.get(entity, ()))


def _found(entities: dict[Entity, dict[str, Any]], wanted: Entity) -> dict[str, Any]:
    """By its full name; the namespace may be left out."""
    if wanted in entities:
        return entities[wanted]
    for entity, properties in entities.items():
        if entity.kind == wanted.kind and _without_namespace(entity) == wanted.path:
            return properties
    raise no_such_entity(wanted)


def _without_namespace(entity: Entity) -> str:
    return ".".join(entity.path.split(".")[-1 if entity.kind == RECORD else -2 :])


def _entities(schema: AvroType, seen: set[str]) -> Iterator[tuple[Entity, dict[str, Any]]]:
    if isinstance(schema, Union):
        for branch in schema.branches:
            yield from _entities(branch, seen)
    elif isinstance(schema, Array):
        yield from _entities(schema.element, seen)
    elif isinstance(schema, Record) and schema.name.full not in seen:
        seen.add(schema.name.full)
        yield Entity(RECORD, schema.name.full), schema.props
        for field in schema.fields:
            yield Entity(FIELD, f"{schema.name.full}.{field.name}"), field.props
            yield from _entities(field.type, seen)
