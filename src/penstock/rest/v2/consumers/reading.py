"""One request for records: waits for them, decodes them, and gives back what it cannot return.

It ends when there are enough bytes or too many, when the time is up, or when nobody is left to answer: the client hung
up, the instance was deleted, the proxy stops. Its time is up a moment later only if Kafka does not answer at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from penstock.client.serializers.base import Field as Part
from penstock.errors import ErrorCode
from penstock.rest.errors import RETRIABLE, RETRY_AFTER_SECONDS
from penstock.rest.schemas.payloads import Undecodable
from penstock.rest.v2.consumers.errors import instance_not_found, unreadable_record
from penstock.rest.v2.consumers.formats import Decode, DecodeWithSchema
from penstock.rest.v2.consumers.instance import ConsumerInstance
from penstock.rest.v2.consumers.progress import SetAside
from penstock.web.errors import HttpError, unavailable
from penstock.web.request import ClientGone
from penstock.wire_client.errors import BrokerUnreachableError, KafkaError, RetriableError

LONGEST_FETCH_MS = 500
FETCH_BYTES, LEAST_FETCH_BYTES = 1024 * 1024, 64 * 1024
"""What is too much for one answer is set aside for the next."""
OVERTIME_SECONDS = 0.5
"""How much longer than the request an answer of Kafka's may take that is on its way."""
PAUSE_SECONDS = 0.1
"""Between a failure and the next try."""
MISSING_TOPIC = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

JsonRecord = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Limits:
    timeout_ms: int
    min_bytes: int
    max_bytes: int


class Read:
    def __init__(
        self, instance: ConsumerInstance, limits: Limits, decode: Decode | None, with_schema: DecodeWithSchema
    ) -> None:
        self._instance = instance
        self._limits = limits
        self._decode = decode
        self._with_schema = with_schema
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + limits.timeout_ms / 1000
        self._trouble: KafkaError | None = None
        self._found: list[JsonRecord] = []
        self._size = 0

    @property
    def _left_ms(self) -> int:
        return max(0, int((self._deadline - self._loop.time()) * 1000))

    async def run(
        self, hung_up: Callable[[], Coroutine[Any, Any, None]], stopping: asyncio.Event
    ) -> list[JsonRecord]:
        """`hung_up` returns when the client is gone."""
        reading = asyncio.ensure_future(self._read_in_turn())
        ends = [
            asyncio.ensure_future(each) for each in (hung_up(), self._instance.closed.wait(), stopping.wait())
        ]
        try:
            await asyncio.wait([reading, *ends], return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                return reading.result()
            raise ClientGone if ends[0].done() else instance_not_found()
        finally:
            for each in (reading, *ends):
                each.cancel()
            await asyncio.wait([reading, *ends])

    async def _read_in_turn(self) -> list[JsonRecord]:
        instance = self._instance
        try:
            async with asyncio.timeout_at(self._deadline):
                await instance.reading.acquire()
        except TimeoutError:
            return []  # another read took all the time
        try:
            instance.begin_read()
            await self._collect()
            instance.progress.end_read()
            return self._found
        except BaseException:
            instance.progress.undo_read()
            raise
        finally:
            instance.reading.release()

    async def _collect(self) -> None:
        has_tried = False
        while not await self._take_what_is_set_aside():
            is_time_up = has_tried and self._loop.time() >= self._deadline
            if is_time_up or self._size >= max(1, self._limits.min_bytes):
                break
            has_tried = True
            try:
                async with asyncio.timeout_at(self._deadline + OVERTIME_SECONDS):
                    await self._get_more()
                    self._trouble = None
            except RetriableError as error:
                self._trouble = error
                await asyncio.sleep(min(PAUSE_SECONDS, self._left_ms / 1000))
            except TimeoutError:
                self._trouble = self._trouble or BrokerUnreachableError("Kafka does not answer")
        if not self._found:
            self._tell_trouble()

    def _tell_trouble(self) -> None:
        trouble = self._trouble or (None if self._instance.is_ready else self._instance.trouble())
        if trouble is not None and trouble.code != MISSING_TOPIC:
            raise trouble

    async def _get_more(self) -> None:
        instance = self._instance
        if not instance.is_ready:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(self._deadline):
                    await instance.until_changed()
            trouble = instance.trouble()
            if trouble is not None and not isinstance(trouble, RetriableError):
                raise trouble
            return
        await instance.place()
        await instance.fetch(min(self._left_ms, LONGEST_FETCH_MS), self._fetch_bytes())

    def _fetch_bytes(self) -> int:
        return max(LEAST_FETCH_BYTES, min(FETCH_BYTES, self._limits.max_bytes - self._size))

    # what was fetched

    async def _take_what_is_set_aside(self) -> bool:
        """Whether the answer is full."""
        progress = self._instance.progress
        while (chosen := progress.next_set_aside()) is not None:
            record = chosen.record
            size = len(record.key or b"") + len(record.value or b"")
            if self._found and self._size + size > self._limits.max_bytes:
                return True
            try:
                decoded = await self._decoded(chosen)
            except (HttpError, RetriableError):
                if self._found:
                    return True  # the next request is told
                raise
            if progress.take(chosen):
                self._found.append(decoded)
                self._size += size
        return False

    async def _decoded(self, chosen: SetAside) -> JsonRecord:
        partition, record = chosen.partition, chosen.record
        return {
            "topic": partition.topic,
            "key": await self._payload(chosen, "key", record.key),
            "value": await self._payload(chosen, "value", record.value),
            "partition": partition.partition,
            "offset": record.offset,
        }

    async def _payload(self, chosen: SetAside, part: Part, data: bytes | None) -> Any:
        if data is None:
            return None
        try:
            if self._decode is not None:
                return self._decode(data)
            async with asyncio.timeout_at(self._deadline + OVERTIME_SECONDS):
                return await self._with_schema(data, chosen.record.headers, part)
        except (ValueError, RecursionError, Undecodable) as error:
            raise unreadable_record(
                f"The {part} at offset {chosen.record.offset} of {chosen.partition} cannot be read: {error}; "
                "to go on behind it, set the position"
            ) from error
        except TimeoutError:
            message = "The Schema Registry did not answer in time"
            raise unavailable(
                message, retry_after_seconds=RETRY_AFTER_SECONDS, error_code=RETRIABLE
            ) from None
