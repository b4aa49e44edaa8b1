"""From a record's bytes to the schema that they were written with, and on to what they stand for.

Where the schema is read, header or prefix, the record says itself. One reader is made for each schema, and kept.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Protocol, Self

from penstock.client.registry.cache import Cache
from penstock.client.registry.schemas import Schema
from penstock.client.registry.serde import MAX_SCHEMAS_IN_USE, RegistrySpec, Serde
from penstock.client.registry.wire_format import SchemaId, decode_schema_id
from penstock.client.serializers.base import Deserializer, Field, Header


class Reader(Protocol):
    """What one schema's data becomes; it begins at `start`."""

    def __call__(self, data: bytes, start: int) -> Any: ...


class RegistryDeserializer(Serde, Deserializer):
    """Base of the deserializers; a format says how data of a schema is read."""

    uses_headers: ClassVar[bool] = True
    has_message_indexes: ClassVar[bool] = False
    schema_format: ClassVar[str | None] = None

    def __init__(self, registry: RegistrySpec = None, **settings: object) -> None:
        super().__init__(registry, settings)

    @abstractmethod
    def _reader(self, schema: Schema, schema_id: SchemaId) -> Reader:
        """ValueError if this deserializer has no use for that schema."""

    def _reset(self) -> None:
        self._readers: Cache[SchemaId, Reader] = Cache(MAX_SCHEMAS_IN_USE)

    def for_field(self, field: Field) -> Self:
        return Serde.for_field(self, field)

    def configured(self, settings: Mapping[str, object]) -> Self:
        return Serde.configured(self, settings)

    def deserialize(self, topic: str, data: bytes) -> Any:
        return self.deserialize_with_headers(topic, data, ())

    def deserialize_with_headers(self, topic: str, data: bytes, headers: Iterable[Header]) -> Any:
        schema_id, start = decode_schema_id(data, headers, self.field, self.has_message_indexes)
        reader = self._readers.get(schema_id)
        if reader is None:
            reader = self._readers.put(schema_id, self._reader(self._schema(schema_id), schema_id))
        return reader(data, start)

    def _schema(self, schema_id: SchemaId) -> Schema:
        if schema_id.guid is not None:
            return self.registry.schema_by_guid(schema_id.guid, self.schema_format)
        assert schema_id.id is not None
        return self.registry.schema_by_id(schema_id.id, None, self.schema_format)


def require_type(schema: Schema, wanted: str, schema_id: SchemaId) -> None:
    if schema.schema_type != wanted:
        which = schema_id.guid or schema_id.id
        raise ValueError(f"schema {which} is of type {schema.schema_type}, not {wanted}")
