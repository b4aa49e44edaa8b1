"""JSON with the ids of its schemas in a registry, as Confluent's JsonSchemaConverter writes and reads it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.reading import Reader
from penstock.client.registry.schemas import Schema as RegistrySchema
from penstock.client.registry.wire_format import SchemaId
from penstock.client.registry.writing import WritingCodec
from penstock.pipeline.connect.api.config_def import ConfigType, Importance, one_of
from penstock.pipeline.connect.api.converter import SchemaAndValue
from penstock.pipeline.connect.converters.json_converter import parsed_json
from penstock.pipeline.connect.converters.json_reading import has_decimals
from penstock.pipeline.connect.converters.json_schema_schemas import (
    ConnectSchemas,
    JsonSchemaOptions,
    JsonSchemas,
)
from penstock.pipeline.connect.converters.json_schema_values import JsonSchemaReading, JsonSchemaWriting
from penstock.pipeline.connect.converters.json_writing import Writer
from penstock.pipeline.connect.converters.registry_base import RegistryConverter, registry_config_def
from penstock.pipeline.connect.data import Schema


@dataclass(frozen=True, eq=False)
class _Codec:
    schema: RegistrySchema
    record_name: str | None
    write: Writer
    message_indexes: None = None

    def encode(self, value: Any, strict: bool) -> bytes:
        return self.write(value[1]).encode("utf-8", "surrogatepass")


class JsonSchemaConverter(RegistryConverter):
    overview = "JSON, with its JSON Schemas in a Schema Registry."
    schema_type = "JSON"
    format_name = "JSON"
    config_def = (
        registry_config_def()
        .define(
            "object.additional.properties",
            ConfigType.BOOLEAN,
            True,
            importance=Importance.MEDIUM,
            doc="Whether objects may have other members than the fields of their struct.",
        )
        .define(
            "use.optional.for.nonrequired",
            ConfigType.BOOLEAN,
            False,
            importance=Importance.MEDIUM,
            doc="Whether members that a schema does not require are optional fields.",
        )
        .define(
            "decimal.format",
            ConfigType.STRING,
            "BASE64",
            validator=one_of("BASE64", "NUMERIC", ignore_case=True),
            importance=Importance.LOW,
            doc="How Decimals are written: BASE64 or NUMERIC.",
        )
    )

    def on_configured(self) -> None:
        numeric = self.settings["decimal.format"].upper() == "NUMERIC"
        self._options = JsonSchemaOptions(
            self.settings["object.additional.properties"],
            self.settings["use.optional.for.nonrequired"],
            numeric,
        )
        self._writing = JsonSchemaWriting(numeric_decimals=numeric)
        self._reading = JsonSchemaReading()

    def codec_of_connect(self, schema: Schema) -> WritingCodec:
        text = json.dumps(JsonSchemas(self._options).made_of(schema), ensure_ascii=False)
        return _Codec(RegistrySchema(text, "JSON"), schema.name, self._writing.writer_of(schema))

    def codec_of_registry(
        self, schema: RegistrySchema, own: Any, registry: SchemaRegistryClient
    ) -> WritingCodec:
        return _Codec(schema, own.record_name, own.write)

    def reader_of(
        self, schema: RegistrySchema, schema_id: SchemaId, registry: SchemaRegistryClient
    ) -> Reader:
        document = json.loads(schema.text)
        others = {
            name: json.loads(found.schema.text)
            for name, found in (registry.resolved_references(schema) if schema.references else {}).items()
        }
        made = ConnectSchemas(self._options, document, others).of(document)
        read, exact = self._reading.reader_of(made), has_decimals(made)
        return lambda data, start: SchemaAndValue(made, read(parsed_json(data[start:], exact)))
