"""Avro in Avro's JSON encoding: `{"string": "Ada"}` where a union has a string, bytes as characters up to U+00FF.

The JSON is written as Avro's bytes directly, and read from them, by functions that are made once for a schema. Logical
types stay what they are made of: a date is a number of days.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.client.registry.avro import is_bytes
from penstock.client.registry.avro_schemas import name_of, parsed_avro
from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.schemas import Schema
from penstock.client.registry.wire_format import SchemaId
from penstock.rest.schemas.avro_reading import Read, reader_of
from penstock.rest.schemas.avro_writing import Write, latin_bytes, writer_of
from penstock.rest.schemas.codec import Misfit


@dataclass(frozen=True, slots=True)
class AvroCodec:
    record_name: str | None
    write: Write
    read: Read
    is_bytes: bool
    message_indexes: None = None

    def encode(self, data: Any) -> bytes:
        if self.is_bytes:  # these have no length before them, as a record has one itself
            return latin_bytes(data)
        out = bytearray()
        try:
            self.write(data, out)
        except RecursionError:
            raise Misfit("is nested too deeply") from None
        return bytes(out)

    def decode(self, data: bytes, start: int) -> Any:
        if self.is_bytes:
            return data[start:].decode("latin-1")
        try:
            value, end = self.read(data, start)
        except IndexError:
            raise ValueError("it ends before its last field") from None
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        if end != len(data):
            raise ValueError(f"{len(data) - end} bytes are left behind its last field")
        return value


def make_codec(schema: Schema, schema_id: SchemaId, registry: SchemaRegistryClient) -> AvroCodec:
    parsed = parsed_avro(schema, registry)
    return AvroCodec(name_of(parsed), writer_of(parsed), reader_of(parsed), is_bytes(parsed))


def record_name(schema: Schema, registry: SchemaRegistryClient) -> str | None:
    return name_of(parsed_avro(schema, registry))
