"""Writes to tables: with a fence what only one may say, and otherwise through an ordinary producer.

Whoever claims a transactional id fences whoever had it before, so that one who lost the right to write something,
without knowing it, can write nothing more about it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from penstock.client import AsyncKafkaProducer
from penstock.wire_client.errors import FatalError, KafkaError

CLOSE_SECONDS = 1.0
TRANSACTION_TIMEOUT_MS = 30_000
TIMEOUT_MS = 30_000

Record = tuple[bytes, bytes | None]


class Fenced(KafkaError):
    """Somebody else has claimed the right to write this."""


class Written(NamedTuple):
    partition: int
    offset: int


class FencedWriter:
    """`claim` first; after an error of which the outcome is not known, the next write claims again."""

    def __init__(self, client_configs: Mapping[str, str], transactional_id: str, topic: str) -> None:
        self._configs = {
            **client_configs,
            "client.id": transactional_id,
            "transactional.id": transactional_id,
            "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
            "delivery.timeout.ms": TRANSACTION_TIMEOUT_MS,
            "max.block.ms": TIMEOUT_MS,
            "linger.ms": 0,
        }
        self._topic = topic
        self._producer: AsyncKafkaProducer | None = None
        self._turn = asyncio.Lock()

    async def claim(self) -> None:
        async with self._turn:
            await self._claim()

    async def _claim(self) -> AsyncKafkaProducer:
        if self._producer is None:
            producer = AsyncKafkaProducer(self._configs)
            try:
                await producer.init_transactions()
            except BaseException:
                await _close(producer)
                raise
            self._producer = producer
        return self._producer

    async def write(self, records: Iterable[Record]) -> dict[int, int]:
        """The last offset by partition, once all are committed; all are, or none."""
        async with self._turn:
            producer = await self._claim()
            try:
                return await self._commit(producer, list(records))
            except FatalError as error:
                await self._give_up()
                raise Fenced(str(error), error.code) from error
            except BaseException:
                await self._give_up()
                raise

    async def _commit(self, producer: AsyncKafkaProducer, records: list[Record]) -> dict[int, int]:
        await producer.begin_transaction()
        sent = [producer.send_nowait(self._topic, value, key) for key, value in records]
        written = await asyncio.gather(*sent, return_exceptions=True)
        await producer.commit_transaction()  # says why, if a record was not delivered
        last: dict[int, int] = {}
        for each in written:
            if isinstance(each, BaseException):
                raise each
            last[each.partition] = max(each.offset, last.get(each.partition, -1))
        return last

    async def _give_up(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            await _close(producer)

    async def close(self) -> None:
        async with self._turn:
            await self._give_up()


class PlainWriter:
    def __init__(self, client_configs: Mapping[str, str], client_id: str, topic: str) -> None:
        self._topic = topic
        self._producer = AsyncKafkaProducer(
            {**client_configs, "client.id": client_id, "max.block.ms": TIMEOUT_MS, "linger.ms": 0}
        )

    async def write(self, key: bytes, value: bytes | None) -> Written:
        sent = await self._producer.send(self._topic, value, key)
        return Written(sent.partition, sent.offset)

    async def close(self) -> None:
        await _close(self._producer)


async def _close(producer: AsyncKafkaProducer) -> None:
    with suppress(KafkaError):
        await asyncio.shield(producer.close(timeout=CLOSE_SECONDS))


async def fence(client_configs: Mapping[str, str], transactional_ids: Iterable[str]) -> None:
    """What producers with these ids have not committed is aborted, and they can commit nothing more."""
    for transactional_id in transactional_ids:
        writer = FencedWriter(client_configs, transactional_id, "")
        try:
            await writer.claim()
        finally:
            await writer.close()
