"""From a record's bytes to JSON, by the schema that they name."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from penstock.client.registry.cache import Cache
from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.schemas import Schema
from penstock.client.registry.wire_format import SchemaId, decode_schema_id
from penstock.client.serializers.base import Field
from penstock.rest.schemas.codec import FORMAT_OF_SCHEMA_TYPE, PayloadCodec, PayloadFormat

MAX_SCHEMAS_IN_USE = 10_000
Headers = Iterable[tuple[str, bytes | None]]


class Decoded(NamedTuple):
    schema_id: SchemaId
    text: bytes


class SchemaDecoder:
    """`only`: of one format; else each record says by its schema which one it is of."""

    def __init__(self, registry: SchemaRegistryClient, only: PayloadFormat | None = None) -> None:
        self._registry = registry
        self._only = only
        self._formats: Cache[SchemaId, PayloadFormat] = Cache(MAX_SCHEMAS_IN_USE)
        self._codecs: Cache[SchemaId, PayloadCodec] = Cache(MAX_SCHEMAS_IN_USE)

    def decode(self, data: bytes, headers: Headers | None, field: Field) -> Decoded:
        """ValueError if the bytes are not what their schema says, or name none; the registry's errors besides."""
        given = list(headers or ())
        schema_id, start = decode_schema_id(data, given, field, with_indexes=False)
        payload_format = self._only or self._formats.get_or(schema_id, lambda: self._format(schema_id))
        if payload_format.has_message_indexes:
            schema_id, start = decode_schema_id(data, given, field, with_indexes=True)
        codec = self._codecs.get_or(schema_id, lambda: self._codec(payload_format, schema_id))
        return Decoded(schema_id, as_json(codec.decode(data, start)))

    def _format(self, schema_id: SchemaId) -> PayloadFormat:
        return FORMAT_OF_SCHEMA_TYPE[self._schema(schema_id, None).schema_type]

    def _codec(self, payload_format: PayloadFormat, schema_id: SchemaId) -> PayloadCodec:
        schema = self._schema(schema_id, payload_format.schema_format)
        return payload_format.codec(schema, schema_id, self._registry)

    def _schema(self, schema_id: SchemaId, schema_format: str | None) -> Schema:
        if schema_id.guid is not None:
            return self._registry.schema_by_guid(schema_id.guid, schema_format)
        assert schema_id.id is not None
        return self._registry.schema_by_id(schema_id.id, None, schema_format)


def as_json(value: object) -> bytes:
    """As Java's writers have it: without blanks."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
