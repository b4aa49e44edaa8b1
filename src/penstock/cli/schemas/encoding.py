"""From JSON to a record's bytes, with one schema for all keys or all values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.errors import SchemaRegistryError
from penstock.client.registry.schemas import Schema, SchemaReference
from penstock.client.registry.subjects import resolve_strategy
from penstock.client.registry.wire_format import SchemaId, encode_id
from penstock.client.serializers.base import Field
from penstock.rest.schemas.codec import Misfit, PayloadCodec, PayloadFormat
from penstock.wire_client.errors import KafkaError, SerializationError

CONFIG_EXCEPTION = "org.apache.kafka.common.config.ConfigException"


class SchemaOptionError(KafkaError):
    JAVA_NAME = CONFIG_EXCEPTION


class SchemaEncoder:
    """Settings are Confluent's, of which `value.schema`, `value.schema.file` or `value.schema.id` says the schema."""

    def __init__(
        self,
        registry: SchemaRegistryClient,
        payload_format: PayloadFormat,
        topic: str,
        field: Field,
        properties: Mapping[str, str],
    ) -> None:
        self._registry = registry
        self._format = payload_format
        self._topic = topic
        self._field = field
        self._properties = properties
        try:
            schema_id, self._codec = self._find()
        except (SchemaRegistryError, ValueError) as error:
            raise SchemaOptionError(f"{field}.schema: {error}") from None
        self._prefix = encode_id(schema_id, self._codec.message_indexes)

    def encode(self, text: bytes) -> bytes:
        """SerializationError says where the text does not fit."""
        try:
            data = json.loads(text)
        except ValueError as error:
            raise SerializationError(f"{self._field}: not JSON: {error}") from None
        try:
            return self._prefix + self._codec.encode(data)
        except Misfit as misfit:
            raise SerializationError(misfit.text(self._field)) from None

    def _find(self) -> tuple[int, PayloadCodec]:
        if (number := self._properties.get(f"{self._field}.schema.id")) is not None:
            if not number.isdecimal():
                raise ValueError(f"{self._field}.schema.id: got {number!r}; takes a number")
            return int(number), self._codec_of(int(number), self._registry.schema_by_id(int(number)))
        schema = Schema(self._text(), self._format.schema_type, self._references())
        subject = self._subject(schema)
        normalize = _is_true(self._properties.get("normalize.schemas"))
        if _is_true(self._properties.get("auto.register.schemas", "true")):
            found = self._registry.register(subject, schema, normalize)
        else:
            found = self._registry.lookup(subject, schema, normalize)
        return found.id, self._codec_of(found.id, schema)

    def _codec_of(self, schema_id: int, schema: Schema) -> PayloadCodec:
        if self._format.schema_format is not None:
            schema = self._registry.schema_by_id(schema_id, None, self._format.schema_format)
        return self._format.codec(schema, SchemaId(schema_id, None), self._registry)

    def _text(self) -> str:
        if (text := self._properties.get(f"{self._field}.schema")) is not None:
            return text
        if (file := self._properties.get(f"{self._field}.schema.file")) is not None:
            return Path(file).read_text()
        names = " or ".join(f"{self._field}.schema{end}" for end in ("", ".file", ".id"))
        raise SchemaOptionError(
            f"Must provide the {self._format.schema_type} schema of {self._field}s in {names}"
        )

    def _references(self) -> tuple[SchemaReference, ...]:
        """`value.refs`: a list of objects with name, subject and version."""
        text = self._properties.get(f"{self._field}.refs")
        if text is None:
            return ()
        try:
            return tuple(
                SchemaReference(each["name"], each["subject"], int(each["version"]))
                for each in json.loads(text)
            )
        except (ValueError, KeyError, TypeError):
            takes = 'takes a list of {"name": ..., "subject": ..., "version": ...}'
            raise ValueError(f"{self._field}.refs: got {text!r}; {takes}") from None

    def _subject(self, schema: Schema) -> str:
        name = f"{self._field}.subject.name.strategy"
        strategy = resolve_strategy(self._properties.get(name, "TopicNameStrategy"), name)
        return strategy(self._topic, self._field, self._format.record_name(schema, self._registry))


def _is_true(text: str | None) -> bool:
    return text is not None and text.strip().lower() == "true"
