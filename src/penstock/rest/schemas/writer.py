"""Finding a schema in the registry, or putting it there. All of this waits for the registry: it runs in threads."""

from __future__ import annotations

from typing import Any

from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.errors import SchemaRegistryError
from penstock.client.registry.schemas import RegisteredSchema, Schema
from penstock.client.registry.wire_format import SchemaId, encode_id
from penstock.rest.errors import AUTHORIZATION, INVALID_SCHEMA, SERIALIZATION
from penstock.rest.schemas.choice import SchemaChoice
from penstock.rest.schemas.codec import FORMAT_OF_SCHEMA_TYPE, Misfit, PayloadCodec, PayloadFormat
from penstock.web.errors import HttpError

INVALID_IN_REGISTRY = (42201, 422)


class PayloadWriter:
    """Writes keys or values with one schema, its id before them."""

    __slots__ = ("_codec", "_prefix", "schema_id", "schema_version", "subject", "type")

    def __init__(
        self, payload_format: PayloadFormat, codec: PayloadCodec, schema_id: int, version: int, subject: str
    ) -> None:
        self.type = payload_format.name
        self.subject = subject
        self.schema_id = schema_id
        self.schema_version = version
        self._codec = codec
        self._prefix = encode_id(schema_id, codec.message_indexes)

    def encode(self, field: str, data: Any) -> bytes:
        """Of what is not null; an `HttpError` names the place in the data that does not fit."""
        try:
            return self._prefix + self._codec.encode(data)
        except Misfit as misfit:
            raise HttpError(400, 400, misfit.text(field)) from None


def find_writer(registry: SchemaRegistryClient, choice: SchemaChoice) -> PayloadWriter:
    try:
        if choice.schema is not None:
            return _of_text(registry, choice, choice.schema)
        if choice.schema_id is not None:
            return _of_id(registry, choice, choice.schema_id)
        return _of_version(registry, choice, choice.schema_version)
    except SchemaRegistryError as error:
        raise refused(choice.name, "the registry said", error) from None
    except ValueError as error:
        raise HttpError(422, INVALID_SCHEMA, f"Invalid schema: {choice.name}: {error}") from None


def refused(name: str, doing: str, error: SchemaRegistryError) -> HttpError:
    if error.error_code == AUTHORIZATION or error.http_status == 403:
        return HttpError(403, AUTHORIZATION, f"{name}: {doing}: {error.reason}")
    if error.error_code in INVALID_IN_REGISTRY:
        return HttpError(422, INVALID_SCHEMA, f"Invalid schema: {name}: {error.reason}")
    return HttpError(422, SERIALIZATION, f"Error serializing message. {name}: {doing}: {error.reason}")


def _of_text(registry: SchemaRegistryClient, choice: SchemaChoice, text: str) -> PayloadWriter:
    assert choice.payload_format is not None
    schema = Schema(text, choice.payload_format.schema_type)
    if choice.subject is None and choice.subject_name_strategy not in (None, "TOPIC_NAME"):
        subject = choice.subject_for(choice.payload_format.record_name(schema, registry))
    else:
        subject = choice.subject_for(None)
    found = _registered(registry, subject, schema)
    return _writer(registry, choice.payload_format, found, subject)


def _registered(registry: SchemaRegistryClient, subject: str, schema: Schema) -> RegisteredSchema:
    """Looked up first: who may only read may use what is there."""
    try:
        return registry.lookup(subject, schema)
    except SchemaRegistryError as error:
        if error.http_status != 404:
            raise
    registry.register(subject, schema)
    return registry.lookup(subject, schema)


def _of_id(registry: SchemaRegistryClient, choice: SchemaChoice, schema_id: int) -> PayloadWriter:
    context = choice.subject if choice.subject is not None and choice.subject.startswith(":.") else None
    schema = registry.schema_by_id(schema_id, context)
    payload_format = FORMAT_OF_SCHEMA_TYPE[schema.schema_type]
    if choice.payload_format is not None and payload_format is not choice.payload_format:
        wanted = choice.payload_format.schema_type
        raise ValueError(
            f"got {schema_id}, which is of type {schema.schema_type}, takes one of type {wanted}"
        )
    codec = _codec(registry, payload_format, schema, schema_id, context)
    subject = choice.subject_for(codec.record_name)
    version = registry.lookup(subject, schema).version
    assert version is not None
    return PayloadWriter(payload_format, codec, schema_id, version, subject)


def _of_version(registry: SchemaRegistryClient, choice: SchemaChoice, version: int | None) -> PayloadWriter:
    """Of a version, or else of the latest."""
    try:
        subject = choice.subject_for(None)
    except ValueError:
        takes = f"schema_id or schema together with {choice.subject_name_strategy}"
        raise HttpError(400, 400, f"{choice.name}.subject_name_strategy: takes {takes}") from None
    if version is None:
        found = registry.latest_version(subject)
    else:
        try:
            found = registry.version(subject, version)
        except SchemaRegistryError as error:
            if error.http_status != 404:
                raise
            message = f"{choice.name}.schema_version: Schema does not exist for subject: {subject}, version: {version}"
            raise HttpError(400, 400, message) from None
    return _writer(registry, FORMAT_OF_SCHEMA_TYPE[found.schema.schema_type], found, subject)


def _writer(
    registry: SchemaRegistryClient, payload_format: PayloadFormat, found: RegisteredSchema, subject: str
) -> PayloadWriter:
    assert found.version is not None
    context = subject if subject.startswith(":.") else None
    codec = _codec(registry, payload_format, found.schema, found.id, context)
    return PayloadWriter(payload_format, codec, found.id, found.version, subject)


def _codec(
    registry: SchemaRegistryClient,
    payload_format: PayloadFormat,
    schema: Schema,
    schema_id: int,
    subject: str | None,
) -> PayloadCodec:
    if payload_format.schema_format is not None:
        schema = registry.schema_by_id(schema_id, subject, payload_format.schema_format)
    return payload_format.codec(schema, SchemaId(schema_id, None), registry)
