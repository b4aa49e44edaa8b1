"""Records that name a schema, as the JSON that they stand for; all others as they are.

A byte 0 and four more may stand at the beginning of anything. So what no registry has a schema for, or what does not
fit its schema, is left alone, and a registry that does not answer is not asked again for a while.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.cli.records.record_json import TopicRecord
from penstock.client.registry.wire_format import GUID_MAGIC, HEADER_OF_FIELD, ID_MAGIC
from penstock.client.serializers.base import Field

if TYPE_CHECKING:
    from penstock.cli.schemas.decoding import SchemaDecoder

SHORTEST = {ID_MAGIC: 5, GUID_MAGIC: 17}
ASK_AGAIN_SECONDS = 10.0


class RecordDecoding:
    def __init__(self, configs: Mapping[str, str]) -> None:
        self._configs = configs
        self._decoder: SchemaDecoder | None = None
        self._unknown: set[bytes] = set()
        """What looked like a schema's id, and is none."""
        self._asks_from = 0.0

    def decoded(self, record: TopicRecord) -> TopicRecord:
        key, value = self._decoded(record, record.key, "key"), self._decoded(record, record.value, "value")
        is_same = key is record.key and value is record.value
        return record if is_same else record._replace(key=key, value=value)

    def _decoded(self, record: TopicRecord, data: bytes | None, field: Field) -> bytes | None:
        named = _schema_named(record, data, field)
        if data is None or named is None or named in self._unknown or time.monotonic() < self._asks_from:
            return data
        from penstock.client.registry.errors import SchemaRegistryError, SchemaRegistryUnreachableError

        try:
            return self._ask().decode(data, record.headers, field).text
        except SchemaRegistryUnreachableError:
            self._asks_from = time.monotonic() + ASK_AGAIN_SECONDS
        except SchemaRegistryError:
            self._unknown.add(named)
        except ValueError:
            pass
        return data

    def _ask(self) -> SchemaDecoder:
        if self._decoder is None:
            from penstock.cli.schemas.decoding import SchemaDecoder
            from penstock.cli.schemas.registry_client import registry_client

            self._decoder = SchemaDecoder(registry_client({**self._configs, "max.retries": "0"}))
        return self._decoder


def _schema_named(record: TopicRecord, data: bytes | None, field: Field) -> bytes | None:
    """The bytes that may name a schema."""
    own = HEADER_OF_FIELD[field]
    for name, value in record.headers:
        if name == own:
            return value
    size = SHORTEST.get(data[0]) if data else None
    return data[:size] if data is not None and size is not None and len(data) >= size else None
