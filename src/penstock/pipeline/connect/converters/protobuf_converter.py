"""Protobuf with the ids of its schemas in a registry, as Confluent's ProtobufConverter writes and reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import wrappers_pb2
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError

from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.protobuf_files import (
    SERIALIZED,
    ProtobufFile,
    class_of,
    message_indexes,
    schema_of,
)
from penstock.client.registry.reading import Reader
from penstock.client.registry.schemas import Schema as RegistrySchema
from penstock.client.registry.wire_format import SchemaId
from penstock.client.registry.writing import WritingCodec
from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance
from penstock.pipeline.connect.api.converter import SchemaAndValue
from penstock.pipeline.connect.converters.protobuf_reading import ProtobufReading
from penstock.pipeline.connect.converters.protobuf_schemas import ProtobufFileOf, ProtobufOptions
from penstock.pipeline.connect.converters.protobuf_values import Convert, message_writer
from penstock.pipeline.connect.converters.registry_base import RegistryConverter, registry_config_def
from penstock.pipeline.connect.data import Schema, Struct, Type
from penstock.pipeline.connect.errors import DataError

_WRAPPERS: Final = {
    Type.INT8: wrappers_pb2.Int32Value,
    Type.INT16: wrappers_pb2.Int32Value,
    Type.INT32: wrappers_pb2.Int32Value,
    Type.INT64: wrappers_pb2.Int64Value,
    Type.FLOAT32: wrappers_pb2.FloatValue,
    Type.FLOAT64: wrappers_pb2.DoubleValue,
    Type.BOOLEAN: wrappers_pb2.BoolValue,
    Type.STRING: wrappers_pb2.StringValue,
    Type.BYTES: wrappers_pb2.BytesValue,
}
_SWITCHES: Final = {
    "enhanced.protobuf.schema.support": "Whether the packages of names are kept.",
    "int.for.enums": "Whether enums are read as numbers.",
    "optional.for.nullables": "Whether optional fields are `optional` in Protobuf, and only those optional in Connect.",
}


def _config_def() -> ConfigDef:
    config_def = registry_config_def()
    for name, doc in _SWITCHES.items():
        config_def.define(name, ConfigType.BOOLEAN, False, importance=Importance.MEDIUM, doc=doc)
    return config_def


@dataclass(frozen=True, eq=False)
class _Codec:
    schema: RegistrySchema
    descriptor: Descriptor
    connect_schema: Schema
    convert: Convert

    @property
    def record_name(self) -> str | None:
        return str(self.descriptor.full_name)

    @property
    def message_indexes(self) -> tuple[int, ...]:
        return message_indexes(self.descriptor)

    def encode(self, value: Any, strict: bool) -> bytes:
        try:
            return bytes(self.convert(value[1]).SerializeToString())
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise DataError(f"{type(error).__name__}: {error}") from error


class ProtobufConverter(RegistryConverter):
    overview = "Protobuf, with its schemas in a Schema Registry."
    config_def = _config_def()
    schema_type = "PROTOBUF"
    format_name = "Protobuf"
    has_message_indexes = True
    schema_format = SERIALIZED

    def on_configured(self) -> None:
        self._options = ProtobufOptions(*(self.settings[name] for name in _SWITCHES))

    def codec_of_connect(self, schema: Schema) -> WritingCodec:
        if schema.type is Type.STRUCT:
            descriptor = ProtobufFileOf(schema, self._options).descriptor
        elif schema.type in _WRAPPERS and schema.name is None:
            descriptor = _WRAPPERS[schema.type].DESCRIPTOR
        else:
            raise DataError(f"{schema.type.name} alone is no message: wrap it in a struct (HoistField$Value)")
        return _codec(schema_of(descriptor.file), descriptor, schema)

    def codec_of_registry(
        self, schema: RegistrySchema, own: Any, registry: SchemaRegistryClient
    ) -> WritingCodec:
        descriptor = ProtobufFile(schema, registry).message_of(str(own.record_name))
        return _codec(schema, descriptor, own.connect_schema)

    def reader_of(
        self, schema: RegistrySchema, schema_id: SchemaId, registry: SchemaRegistryClient
    ) -> Reader:
        descriptor = ProtobufFile(schema, registry).message_at(schema_id.message_indexes)
        message_class = class_of(descriptor)
        made, read = ProtobufReading(self._options).of_message(descriptor, is_root=True)

        def read_data(data: bytes, start: int) -> SchemaAndValue:
            message = message_class()
            try:
                message.ParseFromString(data[start:])
            except DecodeError as error:
                raise ValueError(f"not a {descriptor.full_name}: {error}") from error
            found = read(message)
            return SchemaAndValue(made, Struct.of(made, found) if made.type is Type.STRUCT else found)

        return read_data


def _codec(schema: RegistrySchema, descriptor: Descriptor, connect_schema: Schema) -> _Codec:
    if connect_schema.type is Type.STRUCT:
        return _Codec(schema, descriptor, connect_schema, message_writer(connect_schema, descriptor))
    message_class = class_of(descriptor)
    return _Codec(schema, descriptor, connect_schema, lambda value: message_class(value=value))
