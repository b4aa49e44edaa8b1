"""The canonical text of a schema: what Avro's Java library prints, which is what registries store and compare."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from penstock.registry.formats.avro.types import (
    Array,
    AvroType,
    Enum,
    Field,
    Fixed,
    Name,
    Named,
    Record,
    Union,
)


def canonical_text(schema: AvroType, known: Iterable[str] = ()) -> str:
    """`known` are full names that are only referred to."""
    return json.dumps(_Printer(set(known)).tree(schema, ""), separators=(",", ":"), ensure_ascii=False)


class _Printer:
    def __init__(self, known: set[str]) -> None:
        self._known = known

    def tree(self, schema: AvroType, space: str) -> Any:
        if isinstance(schema, Named):
            return self._named(schema, space)
        if isinstance(schema, Union):
            return [self.tree(branch, space) for branch in schema.branches]
        if isinstance(schema, Array):
            key = "items" if schema.kind == "array" else "values"
            return {"type": schema.kind, key: self.tree(schema.element, space), **schema.props}
        return {"type": schema.kind, **schema.props} if schema.props else schema.kind

    def _named(self, schema: Named, space: str) -> Any:
        name = schema.name
        if name.full in self._known:
            return name.name if name.space == space else name.full
        self._known.add(name.full)
        tree: dict[str, Any] = {"type": schema.kind, **_name_tree(name, space)}
        if isinstance(schema, Record) and schema.is_error:
            tree["type"] = "error"
        if schema.doc is not None:
            tree["doc"] = schema.doc
        tree.update(self._of_kind(schema))
        tree.update(schema.props)
        if schema.aliases:
            tree["aliases"] = [_relative(alias, name.space) for alias in schema.aliases]
        return tree

    def _of_kind(self, schema: Named) -> dict[str, Any]:
        if isinstance(schema, Record):
            return {"fields": [self._field(field, schema.name.space) for field in schema.fields]}
        if isinstance(schema, Enum):
            default = {} if schema.default is None else {"default": schema.default}
            return {"symbols": schema.symbols, **default}
        assert isinstance(schema, Fixed)
        return {"size": schema.size}

    def _field(self, field: Field, space: str) -> dict[str, Any]:
        tree: dict[str, Any] = {"name": field.name, "type": self.tree(field.type, space)}
        if field.doc is not None:
            tree["doc"] = field.doc
        if field.has_default:
            tree["default"] = field.default
        if field.order != "ascending":
            tree["order"] = field.order
        if field.aliases:
            tree["aliases"] = field.aliases
        tree.update(field.props)
        return tree


def _name_tree(name: Name, space: str) -> dict[str, str]:
    if name.space == space:
        return {"name": name.name}
    return {"name": name.name, "namespace": name.space}


def _relative(alias: Name, space: str) -> str:
    return alias.name if alias.space == space else alias.full
