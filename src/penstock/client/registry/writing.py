"""Which schema a record is written with, and where its id goes.

    value -> own codec: the schema that the user gave, or that the value's class stands for
          -> subject: by topic, field and the schema's name
          -> registered schema: registered, looked up, or the one that a setting asks for
          -> codec that writes: the own one, or one of the registry's schema
          -> bytes, with the id before them or in a header

All but the last step is remembered per topic and codec. Only where the latest version is asked for, the registry's
client, which has a memory of its own, is asked each time.
"""

from abc import abstractmethod
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from penstock.client.registry.cache import Cache
from penstock.client.registry.schemas import RegisteredSchema, Schema
from penstock.client.registry.serde import MAX_SCHEMAS_IN_USE, RegistrySpec, Serde
from penstock.client.registry.subjects import resolve_strategy
from penstock.client.registry.wire_format import HEADER_OF_FIELD, encode_guid, encode_id
from penstock.client.serializers.base import Field, Header, Serializer
from penstock.errors import ConfigError


class WritingCodec(Protocol):
    """A schema that values are written with; ValueError or TypeError says where one does not fit."""

    @property
    def schema(self) -> Schema: ...

    @property
    def record_name(self) -> str | None: ...

    @property
    def message_indexes(self) -> tuple[int, ...] | None: ...

    def encode(self, value: Any, strict: bool) -> bytes:
        """`strict`: what the schema does not have is refused, not left out."""
        ...


class _Target(NamedTuple):
    codec: WritingCodec
    prefix: bytes
    header: bytes | None
    strict: bool


class RegistrySerializer(Serde, Serializer):
    """Base of the serializers; a format says which codec a value has, and which one a schema."""

    uses_headers: ClassVar[bool] = True

    def __init__(self, registry: RegistrySpec = None, **settings: object) -> None:
        super().__init__(registry, settings)

    # --- what a format says

    @abstractmethod
    def _own_codec(self, value: Any) -> WritingCodec | None:
        """The codec of the schema that goes with a value; None if nobody said which."""

    @abstractmethod
    def _codec_of(self, schema: Schema, own: WritingCodec | None) -> WritingCodec:
        """Of a schema in the registry."""

    def _schema_to_register(self, own: WritingCodec) -> Schema:
        return own.schema

    schema_format: ClassVar[str | None] = None
    """The form in which this format wants schemas of the registry."""

    # --- settings

    def _reset(self) -> None:
        self._targets: Cache[Hashable, _Target] = Cache(MAX_SCHEMAS_IN_USE)
        self._strategy = resolve_strategy(
            self._setting_of_field("subject.name.strategy"), f"{self.field}.subject.name.strategy"
        )
        place = str(self._setting_of_field("schema.id.serializer")).rpartition(".")[2]
        self._in_header = place.lower().startswith("header")
        self._schema_id: int = self._setting("use.schema.id")
        self._metadata = _properties(self._setting("use.latest.with.metadata"))
        self._uses_latest = bool(self._setting("use.latest.version")) or self._metadata is not None
        self._normalize = bool(self._setting("normalize.schemas"))
        chosen = self._schema_id >= 0 or self._uses_latest
        registers = self._setting("auto.register.schemas")
        if registers and chosen:
            raise ConfigError(
                "auto.register.schemas: does not go with use.schema.id, use.latest.version or "
                "use.latest.with.metadata; give one of them"
            )
        self._auto_register = not chosen if registers is None else bool(registers)

    def for_field(self, field: Field) -> Self:
        return Serde.for_field(self, field)

    def configured(self, settings: Mapping[str, object]) -> Self:
        return Serde.configured(self, settings)

    # --- the way of a value

    def serialize(self, topic: str, value: Any) -> bytes:
        added: list[Header] = []
        data = self.serialize_with_headers(topic, value, added)
        if added:
            raise ValueError(f"its schema id goes into header {added[0][0]}, which only a producer can write")
        return data

    def serialize_with_headers(self, topic: str, value: Any, added: list[Header]) -> bytes:
        own = self._own_codec(value)
        target = None if self._uses_latest else self._targets.get((topic, own))
        if target is None:
            target = self._target(topic, own)
        data = target.codec.encode(value, target.strict)
        if target.header is not None:
            added.append((HEADER_OF_FIELD[self.field], target.header))
        return target.prefix + data

    def _target(self, topic: str, own: WritingCodec | None) -> _Target:
        subject = self._strategy(topic, self.field, None if own is None else own.record_name)
        registered = self._registered(subject, own)
        key = (topic, own, registered.id) if self._uses_latest else (topic, own)
        return self._targets.get_or(key, lambda: self._new_target(registered, own))

    def _registered(self, subject: str, own: WritingCodec | None) -> RegisteredSchema:
        if self._schema_id >= 0:
            return self.registry.registered_by_id(self._schema_id, None, self.schema_format)
        if self._metadata is not None:
            return self.registry.latest_with_metadata(subject, self._metadata, self.schema_format)
        if self._uses_latest:
            return self.registry.latest_version(subject, self.schema_format)
        if own is None:
            raise ValueError("it has no schema: give the serializer one, or set use.latest.version")
        schema = self._schema_to_register(own)
        if self._auto_register:
            return self.registry.register(subject, schema, self._normalize)
        return self.registry.lookup(subject, schema, self._normalize)

    def _new_target(self, registered: RegisteredSchema, own: WritingCodec | None) -> _Target:
        strict = False
        codec = own
        if codec is None or self._schema_id >= 0 or self._uses_latest:
            codec = self._codec_of(registered.schema, own)
            strict = self._setting(f"{'id' if self._schema_id >= 0 else 'latest'}.compatibility.strict")
        if not self._in_header:
            return _Target(codec, encode_id(registered.id, codec.message_indexes), None, strict)
        return _Target(codec, b"", encode_guid(self._guid_of(registered), codec.message_indexes), strict)

    def _guid_of(self, registered: RegisteredSchema) -> str:
        guid = registered.guid or self.registry.registered_by_id(registered.id, registered.subject).guid
        if guid is None:
            raise ValueError(
                f"schema {registered.id} has no guid in this registry, which headers need; "
                f"set {self.field}.schema.id.serializer to prefix"
            )
        return guid


def _properties(given: object) -> dict[str, str] | None:
    """Of a mapping, or of text like "owner=billing,tier=1"."""
    if given is None or given == "":
        return None
    if isinstance(given, str):
        pairs = [pair.partition("=") for pair in given.split(",")]
        if all(equals for _, equals, _ in pairs):
            return {name.strip(): value.strip() for name, _, value in pairs}
    if isinstance(given, Mapping):
        return {str(name): str(value) for name, value in given.items()}
    raise ConfigError(f"use.latest.with.metadata: got {given!r}; takes a mapping, or name=value,name=value")
