"""The proxy's way to the registry. What was found once is used again without waiting for anybody.

The event loop never waits for the registry: threads do, and only for a schema that was not met before. Requests for the
same one wait for the same thread. A latest version counts as the latest for a moment only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from penstock.client.registry.cache import Cache
from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.errors import SchemaRegistryError
from penstock.client.registry.settings import CLIENT_TABLE
from penstock.client.registry.wire_format import SchemaId, decode_schema_id
from penstock.client.serializers.base import Field
from penstock.rest.errors import DESERIALIZATION, RETRIABLE, RETRY_AFTER_SECONDS, SERIALIZATION
from penstock.rest.schemas.choice import SchemaChoice
from penstock.rest.schemas.codec import (
    AT_LENGTH_SECONDS,
    FORMATS,
    PayloadCodec,
    PayloadFormat,
    TakesLong,
    may_take_seconds,
)
from penstock.rest.schemas.writer import PayloadWriter, find_writer, refused
from penstock.rest.settings import RestSettings
from penstock.web.errors import HttpError, unavailable

PREFIX = "schema.registry."
MAX_SCHEMAS_IN_USE = 10_000
LATEST_SECONDS = 5
Headers = Iterable[tuple[str, bytes | None]]
Found = TypeVar("Found")


class Undecodable(HttpError):
    """Bytes that are not what they were said to be."""

    def __init__(self, message: str) -> None:
        super().__init__(408, DESERIALIZATION, f"Error deserializing message. {message}")


class Decoded(NamedTuple):
    schema_id: SchemaId
    data: Any


class SchemaPayloads:
    def __init__(self, settings: RestSettings) -> None:
        self._timeout_seconds = settings.client_timeout_ms / 1000
        configs = registry_configs(settings.configs, settings.client_timeout_ms)
        self._registry = SchemaRegistryClient(configs) if settings.schema_registry_url else None
        ttl = float(configs["latest.cache.ttl.sec"])
        self._writers: Cache[SchemaChoice, PayloadWriter] = Cache(MAX_SCHEMAS_IN_USE)
        self._latest: Cache[SchemaChoice, PayloadWriter] = Cache(MAX_SCHEMAS_IN_USE, ttl)
        self._readers: Cache[tuple[str, SchemaId], PayloadCodec] = Cache(MAX_SCHEMAS_IN_USE)
        self._under_way: dict[Hashable, asyncio.Future[Any]] = {}
        self._at_length = asyncio.Semaphore(1)

    # --- writing

    def known_writer(self, choice: SchemaChoice) -> PayloadWriter | None:
        """Without waiting."""
        return (self._latest if choice.is_latest else self._writers).get(choice)

    async def writer(self, choice: SchemaChoice) -> PayloadWriter:
        """An `HttpError` says why there is none."""
        found = self.known_writer(choice)
        if found is not None:
            return found
        registry = self.require_registry("serializing")
        found = await self._once(choice, lambda: find_writer(registry, choice))
        return (self._latest if choice.is_latest else self._writers).put(choice, found)

    async def at_length(self, read: Callable[[], Found]) -> Found:
        """What raised `TakesLong`, in a thread, one at a time; an `HttpError` if it takes even longer."""
        async with self._at_length:
            return await asyncio.to_thread(_at_length, read)

    # --- reading

    async def decode(
        self, payload_format: str, data: bytes | None, headers: Headers = (), field: Field = "value"
    ) -> Any:
        """What bytes of a format (`avro`, `jsonschema`, `protobuf`) stand for, in JSON; raises `Undecodable`."""
        return None if data is None else (await self.decoded(payload_format, data, headers, field)).data

    async def decoded(
        self, payload_format: str, data: bytes, headers: Headers = (), field: Field = "value"
    ) -> Decoded:
        """The same with the schema's id."""
        chosen = FORMATS[payload_format]
        try:
            schema_id, start = decode_schema_id(data, headers, field, chosen.has_message_indexes)
            codec = self._readers.get((payload_format, schema_id))
            if codec is None:
                codec = await self._codec(chosen, schema_id)
                self._readers.put((payload_format, schema_id), codec)
            return Decoded(schema_id, codec.decode(data, start))
        except ValueError as error:
            raise Undecodable(f"{field}: {error}") from None

    async def _codec(self, payload_format: PayloadFormat, schema_id: SchemaId) -> PayloadCodec:
        registry = self.require_registry("deserializing")
        try:
            return await self._once(
                (payload_format.name, schema_id), lambda: _find_codec(registry, payload_format, schema_id)
            )
        except SchemaRegistryError as error:
            which = schema_id.guid or schema_id.id
            if error.http_status == 403:
                raise refused(f"schema {which}", "the registry said", error) from None
            raise Undecodable(f"schema {which}: the registry said: {error.reason}") from None

    # --- both

    def require_registry(self, doing: str) -> SchemaRegistryClient:
        if self._registry is not None:
            return self._registry
        raise HttpError(
            422,
            SERIALIZATION,
            f"Error {doing} message. Schema Registry not defined: the proxy's schema.registry.url is not set",
        )

    async def _once(self, key: Hashable, find: Callable[[], Found]) -> Found:
        """What `find` finds, in a thread; that of those who are asking for it already."""
        future = self._under_way.get(key)
        if future is None:
            future = self._under_way[key] = asyncio.ensure_future(asyncio.to_thread(find))
            future.add_done_callback(lambda done: self._forget(key, done))
        try:
            async with asyncio.timeout(self._timeout_seconds):
                found: Found = await asyncio.shield(future)
                return found
        except TimeoutError:
            urls = ", ".join(self._registry.urls if self._registry else ())
            message = f"The Schema Registry ({urls}) did not answer in time"
            raise unavailable(
                message, retry_after_seconds=RETRY_AFTER_SECONDS, error_code=RETRIABLE
            ) from None

    def _forget(self, key: Hashable, done: asyncio.Future[Any]) -> None:
        self._under_way.pop(key, None)
        _ = done.cancelled() or done.exception()

    def close(self) -> None:
        if self._registry is not None:
            self._registry.close()


def _at_length(read: Callable[[], Found]) -> Found:
    may_take_seconds.set(AT_LENGTH_SECONDS)  # in the thread's own context
    try:
        return read()
    except TakesLong:
        message = f"A record could not be checked against its schema within {AT_LENGTH_SECONDS:g} seconds"
        raise HttpError(400, 400, message) from None


def _find_codec(
    registry: SchemaRegistryClient, payload_format: PayloadFormat, schema_id: SchemaId
) -> PayloadCodec:
    wanted = payload_format.schema_format
    if schema_id.guid is not None:
        schema = registry.schema_by_guid(schema_id.guid, wanted)
    else:
        assert schema_id.id is not None
        schema = registry.schema_by_id(schema_id.id, None, wanted)
    return payload_format.codec(schema, schema_id, registry)


def registry_configs(configs: Mapping[str, str], timeout_ms: int) -> dict[str, str]:
    """For the registry's client: of `schema.registry.*`, in Confluent's names with the prefix or without."""
    found = {
        "http.connect.timeout.ms": str(timeout_ms),
        "http.read.timeout.ms": str(timeout_ms),
        "max.retries": "1",
        "retries.wait.ms": "200",
        "latest.cache.ttl.sec": str(LATEST_SECONDS),
    }
    for name, text in configs.items():
        if name in CLIENT_TABLE and name.startswith(PREFIX):
            found[name] = text
        elif name.startswith(PREFIX) and name.removeprefix(PREFIX) in CLIENT_TABLE:
            found[name.removeprefix(PREFIX)] = text
    return found
