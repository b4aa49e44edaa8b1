"""Avro schemas of Connect's, as Confluent's converter makes them.

What Avro has no words for (an int8, a schema's version, its parameters) stands in properties that begin with
`connect.`, so that a schema that goes there and back is the same again.
"""

from __future__ import annotations

from typing import Final

from penstock.pipeline.connect.converters.avro_names import (
    DEFAULT_PRECISION,
    ENUM,
    FIELD_DOC,
    MAP_ENTRY,
    NAMESPACE,
    PRECISION,
    PRIMITIVES,
    RECORD_DOC,
    AvroJson,
    AvroOptions,
    is_enum,
    is_union,
)
from penstock.pipeline.connect.converters.avro_values import avro_default
from penstock.pipeline.connect.data import Schema, Type
from penstock.pipeline.connect.data.logical import (
    DATE_NAME,
    DECIMAL_NAME,
    TIME_NAME,
    TIMESTAMP_NAME,
    scale_of,
)
from penstock.pipeline.connect.errors import DataError

LOGICAL: Final = {
    DATE_NAME: "date",
    TIME_NAME: "time-millis",
    TIMESTAMP_NAME: "timestamp-millis",
    DECIMAL_NAME: "decimal",
}


class AvroSchemas:
    """Makes one Avro schema; a record that comes again is named."""

    def __init__(self, options: AvroOptions) -> None:
        self._options = options
        self._defined: dict[str, Schema] = {}
        self._entries: dict[str, list[AvroJson]] = {}
        self._unnamed = 0

    def made_of(self, schema: Schema, ignore_optional: bool = False) -> AvroJson:
        if is_union(schema):
            null = ["null"] if schema.optional else []
            return [*null, *(self.made_of(each.schema, ignore_optional=True) for each in schema.fields)]
        made = self._base(schema)
        if not schema.optional or ignore_optional:
            return made
        return [made, "null"] if schema.default is not None else ["null", made]

    def _base(self, schema: Schema) -> AvroJson:
        if schema.type is Type.STRUCT:
            return self._record(schema)
        made = {"type": PRIMITIVES.get(schema.type), **self._inner(schema), **self._meta(schema)}
        if schema.name in LOGICAL:
            made["logicalType"] = LOGICAL[schema.name]
        return made["type"] if set(made) == {"type"} else made

    def _inner(self, schema: Schema) -> dict[str, AvroJson]:
        if schema.type is Type.ARRAY:
            assert schema.value_schema is not None
            return {"type": "array", "items": self.made_of(schema.value_schema)}
        if schema.type is Type.MAP:
            return self._map(schema)
        if schema.name == DECIMAL_NAME:
            precision = int(schema.parameters.get(PRECISION, DEFAULT_PRECISION))
            return {"scale": scale_of(schema), "precision": precision}
        if is_enum(schema) and self._options.enhanced:
            prefix = f"{ENUM}."
            symbols = [name.removeprefix(prefix) for name in schema.parameters if name.startswith(prefix)]
            return {"type": "enum", "name": schema.parameters[ENUM], "symbols": symbols}
        return {}

    def _map(self, schema: Schema) -> dict[str, AvroJson]:
        """Avro's maps have texts for keys: others are arrays of entries."""
        assert schema.key_schema is not None
        assert schema.value_schema is not None
        if self._options.writes_as_map(schema):
            return {"type": "map", "values": self.made_of(schema.value_schema)}
        fields = [self._field("key", schema.key_schema), self._field("value", schema.value_schema)]
        return {"type": "array", "items": self._entry(schema, fields)}

    def _entry(self, schema: Schema, fields: list[AvroJson]) -> AvroJson:
        """A name stands for one kind of entries: others have a number after it."""
        plain = f"{NAMESPACE}.{MAP_ENTRY}"
        name = plain if schema.name is None else self._options.full_name(schema.name)
        number = 1
        while self._entries.setdefault(chosen := f"{name}{number if number > 1 else ''}", fields) != fields:
            number += 1
        if self._entries[chosen] is not fields:
            return chosen
        entry = {"type": "record", "name": chosen, "fields": fields}
        return entry if chosen == plain else {**entry, "connect.internal.type": MAP_ENTRY}

    def _record(self, schema: Schema) -> AvroJson:
        name = self._record_name(schema)
        required = Schema(Type.STRUCT, name=schema.name, fields=schema.fields)
        if name in self._defined:
            if self._defined[name] != required:
                raise DataError(f"two structs of different fields have the name {name}")
            return name
        self._defined[name] = required
        made: dict[str, AvroJson] = {"type": "record", "name": name}
        if RECORD_DOC in schema.parameters:
            made["doc"] = schema.parameters[RECORD_DOC]
        made["fields"] = [
            self._field(each.name, each.schema, schema.parameters.get(FIELD_DOC + each.name))
            for each in schema.fields
        ]
        return {**made, **self._meta(schema)}

    def _record_name(self, schema: Schema) -> str:
        if schema.name is not None:
            return self._options.full_name(schema.name)
        self._unnamed += 1
        return f"{NAMESPACE}.ConnectDefault{self._unnamed if self._unnamed > 1 else ''}"

    def _field(self, name: str, schema: Schema, doc: str | None = None) -> dict[str, AvroJson]:
        made = {"name": self._options.name(name), "type": self.made_of(schema)}
        if doc is not None:
            made["doc"] = doc
        if schema.default is not None:
            made["default"] = avro_default(schema, schema.default, self._options)
        elif schema.optional:
            made["default"] = None
        return made

    def _meta(self, schema: Schema) -> dict[str, AvroJson]:
        if not self._options.connect_meta_data:
            return {}
        small = schema.type.value if schema.type in (Type.INT8, Type.INT16) else None
        has_default = schema.default is not None
        said = {
            "connect.doc": schema.doc,
            "connect.version": schema.version,
            "connect.parameters": dict(schema.parameters) or None,
            "connect.default": avro_default(schema, schema.default, self._options) if has_default else None,
            "connect.name": schema.name,
            "connect.type": small,
        }
        return {name: value for name, value in said.items() if value is not None}
