"""What keys and values become in JSON, in the five formats that an instance may have."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from json import JSONDecoder
from typing import Any

from penstock.client.serializers.base import Field as Part
from penstock.rest.schemas.payloads import Headers, SchemaPayloads
from penstock.web.media_types import MediaTypes

Decode = Callable[[bytes], Any]
DecodeWithSchema = Callable[[bytes, Headers, Part], Awaitable[Any]]


def _binary(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode()


def _not_json(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


_loads = JSONDecoder(parse_constant=_not_json).decode


def _json(data: bytes) -> Any:
    return _loads(data.decode())


@dataclass(frozen=True, slots=True)
class RecordFormat:
    """`decode` is None if it takes a schema. Formats with schemas are read under each other's media types too."""

    name: str
    decode: Decode | None = None

    @property
    def media_type(self) -> str:
        return f"application/vnd.kafka.{self.name}.v2+json"

    def decode_with_schema(self, schemas: SchemaPayloads) -> DecodeWithSchema:
        async def decode(data: bytes, headers: Headers, part: Part) -> Any:
            return await schemas.decode(self.name, data, headers, part)

        return decode

    def media_type_for(self, agreed: str) -> str | None:
        """What to answer in when the client takes `agreed`; None if that is another format."""
        asked = _BY_MEDIA_TYPE.get(agreed)
        if asked is None or asked is self:
            return self.media_type
        return agreed if asked.decode is None and self.decode is None else None


FORMATS = {
    each.name: each
    for each in (
        RecordFormat("binary", _binary),
        RecordFormat("json", _json),
        RecordFormat("avro"),
        RecordFormat("jsonschema"),
        RecordFormat("protobuf"),
    )
}
_BY_MEDIA_TYPE = {each.media_type: each for each in FORMATS.values()}

V2_JSON = "application/vnd.kafka.v2+json"
_ALL = (V2_JSON, *_BY_MEDIA_TYPE, "application/json")
CONSUMERS = MediaTypes(produces=_ALL, consumes=_ALL)
