"""ValueToKey: a new key of fields of the value."""

from __future__ import annotations

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data import Schema, SchemaBuilder, Struct
from penstock.pipeline.connect.errors import DataError
from penstock.pipeline.connect.transforms.base import (
    REPLACE_NULL_WITH_DEFAULT,
    KafkaTransformation,
    SchemaMemory,
    any_names,
    require_map,
    require_struct,
    with_null_setting,
)

_PURPOSE = "copying fields from value to key"


class ValueToKey(KafkaTransformation[Record]):
    overview = "Makes a new key of fields of the value."
    config_def = with_null_setting(
        ConfigDef().define(
            "fields",
            ConfigType.LIST,
            validator=any_names(empty_allowed=False),
            importance=Importance.HIGH,
            doc="The names of the fields.",
        )
    )

    def on_configured(self) -> None:
        self._fields = dict.fromkeys(self.settings["fields"])
        self._schemas = SchemaMemory(self._key_schema)

    def apply(self, record: Record) -> Record | None:
        if record.value_schema is None:
            value = require_map(record.value, _PURPOSE)
            return record.changed(key_schema=None, key={name: value.get(name) for name in self._fields})
        struct = require_struct(record.value, _PURPOSE, record.value_schema)
        schema = self._schemas(struct.schema)
        values = struct.all_values(self.settings[REPLACE_NULL_WITH_DEFAULT])
        field_of = struct.schema.field_of
        key = Struct.of(schema, [values[field_of[name].index] for name in self._fields])
        return record.changed(key_schema=schema, key=key)

    def _key_schema(self, schema: Schema) -> Schema:
        builder = SchemaBuilder.struct()
        for name in self._fields:
            field = schema.field(name)
            if field is None:
                raise DataError(f"Field does not exist: {name}")
            builder.field(name, field.schema)
        return builder.build()
