"""What each of the three formats offers: a schema that JSON is written with, and read with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, Protocol

from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.schemas import Schema, SchemaType
from penstock.client.registry.wire_format import SchemaId

AT_ONCE_SECONDS = 0.02
AT_LENGTH_SECONDS = 5.0
may_take_seconds: ContextVar[float] = ContextVar("may_take_seconds", default=AT_ONCE_SECONDS)
"""How long a value may be checked: in the event loop, while nobody else is served, or in a thread."""


class TakesLong(Exception):
    """A value could not be checked in `may_take_seconds`."""


class Misfit(Exception):
    """A value that its schema does not have; grows its path on the way out of what holds the value."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.path = ""

    def under(self, step: str) -> Misfit:
        self.path = step + self.path
        return self

    def text(self, field: str) -> str:
        return f"{field}{self.path}: {self.message}"


class PayloadCodec(Protocol):
    @property
    def record_name(self) -> str | None:
        """By which a subject may be called."""
        ...

    @property
    def message_indexes(self) -> tuple[int, ...] | None: ...

    def encode(self, data: Any) -> bytes:
        """Raises `Misfit`; `TakesLong`."""
        ...

    def decode(self, data: bytes, start: int) -> Any:
        """JSON; ValueError if the bytes are not what the schema says."""
        ...


MakeCodec = Callable[[Schema, SchemaId, SchemaRegistryClient], PayloadCodec]


class PayloadFormat(NamedTuple):
    """`module` is imported when it is needed first: not every proxy is asked for every format."""

    name: str
    schema_type: SchemaType
    module: str
    schema_format: str | None = None
    has_message_indexes: bool = False

    def codec(self, schema: Schema, schema_id: SchemaId, registry: SchemaRegistryClient) -> PayloadCodec:
        """ValueError if the schema is of no use."""
        if schema.schema_type != self.schema_type:
            which, kind = schema_id.guid or schema_id.id, schema.schema_type
            raise ValueError(f"schema {which} is of type {kind}, takes one of type {self.schema_type}")
        make: MakeCodec = self._module.make_codec
        return make(schema, schema_id, registry)

    def record_name(self, schema: Schema, registry: SchemaRegistryClient) -> str | None:
        """What a schema calls its records, before the registry has it; ValueError if it is none."""
        name_in: Callable[[Schema, SchemaRegistryClient], str | None] = self._module.record_name
        return name_in(schema, registry)

    @property
    def _module(self) -> ModuleType:
        return import_module(f"penstock.rest.schemas.{self.module}")


FORMATS: Mapping[str, PayloadFormat] = {
    each.name.lower(): each
    for each in (
        PayloadFormat("AVRO", "AVRO", "avro"),
        PayloadFormat("JSONSCHEMA", "JSON", "json_schema"),
        PayloadFormat("PROTOBUF", "PROTOBUF", "protobuf", "serialized", True),
    )
}
FORMAT_OF_SCHEMA_TYPE: Mapping[str, PayloadFormat] = {each.schema_type: each for each in FORMATS.values()}
