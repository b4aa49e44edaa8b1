"""ExtractField: a field takes the place of the key or value that has it."""

from __future__ import annotations

from typing import Any

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data import Schema
from penstock.pipeline.connect.errors import DataError
from penstock.pipeline.connect.transforms.base import (
    OfKey,
    OfValue,
    PartTransformation,
    require_map,
    require_struct,
    with_null_setting,
    with_syntax_setting,
)
from penstock.pipeline.connect.transforms.field_path import FieldPath

_PURPOSE = "field extraction"


class ExtractField(PartTransformation[Record]):
    overview = "Puts one field of the key or value in its place; null stays null."
    passes_null = False
    config_def = with_syntax_setting(
        with_null_setting(
            ConfigDef().define(
                "field", ConfigType.STRING, importance=Importance.MEDIUM, doc="The name of the field."
            )
        )
    )

    def on_configured(self) -> None:
        self._path = FieldPath(self.settings["field"], self.settings["field.syntax.version"])

    def without_schema(self, record: Record, value: Any) -> Any:
        return None if value is None else self._path.value_in_map(require_map(value, _PURPOSE))

    def with_schema(self, record: Record, schema: Schema, value: Any) -> tuple[Schema, Any]:
        struct = None if value is None else require_struct(value, _PURPOSE, schema)
        field = self._path.field_in(schema)
        if field is None:
            raise DataError(f"Unknown field: {self._path.text}")
        if struct is None:
            return field.schema, None
        return field.schema, self._path.value_in_struct(struct, self.with_defaults)


class ExtractFieldKey(OfKey, ExtractField[Record]):
    pass


class ExtractFieldValue(OfValue, ExtractField[Record]):
    pass
