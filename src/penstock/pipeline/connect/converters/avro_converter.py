"""Avro with the ids of its schemas in a registry, as Confluent's AvroConverter writes and reads it."""

from __future__ import annotations

import io
import json
import struct
from dataclasses import dataclass
from typing import Any

import fastavro

from penstock.client.registry.avro import is_bytes
from penstock.client.registry.avro_schemas import name_of, parsed_avro
from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.reading import Reader
from penstock.client.registry.schemas import Schema as RegistrySchema
from penstock.client.registry.wire_format import SchemaId
from penstock.client.registry.writing import WritingCodec
from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance
from penstock.pipeline.connect.api.converter import SchemaAndValue
from penstock.pipeline.connect.converters.avro_names import AvroJson, AvroOptions
from penstock.pipeline.connect.converters.avro_reading import AvroReading, without_logical_types
from penstock.pipeline.connect.converters.avro_schemas import AvroSchemas
from penstock.pipeline.connect.converters.avro_values import Convert, avro_writer
from penstock.pipeline.connect.converters.registry_base import RegistryConverter, registry_config_def
from penstock.pipeline.connect.data import Schema
from penstock.pipeline.connect.errors import DataError

_SWITCHES = {
    "enhanced.avro.schema.support": (False, "Whether enums and the packages of names are kept."),
    "connect.meta.data": (True, "Whether what only Connect knows of a schema is kept in its properties."),
    "scrub.invalid.names": (False, "Whether names that Avro does not take are changed until it does."),
    "allow.optional.map.keys": (False, "Whether a map with optional texts for keys is one of Avro's maps."),
    "ignore.default.for.nullables": (
        False,
        "Whether a null is written as one where its schema has a default.",
    ),
}


def _config_def() -> ConfigDef:
    config_def = registry_config_def()
    for name, (default, doc) in _SWITCHES.items():
        config_def.define(name, ConfigType.BOOLEAN, default, importance=Importance.LOW, doc=doc)
    return config_def


@dataclass(frozen=True, eq=False)
class _Codec:
    schema: RegistrySchema
    parsed: AvroJson
    convert: Convert
    message_indexes: None = None

    @property
    def record_name(self) -> str | None:
        return name_of(self.parsed)

    def encode(self, value: Any, strict: bool) -> bytes:
        converted = self.convert(value[1])
        if is_bytes(self.parsed):
            return bytes(converted)
        out = io.BytesIO()
        try:
            fastavro.schemaless_writer(out, self.parsed, converted, strict_allow_default=strict)
        except (ValueError, TypeError, AttributeError, KeyError, OverflowError, struct.error) as error:
            raise DataError(f"{type(error).__name__}: {error}") from error
        return out.getvalue()


class AvroConverter(RegistryConverter):
    overview = "Avro, with its schemas in a Schema Registry."
    config_def = _config_def()
    schema_type = "AVRO"
    format_name = "Avro"

    def on_configured(self) -> None:
        self._options = AvroOptions(*(self.settings[name] for name in _SWITCHES))

    def codec_of_connect(self, schema: Schema) -> WritingCodec:
        made = AvroSchemas(self._options).made_of(schema)
        return _Codec(RegistrySchema(json.dumps(made)), _parsed(made), avro_writer(schema, self._options))

    def codec_of_registry(
        self, schema: RegistrySchema, own: Any, registry: SchemaRegistryClient
    ) -> WritingCodec:
        return _Codec(schema, _parsed(parsed_avro(schema, registry)), own.convert)

    def reader_of(
        self, schema: RegistrySchema, schema_id: SchemaId, registry: SchemaRegistryClient
    ) -> Reader:
        avro = parsed_avro(schema, registry)
        plain = _parsed(avro)
        connect_schema, read = AvroReading(self._options).of(avro)

        def read_data(data: bytes, start: int) -> SchemaAndValue:
            found = data[start:] if is_bytes(plain) else _record(data, start, plain)
            return SchemaAndValue(connect_schema, None if found is None else read(found))

        return read_data


def _parsed(avro: AvroJson) -> AvroJson:
    try:
        return fastavro.parse_schema(without_logical_types(_unparsed(avro)))
    except Exception as error:
        raise DataError(f"not an Avro schema: {type(error).__name__}: {error}") from error


def _unparsed(avro: AvroJson) -> AvroJson:
    """Without fastavro's own marks, so that it looks at the schema again."""
    if isinstance(avro, dict):
        return {name: _unparsed(each) for name, each in avro.items() if not name.startswith("__")}
    return [_unparsed(each) for each in avro] if isinstance(avro, list) else avro


def _record(data: bytes, start: int, schema: AvroJson) -> Any:
    source = io.BytesIO(data)
    source.seek(start)
    try:
        return fastavro.schemaless_reader(
            source, schema, None, return_record_name=True, return_record_name_override=True
        )
    except (EOFError, IndexError, struct.error):
        raise ValueError(f"the data ends before {name_of(schema) or 'it'} is complete") from None
