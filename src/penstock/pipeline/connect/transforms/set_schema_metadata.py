"""SetSchemaMetadata: gives the schema of the key or value another name or version."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data import Schema, Struct
from penstock.pipeline.connect.errors import DataError
from penstock.pipeline.connect.transforms.base import (
    OfKey,
    OfValue,
    PartTransformation,
    SchemaMemory,
    with_null_setting,
)


class SetSchemaMetadata(PartTransformation[Record]):
    overview = "Sets the name, the version or both of the schema of the key or value."
    passes_null = False
    config_def = with_null_setting(
        ConfigDef()
        .define("schema.name", ConfigType.STRING, None, importance=Importance.HIGH, doc="The new name.")
        .define("schema.version", ConfigType.INT, None, importance=Importance.HIGH, doc="The new version.")
    )

    def on_configured(self) -> None:
        given = {"name": self.settings["schema.name"], "version": self.settings["schema.version"]}
        changes = {name: value for name, value in given.items() if value is not None}
        if not changes:
            raise ConfigError("Neither schema name nor version configured")
        self._schemas = SchemaMemory(lambda schema: replace(schema, **changes))

    def without_schema(self, record: Record, value: Any) -> Any:
        if value is not None:
            raise DataError("Schema required for [updating schema metadata]")
        return None

    def with_schema(self, record: Record, schema: Schema, value: Any) -> tuple[Schema, Any]:
        changed = self._schemas(schema)
        if isinstance(value, Struct):
            value = Struct.of(changed, value.all_values(self.with_defaults))
        return changed, value


class SetSchemaMetadataKey(OfKey, SetSchemaMetadata[Record]):
    pass


class SetSchemaMetadataValue(OfValue, SetSchemaMetadata[Record]):
    pass
