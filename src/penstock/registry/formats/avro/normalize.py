"""What does not matter brought into one order: other attributes by name, aliases, empty documentation left out."""

from __future__ import annotations

from typing import Any

from penstock.registry.formats.avro.logical_types import is_logical
from penstock.registry.formats.avro.types import Array, AvroType, Named, Record, Union

_LOGICAL_PROPS = ("logicalType", "precision", "scale")


def normalize(schema: AvroType) -> None:
    """In place."""
    _normalize(schema, set())


def _normalize(schema: AvroType, seen: set[int]) -> None:
    if id(schema) in seen:
        return
    seen.add(id(schema))
    schema.props = _sorted_props(schema)
    if isinstance(schema, Named):
        schema.doc = schema.doc or None
        schema.aliases.sort(key=lambda alias: alias.full)
    for part in _parts(schema):
        _normalize(part, seen)
    if isinstance(schema, Record):
        for field in schema.fields:
            field.aliases.sort()
            field.props = dict(sorted(field.props.items()))


def _parts(schema: AvroType) -> list[AvroType]:
    if isinstance(schema, Union):
        return schema.branches
    if isinstance(schema, Array):
        return [schema.element]
    return [field.type for field in schema.fields] if isinstance(schema, Record) else []


def _sorted_props(schema: AvroType) -> dict[str, Any]:
    props = dict(sorted(schema.props.items()))
    if not is_logical(schema):
        return props
    first = {key: props[key] for key in _LOGICAL_PROPS if key in props}
    if schema.props["logicalType"] != "decimal":
        first = {"logicalType": props["logicalType"]}
    return {**first, **props}
