"""What the registry knows, following the topic: replays each record as it comes, and tells who waits for it.

Kafka may be away when the registry starts, or any time later. It goes on trying; what was read stays readable. A log
that ends before the place that was read up to, or a topic with another id, is another log (somebody has deleted the
topic). It is read from its start into an empty state: what the registry says is what the log says.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from heapq import heappop, heappush
from itertools import count
from typing import TypeVar

from penstock.errors import ApiError
from penstock.records.reader import Record
from penstock.registry.settings import RegistrySettings
from penstock.registry.state import RegistryState
from penstock.registry.topic import prepare_topic
from penstock.registry.topic_reader import OffsetOutOfRange, TopicReader
from penstock.wire_client import Cluster, ClusterConfig, asyncio_cluster
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.registry.store")

T = TypeVar("T")
RETRY_SECONDS = 0.2
MAX_WAIT_MS = 500
REQUEST_TIMEOUT_MS = 10_000
UNREACHABLE_AFTER_MS = 2_000


class SchemaStore:
    """`is_ready` once all that was there at the start is replayed; `trouble` says why Kafka cannot be read now."""

    def __init__(self, settings: RegistrySettings) -> None:
        self.state = RegistryState()
        self._ready = asyncio.Event()
        self._turns = asyncio.Lock()
        self.trouble = "the schemas are still being read"
        self.kafka_cluster_id = ""
        self._settings = settings
        self._reader: TopicReader | None = None
        self._topic_id = ""
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._tickets = count()

    async def run(self) -> None:
        """Until cancelled; raises `WrongTopic` if the topic is not fit to keep schemas."""
        config = ClusterConfig.from_configs(self._settings.client_configs)._replace(
            client_id="schema-registry-reader",
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            default_api_timeout_ms=UNREACHABLE_AFTER_MS,
        )
        async with asyncio_cluster(config) as cluster:
            while True:
                try:
                    await self._follow(cluster)
                except OffsetOutOfRange as error:
                    self._forget(str(error))
                except (KafkaError, ApiError) as error:
                    self._note_trouble(error)
                    await asyncio.sleep(RETRY_SECONDS)

    async def _follow(self, cluster: Cluster) -> None:
        topic_id = await prepare_topic(cluster, self._settings)
        if self._reader is not None and topic_id != self._topic_id:
            self._forget("the topic was deleted and made again")
        if self._reader is None:
            self._reader, self._topic_id = await self._open(cluster), topic_id
            self.kafka_cluster_id = (await cluster.describe()).cluster_id or ""
        while True:
            fetched = await self._reader.fetch(MAX_WAIT_MS if self.is_ready else 0)
            self.trouble = ""
            async with self._turns:
                for record in fetched.records:
                    self._replay(record)
            if fetched.is_at_end and not self.is_ready:
                log.info("all schemas are read, up to offset %d", fetched.next_offset)
                self._ready.set()
            self._wake()

    async def off_the_loop(self, work: Callable[[], T]) -> T:
        """What may take long, in a thread: one at a time, and nothing is replayed meanwhile, so the state stands still.

        Who waits for a turn gets it in order, replay too, which so never waits for more than one piece of work.
        """
        async with self._turns:
            working = asyncio.ensure_future(asyncio.to_thread(work))
            try:
                return await asyncio.shield(working)
            except asyncio.CancelledError:
                with suppress(Exception):
                    await working  # a thread cannot be stopped; the turn is its own until it is done
                raise

    def _replay(self, record: Record) -> None:
        if record.key is None:
            log.warning("offset %d has no key: the record is skipped", record.offset)
            return
        problem = self.state.replay(record.key, record.value, record.offset, record.timestamp)
        if problem is not None:
            log.warning("%s", problem)

    async def _open(self, cluster: Cluster) -> TopicReader:
        reader = TopicReader(cluster, self._settings.kafkastore_topic)
        await reader.seek_to_beginning()
        return reader

    def _forget(self, reason: str) -> None:
        log.error("%s: %s; reading it anew", self._settings.kafkastore_topic, reason)
        self.state = RegistryState()
        self._ready.clear()
        self._reader = None
        for _, _, future in self._waiting:
            if not future.done():
                future.set_exception(KafkaError(reason))
        self._waiting.clear()

    def _note_trouble(self, error: Exception) -> None:
        if self.trouble != str(error):
            log.warning("the schemas cannot be read now: %s", error)
        self.trouble = str(error)

    # waiting

    @property
    def is_ready(self) -> bool:
        return self._ready.is_set()

    async def read_to_the_end(self) -> None:
        """Returns when all that was there at the start is in the state."""
        await self._ready.wait()

    @property
    def position(self) -> int:
        return 0 if self._reader is None else self._reader.offset

    async def replayed(self, offset: int) -> None:
        """Returns when the record at `offset` is in the state; raises if the log turns out to be another one."""
        if self.position <= offset:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heappush(self._waiting, (offset, next(self._tickets), future))
            await future

    def _wake(self) -> None:
        while self._waiting and self._waiting[0][0] < self.position:
            future = heappop(self._waiting)[2]
            if not future.done():
                future.set_result(None)
