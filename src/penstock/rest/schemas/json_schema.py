"""JSON with a JSON Schema: it is checked when it is written, and taken as it is when it is read."""

from __future__ import annotations

from dataclasses import dataclass
from json import loads
from typing import Any

from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.json_schema import CheckTakesLong, Validator, check, validator_of
from penstock.client.registry.schemas import Schema
from penstock.client.registry.wire_format import SchemaId
from penstock.rest.payloads import encode_json
from penstock.rest.schemas.codec import Misfit, TakesLong, may_take_seconds
from penstock.web.errors import HttpError


@dataclass(frozen=True, slots=True)
class JsonSchemaCodec:
    validator: Validator
    message_indexes: None = None

    @property
    def record_name(self) -> str | None:
        contents = self.validator.schema
        title = contents.get("title") if isinstance(contents, dict) else None
        return title if isinstance(title, str) else None

    def encode(self, data: Any) -> bytes:
        try:
            check(self.validator, data, may_take_seconds.get())
            return encode_json("", data)
        except CheckTakesLong:
            raise TakesLong from None
        except HttpError as error:
            raise Misfit(error.message.removeprefix(": ")) from None
        except ValueError as error:
            path, _, message = str(error).partition(": ")
            raise Misfit(message).under(path.removeprefix("$")) from None

    def decode(self, data: bytes, start: int) -> Any:
        return loads(data[start:])


def make_codec(schema: Schema, schema_id: SchemaId, registry: SchemaRegistryClient) -> JsonSchemaCodec:
    return JsonSchemaCodec(validator_of(schema, registry))


def record_name(schema: Schema, registry: SchemaRegistryClient) -> str | None:
    return JsonSchemaCodec(validator_of(schema, registry)).record_name
