"""HoistField: wraps the key or value in a struct or map of one field."""

from __future__ import annotations

from typing import Any

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data import Schema, SchemaBuilder, Struct
from penstock.pipeline.connect.transforms.base import OfKey, OfValue, PartTransformation, SchemaMemory


class HoistField(PartTransformation[Record]):
    overview = "Wraps the key or value in a struct or, without a schema, a map of one field."
    passes_null = False
    config_def = ConfigDef().define(
        "field", ConfigType.STRING, importance=Importance.MEDIUM, doc="The name of the one field."
    )

    def on_configured(self) -> None:
        self._field: str = self.settings["field"]
        self._schemas = SchemaMemory(lambda schema: SchemaBuilder.struct().field(self._field, schema).build())

    def without_schema(self, record: Record, value: Any) -> Any:
        return {self._field: value}

    def with_schema(self, record: Record, schema: Schema, value: Any) -> tuple[Schema, Any]:
        wrapper = self._schemas(schema)
        return wrapper, Struct(wrapper, **{self._field: value})


class HoistFieldKey(OfKey, HoistField[Record]):
    pass


class HoistFieldValue(OfValue, HoistField[Record]):
    pass
