"""Columns in Confluent's wire format, decoded and encoded on the executors with the Schema Registry, without a jar.

Arrow in, Arrow out, in Python workers. What a worker has looked up in the registry stays with it, in this module, for
the next batch. Which format a value has, its own schema says: Avro, JSON Schema and Protobuf may be mixed in a topic.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message

from penstock.client import (
    AvroDeserializer,
    AvroSerializer,
    JsonSchemaDeserializer,
    JsonSchemaSerializer,
    ProtobufDeserializer,
    ProtobufSerializer,
    Schema,
    SchemaRegistryClient,
    SerializationError,
)
from penstock.client.registry.protobuf_files import SERIALIZED, ProtobufFile, class_of
from penstock.client.registry.wire_format import decode_schema_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RegistryConfigs = Mapping[str, str]
JSON_TEXT = "string"
_DESERIALIZERS = {
    "AVRO": AvroDeserializer,
    "JSON": JsonSchemaDeserializer,
    "PROTOBUF": ProtobufDeserializer,
}


def decoded(
    frame: DataFrame, column: str, registry: str | RegistryConfigs, returns: str = JSON_TEXT
) -> DataFrame:
    """The same frame with what the bytes stand for: as `returns`, a type in Spark's words as `struct<id: bigint>`, or
    as JSON if it is `string`. Fields that the type has and a record lacks are null; those that it lacks are left out.
    A value that is no such data fails the query, and says why."""
    from pyspark.sql.pandas.functions import arrow_udf
    from pyspark.sql.pandas.types import to_arrow_type
    from pyspark.sql.types import _parse_datatype_string

    kind = None if returns == JSON_TEXT else to_arrow_type(_parse_datatype_string(returns), timezone="UTC")
    decode = arrow_udf(_Decode(configs_of(registry), kind).column, returns)  # type: ignore[call-overload]
    return frame.withColumn(column, decode(column))


def encoded(
    frame: DataFrame,
    column: str,
    registry: str | RegistryConfigs,
    subject: str,
    schema: Schema | None = None,
    message: str | None = None,
) -> DataFrame:
    """The same frame with bytes for a column of structs, or of plain values: with `schema`, which is registered under
    `subject` now, or else with the subject's latest version. `message` names one of a Protobuf file's; the first."""
    from pyspark.sql.pandas.functions import arrow_udf

    configs = configs_of(registry)
    with SchemaRegistryClient(configs) as client:
        found = client.latest_version(subject) if schema is None else client.register(subject, schema)
        assert found.id is not None
        kind = client.schema_by_id(found.id).schema_type
    encode = arrow_udf(_Encode(configs, found.id, kind, message).column, "binary")  # type: ignore[call-overload]
    return frame.withColumn(column, encode(column))


def configs_of(registry: str | RegistryConfigs) -> dict[str, str]:
    return {"schema.registry.url": registry} if isinstance(registry, str) else dict(registry)


# --- on the executors

_decoders: dict[str, Callable[[bytes], Any]] = {}
_encoders: dict[str, Callable[[Any], bytes]] = {}


class _Decode:
    def __init__(self, configs: RegistryConfigs, kind: pa.DataType | None) -> None:
        self._configs, self._kind = dict(configs), kind

    def column(self, values: pa.Array) -> pa.Array:
        key = json.dumps(self._configs, sort_keys=True)
        if key not in _decoders:
            _decoders[key] = _decoder(self._configs)
        decode = _decoders[key]
        found = [None if value is None else decode(value) for value in values.to_pylist()]
        if self._kind is not None:
            return pa.array(found, self._kind)
        return pa.array([None if value is None else as_json(value) for value in found], pa.string())


class _Encode:
    def __init__(self, configs: RegistryConfigs, schema_id: int, kind: str, message: str | None) -> None:
        self._configs, self._schema_id = dict(configs), schema_id
        self._kind, self._message = kind, message

    def column(self, values: pa.Array) -> pa.Array:
        key = json.dumps([self._configs, self._schema_id, self._message], sort_keys=True)
        if key not in _encoders:
            _encoders[key] = self._encoder()
        encode = _encoders[key]
        return pa.array(
            [None if value is None else encode(value) for value in values.to_pylist()], pa.binary()
        )

    def _encoder(self) -> Callable[[Any], bytes]:
        settings = {**self._configs, "use.schema.id": str(self._schema_id)}
        if self._kind == "PROTOBUF":
            return self._protobuf_encoder(settings)
        serializer = (JsonSchemaSerializer if self._kind == "JSON" else AvroSerializer)(None, settings)
        return lambda value: serializer.serialize("", value)

    def _protobuf_encoder(self, settings: dict[str, str]) -> Callable[[Any], bytes]:
        client = SchemaRegistryClient(self._configs)
        file = ProtobufFile(client.schema_by_id(self._schema_id, None, SERIALIZED), client)
        made = class_of(file.message_at((0,)) if self._message is None else file.message_of(self._message))
        serializer = ProtobufSerializer(made, settings)
        return lambda value: serializer.serialize("", ParseDict(_without_nulls(value), made()))


def _decoder(configs: RegistryConfigs) -> Callable[[bytes], Any]:
    client = SchemaRegistryClient(dict(configs))
    by_type = {name: make(registry=client) for name, make in _DESERIALIZERS.items()}

    def decode(data: bytes) -> Any:
        try:
            schema_id, _ = decode_schema_id(data, (), "value", False)
            schema = (
                client.schema_by_id(schema_id.id)
                if schema_id.id is not None
                else client.schema_by_guid(str(schema_id.guid))
            )
            value = by_type[schema.schema_type].deserialize("", data)
        except ValueError as error:
            raise SerializationError(f"a value can't be decoded: {error}") from error
        return as_plain(value) if isinstance(value, Message) else value

    return decode


def as_plain(message: Message) -> dict[str, Any]:
    """A Protobuf message as a dictionary: enums by their names, messages that are not set as None."""
    return {field.name: _plain_field(message, field) for field in message.DESCRIPTOR.fields}


def _plain_field(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        of = field.message_type.fields_by_name["value"]
        return {key: _plain_value(value[key], of) for key in value}
    if field.is_repeated:
        return [_plain_value(each, field) for each in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _plain_value(value, field)


def _plain_value(value: Any, field: Any) -> Any:
    if isinstance(value, Message):
        return as_plain(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return str(value) if known is None else known.name
    return value


def _without_nulls(value: Any) -> Any:
    """As Protobuf's JSON has it: what is null is not there, bytes are base64."""
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def as_json(value: Any) -> str:
    return json.dumps(value, default=_as_text, ensure_ascii=False, separators=(",", ":"))


def _as_text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
