"""Flatten: fields of nested structs or maps become fields of the key or value, with their path as their name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data import Field, Schema, Struct, Type
from penstock.pipeline.connect.data.java_text import class_name
from penstock.pipeline.connect.errors import DataError
from penstock.pipeline.connect.transforms.base import (
    OfKey,
    OfValue,
    PartTransformation,
    SchemaMemory,
    require_map,
    require_struct,
    struct_like,
)
from penstock.pipeline.connect.transforms.cast import type_of

_PURPOSE = "flattening"


class Flatten(PartTransformation[Record]):
    overview = (
        "Makes fields of nested structs or maps fields of the key or value, named by their path. "
        "Arrays stay as they are."
    )
    config_def = ConfigDef().define(
        "delimiter",
        ConfigType.STRING,
        ".",
        importance=Importance.MEDIUM,
        doc="What stands between the names of a path.",
    )

    def on_configured(self) -> None:
        self._delimiter: str = self.settings["delimiter"]
        self._schemas = SchemaMemory(self._flat_schema)

    def _path(self, prefix: str, name: str) -> str:
        return f"{prefix}{self._delimiter}{name}" if prefix else name

    # --- maps

    def without_schema(self, record: Record, value: Any) -> Any:
        return dict(self._flat_map(require_map(value, _PURPOSE), ""))

    def _flat_map(self, given: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
        for name, value in given.items():
            path = self._path(prefix, name)
            if isinstance(value, dict):
                yield from self._flat_map(value, path)
            else:
                _check_plain(value, path)
                yield path, value

    # --- structs

    def with_schema(self, record: Record, schema: Schema, value: Any) -> tuple[Schema, Any]:
        struct = require_struct(value, _PURPOSE, schema)
        flat = self._schemas(schema)
        return flat, Struct.of(flat, self._flat_values(schema, struct))

    def _flat_values(self, schema: Schema, struct: Struct | None) -> Iterator[Any]:
        for field in schema.fields:
            value = None if struct is None else struct.get(field.name)
            if field.schema.type is Type.STRUCT:
                yield from self._flat_values(field.schema, value)
            else:
                yield value

    def _flat_schema(self, schema: Schema) -> Schema:
        flat = self._flat_fields(schema, "", schema.optional, schema.default)
        fields = (
            (path, replace(of.schema, optional=optional, default=default, has_default=default is not None))
            for path, of, optional, default in flat
        )
        return struct_like(schema, fields)

    def _flat_fields(
        self, schema: Schema, prefix: str, optional: bool, defaults: Struct | None
    ) -> Iterator[tuple[str, Field, bool, Any]]:
        """Each field that is no struct, with its path, and what it has from the structs around it."""
        for field in schema.fields:
            path = self._path(prefix, field.name)
            is_optional = optional or field.schema.optional
            default = field.schema.default
            if default is None and defaults is not None:
                default = defaults.get(field.name)
            if field.schema.type is Type.STRUCT:
                yield from self._flat_fields(field.schema, path, is_optional, default)
            elif field.schema.type is Type.MAP:
                raise DataError(
                    f"Flatten transformation does not support {field.schema.type.name} "
                    f"for record with schemas (for field {path})."
                )
            else:
                yield path, field, is_optional, default


def _check_plain(value: Any, path: str) -> None:
    if value is None:
        return
    type = type_of(value)
    if type is None:
        raise DataError(
            f"Flatten transformation was passed a value of type class {class_name(value)} "
            "which is not supported by Connect's data API"
        )
    if type is Type.STRUCT:
        raise DataError(
            f"Flatten transformation does not support class {class_name(value)} "
            f"for record without schemas (for field {path})."
        )


class FlattenKey(OfKey, Flatten[Record]):
    pass


class FlattenValue(OfValue, Flatten[Record]):
    pass
