"""Records with schemas as lines of JSON: Confluent's formatters, which are Kafka's with a registry behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.cli.schemas.decoding import SchemaDecoder
from penstock.cli.schemas.registry_client import registry_client
from penstock.cli.tools.console.default_formatter import DefaultFormatter
from penstock.client.registry.errors import SchemaRegistryError
from penstock.client.serializers.base import Field
from penstock.rest.schemas.codec import PayloadFormat
from penstock.wire_client.errors import SerializationError

if TYPE_CHECKING:
    from penstock.cli.tools.clients.record import Record


class SchemaFormatter(DefaultFormatter):
    """A key or value with a deserializer of its own is shown by that."""

    def __init__(
        self, payload_format: PayloadFormat, configs: Mapping[str, str], *, has_delivery_counts: bool = False
    ) -> None:
        super().__init__(configs, has_delivery_counts=has_delivery_counts)
        self.is_value_alone = False
        self._decoder = SchemaDecoder(registry_client(configs), payload_format)
        self._prints_ids = configs.get("print.schema.ids", "").strip().lower() == "true"
        self._id_separator = configs.get("schema.id.separator", "\t").encode()

    def _key(self, record: Record) -> bytes:
        own = self._deserialize_key is not None
        return super()._key(record) if own else self._decoded(record, record.key(), "key")

    def _value(self, record: Record) -> bytes:
        own = self._deserialize_value is not None
        return super()._value(record) if own else self._decoded(record, record.value(), "value")

    def _decoded(self, record: Record, data: bytes | None, field: Field) -> bytes:
        if data is None:
            return self._null
        try:
            schema_id, text = self._decoder.decode(data, record.headers(), field)
        except (ValueError, SchemaRegistryError) as error:
            place = f"{record.topic()}-{record.partition()} at offset {record.offset()}"
            raise SerializationError(f"{place}: {field}: {error}") from None
        if not self._prints_ids:
            return text
        return text + self._id_separator + str(schema_id.guid or schema_id.id).encode()
