"""HeaderFrom: moves or copies fields of the key or value to headers."""

from __future__ import annotations

from typing import Any

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance, invalid, one_of
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data import Headers, Schema, Struct
from penstock.pipeline.connect.errors import DataError
from penstock.pipeline.connect.transforms.base import (
    OfKey,
    OfValue,
    PartTransformation,
    SchemaMemory,
    require_map,
    require_struct,
    struct_like,
    with_null_setting,
)


def _not_empty(name: str, value: Any) -> None:
    if not value:
        raise invalid(name, value, "Empty list")


class HeaderFrom(PartTransformation[Record]):
    overview = "Moves or copies fields of the key or value to headers."
    config_def = with_null_setting(
        ConfigDef()
        .define(
            "fields",
            ConfigType.LIST,
            validator=_not_empty,
            importance=Importance.HIGH,
            doc="The names of the fields.",
        )
        .define(
            "headers",
            ConfigType.LIST,
            validator=_not_empty,
            importance=Importance.HIGH,
            doc="The names of the headers, in the order of the fields.",
        )
        .define(
            "operation",
            ConfigType.STRING,
            validator=one_of("move", "copy"),
            importance=Importance.HIGH,
            doc="`move` takes the fields out of the key or value, `copy` leaves them in.",
        )
    )

    def on_configured(self) -> None:
        fields, headers = self.settings["fields"], self.settings["headers"]
        if len(fields) != len(headers):
            raise ConfigError("'fields' config must have the same number of elements as 'headers' config.")
        self._headers_of = list(zip(fields, headers, strict=True))
        self._fields = frozenset(fields)
        self._moves = self.settings["operation"] == "move"
        self._purpose = f"header {self.settings['operation']}"
        self._schemas = SchemaMemory(self._without_fields)

    def apply(self, record: Record) -> Record | None:
        schema, value = self.read(record)
        headers = record.headers.copy()
        changed: Any
        if schema is None:
            changed = self._from_map(require_map(value, self._purpose), headers)
        else:
            struct = require_struct(value, self._purpose, schema)
            schema, changed = self._from_struct(schema, struct, headers)
        return self.changed(record, schema, changed, headers=headers)  # type: ignore[no-any-return]

    def _from_map(self, value: dict[str, Any], headers: Headers) -> dict[str, Any]:
        for field, header in self._headers_of:
            headers.add(header, value.get(field))
        if not self._moves:
            return value
        return {name: inner for name, inner in value.items() if name not in self._fields}

    def _from_struct(self, schema: Schema, value: Struct, headers: Headers) -> tuple[Schema, Struct]:
        values = value.all_values(self.with_defaults)
        for name, header in self._headers_of:
            field = schema.field(name)
            if field is None:
                raise DataError(f"{self._purpose}: {name!r} is not a field of the {self.part}")
            headers.add(header, values[field.index], field.schema)
        if not self._moves:
            return schema, value
        changed = self._schemas(schema)
        return changed, Struct.of(changed, (values[each.index] for each in self._kept(schema)))

    def _kept(self, schema: Schema) -> list[Any]:
        return [each for each in schema.fields if each.name not in self._fields]

    def _without_fields(self, schema: Schema) -> Schema:
        return struct_like(schema, ((each.name, each.schema) for each in self._kept(schema)))


class HeaderFromKey(OfKey, HeaderFrom[Record]):
    pass


class HeaderFromValue(OfValue, HeaderFrom[Record]):
    pass
