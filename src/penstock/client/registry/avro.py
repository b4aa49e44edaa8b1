"""Avro: records as dictionaries, or as objects of the user's classes."""

import io
import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import fastavro

from penstock.client.registry.avro_classes import avro_schema_of, from_record, is_record_class, to_record
from penstock.client.registry.avro_schemas import AvroJson, misfits, name_of, parsed_avro
from penstock.client.registry.reading import Reader, RegistryDeserializer, require_type
from penstock.client.registry.schemas import Schema
from penstock.client.registry.serde import RegistrySpec
from penstock.client.registry.wire_format import SchemaId
from penstock.client.registry.writing_objects import ObjectSerializer

MAX_MISFITS_SHOWN = 5
_OF_PLAIN_TYPE = {
    bool: '"boolean"',
    int: '"long"',
    float: '"double"',
    str: '"string"',
    bytes: '"bytes"',
}


def given_schema(given: object) -> Schema | None:
    """Of what the user gave as one: text, JSON, a `Schema`, a class."""
    if given is None or isinstance(given, Schema):
        return given
    if isinstance(given, str):
        return Schema(given)
    if isinstance(given, Mapping | list):
        return Schema(json.dumps(given))
    if is_record_class(given):
        return Schema(avro_schema_of(given))  # type: ignore[arg-type]
    raise TypeError(f"got {given!r} as a schema; takes Avro as text or JSON, a Schema, or a class of records")


@dataclass(frozen=True, eq=False)
class _AvroCodec:
    schema: Schema
    parsed: AvroJson
    to_dict: Callable[[Any], Any]
    message_indexes: None = None

    @property
    def record_name(self) -> str | None:
        return name_of(self.parsed)

    def encode(self, value: Any, strict: bool) -> bytes:
        record = self.to_dict(value)
        if isinstance(record, bytes) and is_bytes(self.parsed):
            return record
        out = io.BytesIO()
        try:
            fastavro.schemaless_writer(out, self.parsed, record, strict_allow_default=strict)
        except Exception as error:
            raise ValueError(_why_not(self.parsed, record, error)) from error
        return out.getvalue()


def is_bytes(parsed: AvroJson) -> bool:
    """Such values stand as they are, without the length that Avro has before them: so do Confluent's Java classes."""
    return parsed == "bytes" or (isinstance(parsed, dict) and parsed == {"type": "bytes"})


def _why_not(parsed: AvroJson, record: Any, error: Exception) -> str:
    found = list(misfits(parsed, record))
    more = f"; and {len(found) - MAX_MISFITS_SHOWN} more" if len(found) > MAX_MISFITS_SHOWN else ""
    return "; ".join(found[:MAX_MISFITS_SHOWN]) + more if found else f"{type(error).__name__}: {error}"


class AvroSerializer(ObjectSerializer):
    """Writes Avro in Confluent's wire format, with a schema that is given, or that of the value's class.

    Takes dictionaries, dataclasses, pydantic models, msgspec structs and plain values; `to_dict` makes dictionaries of
    anything else. The settings are Confluent's, as keywords.

    >>> from dataclasses import dataclass
    >>> from penstock import KafkaConsumer, KafkaProducer
    >>> from penstock.client import AvroDeserializer, AvroSerializer
    >>> @dataclass
    ... class Order:
    ...     customer: int
    ...     cups: int
    >>> with KafkaProducer(
    ...     bootstrap_servers="localhost:9092",
    ...     schema_registry_url="http://localhost:8081",
    ...     value_serializer=AvroSerializer(Order),
    ... ) as producer:
    ...     _ = producer.send("orders", Order(7, 2)).result(timeout=30)
    >>> with KafkaConsumer(
    ...     "orders",
    ...     bootstrap_servers="localhost:9092",
    ...     group_id="billing",
    ...     auto_offset_reset="earliest",
    ...     schema_registry_url="http://localhost:8081",
    ...     value_deserializer=AvroDeserializer(Order),
    ... ) as consumer:
    ...     [record.value for record in consumer.poll(timeout=30)]
    [Order(customer=7, cups=2)]
    """

    schema_type = "AVRO"

    takes = (
        "what its Avro schema says: a dict, a dataclass, a pydantic model, a msgspec struct, a plain value"
    )

    def __init__(
        self,
        schema: str | Mapping[str, Any] | list[Any] | Schema | type[Any] | None = None,
        registry: RegistrySpec = None,
        *,
        to_dict: Callable[[Any], Any] | None = None,
        **settings: object,
    ) -> None:
        self._schema = given_schema(schema)
        self._to_dict = to_dict or to_record
        super().__init__(registry, **settings)
        if self._schema is not None and not self._schema.references:
            parsed_avro(self._schema, None)  # what is wrong with it is said here

    def _codec(self, schema: Schema) -> _AvroCodec:
        registry = self.registry if schema.references else None
        return _AvroCodec(schema, parsed_avro(schema, registry), self._to_dict)

    @staticmethod
    def _schema_of_class(cls: Any) -> Schema | None:
        if is_record_class(cls):
            return Schema(avro_schema_of(cls))
        text = _OF_PLAIN_TYPE.get(cls)
        return None if text is None else Schema(text)


class AvroDeserializer(RegistryDeserializer):
    """Reads Avro in Confluent's wire format: dictionaries, or objects of a class.

    With a reader schema, or a class to read into, records of other versions are resolved to it as Avro's rules have it:
    fields that it lacks are left out, fields that the record lacks get their defaults. `from_dict` makes something else
    of the dictionaries.

    >>> from penstock.client import AvroDeserializer, AvroSerializer, SchemaRegistryClient
    >>> with SchemaRegistryClient("http://localhost:8081") as registry:
    ...     data = AvroSerializer('"string"', registry).serialize("names", "Ada")
    ...     data[5:], AvroDeserializer(registry=registry).deserialize("names", data)
    (b'\\x06Ada', 'Ada')
    """

    takes = "Avro with the id of its schema"

    def __init__(
        self,
        reader_schema: str | Mapping[str, Any] | list[Any] | Schema | type[Any] | None = None,
        registry: RegistrySpec = None,
        *,
        from_dict: Callable[[Any], Any] | None = None,
        **settings: object,
    ) -> None:
        self._reader_schema = given_schema(reader_schema)
        self._from_dict = from_dict
        if from_dict is None and is_record_class(reader_schema):
            self._from_dict = from_record(reader_schema)
        super().__init__(registry, **settings)

    def _reader(self, schema: Schema, schema_id: SchemaId) -> Reader:
        require_type(schema, "AVRO", schema_id)
        writer = parsed_avro(schema, self.registry)
        reads = None if self._reader_schema is None else parsed_avro(self._reader_schema, self.registry)
        make = self._from_dict

        def read(data: bytes, start: int) -> Any:
            if is_bytes(writer):
                return data[start:]
            record = _record(io.BytesIO(data), start, writer, reads)
            return record if make is None else make(record)

        return read


def _record(source: io.BytesIO, start: int, writer: AvroJson, reads: AvroJson | None) -> Any:
    source.seek(start)
    try:
        return fastavro.schemaless_reader(source, writer, reads)
    except (EOFError, IndexError, struct.error):
        raise ValueError(f"the data ends before {name_of(writer) or 'it'} is complete") from None
