"""Converters whose schemas are in a Schema Registry, with Confluent's wire format and settings.

The registry's serializers do the work on that side: subjects, registering, ids, memory. A format adds how Connect's
schemas and values become its own, and back; both ways are made once for each schema.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from penstock.client.registry.cache import Cache
from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.errors import SchemaRegistryError, SchemaRegistryUnreachableError
from penstock.client.registry.reading import Reader, RegistryDeserializer, require_type
from penstock.client.registry.schemas import Schema as RegistrySchema
from penstock.client.registry.serde import MAX_SCHEMAS_IN_USE
from penstock.client.registry.settings import SERDE_TABLE, client_part
from penstock.client.registry.wire_format import SchemaId
from penstock.client.registry.writing import RegistrySerializer, WritingCodec
from penstock.client.serializers.base import Field
from penstock.pipeline.connect.api.config_def import REQUIRED, ConfigDef, ConfigType, Importance
from penstock.pipeline.connect.api.converter import NOTHING, Converter, KafkaHeaders, SchemaAndValue
from penstock.pipeline.connect.data import Schema
from penstock.pipeline.connect.data.values import infer_schema
from penstock.pipeline.connect.errors import DataError, RetriableConnectError

_URL: Final = "schema.registry.url"
_LIST_SEPARATED: Final = {_URL: ConfigType.LIST}
_FAILURES: Final = (ValueError, TypeError, DataError, SchemaRegistryError, SchemaRegistryUnreachableError)
_HIGH: Final = {_URL, "auto.register.schemas", "use.latest.version"}


def registry_config_def() -> ConfigDef:
    """All that the registry's serializers take."""
    config_def = ConfigDef()
    for setting in SERDE_TABLE.values():
        kind = ConfigType.STRING if setting.kind is None else ConfigType[setting.kind.name]
        config_def.define(
            setting.name,
            _LIST_SEPARATED.get(setting.name, kind),
            REQUIRED if setting.name == _URL else setting.default,
            importance=Importance.HIGH if setting.name in _HIGH else Importance.MEDIUM,
            doc=setting.doc,
        )
    return config_def


class _Serializer(RegistrySerializer):
    takes = "a pair of a Connect schema and a value of it"

    def __init__(
        self, converter: RegistryConverter, registry: SchemaRegistryClient, settings: Mapping[str, object]
    ) -> None:
        self._converter = converter
        self.schema_format = converter.schema_format  # type: ignore[misc]
        super().__init__(registry, **settings)

    def _reset(self) -> None:
        super()._reset()
        self._codecs: Cache[Schema, WritingCodec] = Cache(MAX_SCHEMAS_IN_USE)

    def _own_codec(self, value: Any) -> WritingCodec | None:
        return self._codecs.get_or(value[0], lambda: self._converter.codec_of_connect(value[0]))

    def _codec_of(self, schema: RegistrySchema, own: WritingCodec | None) -> WritingCodec:
        require_type(schema, self._converter.schema_type, SchemaId(None, None))
        assert own is not None
        return self._converter.codec_of_registry(schema, own, self.registry)


class _Deserializer(RegistryDeserializer):
    takes = "data with the id of its schema"

    def __init__(
        self, converter: RegistryConverter, registry: SchemaRegistryClient, settings: Mapping[str, object]
    ) -> None:
        self._converter = converter
        self.has_message_indexes = converter.has_message_indexes  # type: ignore[misc]
        self.schema_format = converter.schema_format  # type: ignore[misc]
        super().__init__(registry, **settings)

    def _reader(self, schema: RegistrySchema, schema_id: SchemaId) -> Reader:
        require_type(schema, self._converter.schema_type, schema_id)
        return self._converter.reader_of(schema, schema_id, self.registry)


class RegistryConverter(Converter):
    """Base of the three; a format says how its schemas and values are made and read."""

    schema_type: ClassVar[str]
    format_name: ClassVar[str]
    overview: ClassVar[str] = ""
    has_message_indexes: ClassVar[bool] = False
    schema_format: ClassVar[str | None] = None

    # --- what a format says

    @abstractmethod
    def codec_of_connect(self, schema: Schema) -> WritingCodec:
        """Takes pairs of the schema and a value."""

    @abstractmethod
    def codec_of_registry(
        self, schema: RegistrySchema, own: Any, registry: SchemaRegistryClient
    ) -> WritingCodec:
        """Writes the same pairs with a schema of the registry."""

    @abstractmethod
    def reader_of(
        self, schema: RegistrySchema, schema_id: SchemaId, registry: SchemaRegistryClient
    ) -> Reader:
        """Gives a SchemaAndValue."""

    def on_configured(self) -> None:
        """`settings` are there."""

    # --- what Connect asks for

    def configure(self, configs: Mapping[str, Any], is_key: bool) -> None:
        self.settings = self.config_def.parse(configs)
        self.on_configured()
        given = {name: value for name, value in configs.items() if name in SERDE_TABLE}
        field: Field = "key" if is_key else "value"
        self._registry = SchemaRegistryClient(client_part(given))
        self._serializer = _Serializer(self, self._registry, given).for_field(field)
        self._deserializer = _Deserializer(self, self._registry, given).for_field(field)

    def from_connect(
        self, topic: str, schema: Schema | None, value: Any, headers: KafkaHeaders | None = None
    ) -> bytes | None:
        if value is None:
            return None
        try:
            added: list[Any] = []
            pair = (schema or self._inferred(value), value)
            data = self._serializer.serialize_with_headers(topic, pair, added)
        except _FAILURES as error:
            raise _problem(
                f"Failed to serialize {self.format_name} data from topic {topic}", error
            ) from error
        if added:
            if headers is None:
                raise DataError("the id of the schema goes into a header, and there are none to write to")
            headers.extend(added)
        return data

    def _inferred(self, value: Any) -> Schema:
        schema = infer_schema(value)
        if schema is None:
            raise DataError(
                f"a value without a schema cannot be written as {self.format_name}: "
                "what it has inside does not say enough"
            )
        return schema.as_optional()

    def to_connect(
        self, topic: str, data: bytes | None, headers: KafkaHeaders | None = None
    ) -> SchemaAndValue:
        if data is None:
            return NOTHING
        try:
            found: SchemaAndValue = self._deserializer.deserialize_with_headers(topic, data, headers or ())
        except _FAILURES as error:
            what = f"Failed to deserialize data for topic {topic} to {self.format_name}"
            raise _problem(what, error) from error
        return found

    def close(self) -> None:
        self._registry.close()


def _problem(what: str, error: Exception) -> Exception:
    """Without the registry the same may succeed later."""
    kind = RetriableConnectError if isinstance(error, SchemaRegistryUnreachableError) else DataError
    return kind(f"{what}: {error}")
