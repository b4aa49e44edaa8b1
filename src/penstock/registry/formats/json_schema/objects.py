"""Comparing what schemas say of objects."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.bounded_patterns import bounded_pattern
from penstock.registry.formats.json_schema.content_models import (
    added,
    compare_additional,
    compare_unevaluated,
    is_open,
    removed,
    schema_of_others,
)
from penstock.registry.formats.json_schema.findings import Findings
from penstock.registry.formats.json_schema.model import Anything, Node, Object, resolved
from penstock.registry.formats.json_schema.patterns import compiled
from penstock.registry.formats.json_schema.scalars import change_of_set, compare_limits
from penstock.registry.formats.json_schema.steps import Steps


def compare_objects(writer: Object, reader: Object, found: Findings) -> Steps:
    _compare_required(writer, reader, found)
    yield from _compare_properties(writer, reader, found)
    _compare_needed_names(writer, reader, found)
    yield from _compare_needed_schemas(writer, reader, found)
    yield from compare_additional(writer, reader, found, "additionalProperties", "ADDITIONAL_PROPERTIES")
    yield from compare_unevaluated(writer, reader, found, "unevaluatedProperties", "UNEVALUATED_PROPERTIES")
    compare_limits(writer, reader, found)


def _either(before: Iterable[str], after: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*before, *after]))


def _compare_required(writer: Object, reader: Object, found: Findings) -> None:
    """Of the properties that both name; what else is required belongs to properties that were added or removed."""
    for name in writer.properties:
        if name not in reader.properties or (name in writer.required) == (name in reader.required):
            continue
        if name in writer.required:
            found.add("REQUIRED_ATTRIBUTE_REMOVED", f"required/{name}")
        else:
            with_default = "_WITH_DEFAULT" if reader.properties[name].has_default else ""
            found.add(f"REQUIRED_ATTRIBUTE{with_default}_ADDED", f"required/{name}")


def _compare_properties(writer: Object, reader: Object, found: Findings) -> Steps:
    for name in _either(writer.properties, reader.properties):
        at = f"properties/{name}"
        before, after = writer.properties.get(name), reader.properties.get(name)
        if before is not None and after is not None:
            found.include((yield before, after), at)
        elif before is not None:
            yield from _removed_property(name, before, reader, found, at)
        elif after is not None:
            yield from _added_property(name, after, writer, reader, found, at)


def _removed_property(name: str, schema: Node, reader: Object, found: Findings, at: str) -> Steps:
    """Whether it can be read depends on what the reader says of properties that it does not name."""
    if _takes_anything(reader):
        found.add("PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL", at)
    else:
        yield from removed("PROPERTY", _schema_of_other(name, reader), schema, found, at)


def _added_property(
    name: str, schema: Node, writer: Object, reader: Object, found: Findings, at: str
) -> Steps:
    """A writer that says nothing of it may have written anything under its name, unless its model is closed."""
    model = "OPEN" if _takes_anything(writer) else "UNOPEN"
    if model == "OPEN" and isinstance(resolved(schema), Anything):
        found.add("PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL", at)
        return
    others = None if model == "OPEN" else _schema_of_other(name, writer)
    if others is not None:
        yield from added("PROPERTY", others, schema, found, at)
    need = "REQUIRED" if name in reader.required else "OPTIONAL"
    with_default = "_WITH_DEFAULT" if need == "REQUIRED" and schema.has_default else ""
    found.add(f"{need}_PROPERTY{with_default}_ADDED_TO_{model}_CONTENT_MODEL", at)


def _takes_anything(model: Object) -> bool:
    return is_open(model) and not model.by_pattern


def _schema_of_other(name: str, model: Object) -> Node | None:
    matching = (
        schema
        for pattern, schema in model.by_pattern.items()
        if bounded_pattern(pattern, compiled(pattern)).search(name)
    )
    return next(matching, None) or schema_of_others(model)


def _compare_needed_names(writer: Object, reader: Object, found: Findings) -> None:
    for name in _either(writer.needed_names, reader.needed_names):
        before, after = writer.needed_names.get(name), reader.needed_names.get(name)
        if before == after:
            continue
        if before is None:
            change = "ADDED"
        else:
            change = "REMOVED" if after is None else change_of_set(before, after)
        found.add(f"DEPENDENCY_ARRAY_{change}", f"dependencies/{name}")


def _compare_needed_schemas(writer: Object, reader: Object, found: Findings) -> Steps:
    for name in _either(writer.needed_schemas, reader.needed_schemas):
        at = f"dependencies/{name}"
        before, after = writer.needed_schemas.get(name), reader.needed_schemas.get(name)
        if before is not None and after is not None:
            found.include((yield before, after), at)
        else:
            found.add(f"DEPENDENCY_SCHEMA_{'ADDED' if before is None else 'REMOVED'}", at)
