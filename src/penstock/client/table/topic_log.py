"""Follows a topic with all its partitions in the event loop, committed records only, and knows exactly where it is.

`read_to_end` returns when all that was committed at the call has been replayed, `replayed` when one record has.
Kafka may be away at the start or any time later: the log goes on trying, and what was read stays. If the topic turns
out to be another one (somebody deleted it), `on_another_topic` is called and it is read from its start.

Each leader is followed by a loop of its own, so that a partition on one broker does not wait for another's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

from penstock.client.admin.list_offsets import IsolationLevel, OffsetSpec, list_offsets
from penstock.client.committed_records import BY_NAME, LEADER_HAS_MOVED, committed_records, fetch_request
from penstock.client.table.topic import TableTopic, prepare_topic
from penstock.errors import ApiError, ErrorCode
from penstock.records.reader import Record
from penstock.types import TopicPartition
from penstock.wire.messages.fetch import FetchResponse, PartitionData
from penstock.wire_client import Cluster, ClusterConfig, asyncio_cluster
from penstock.wire_client.errors import KafkaError, error_for

log = logging.getLogger("penstock.client.table")

MAX_BYTES = 4 * 1024 * 1024
MAX_WAIT_MS = 500
RETRY_SECONDS = 0.2
REQUEST_TIMEOUT_MS = 10_000
UNREACHABLE_AFTER_MS = 2_000

Replay = Callable[[Record], None]


class AnotherTopic(KafkaError):
    """The log ends before the place that was read up to, or has another id."""


class _LeadersMoved(Exception):
    pass


class TopicLog:
    """`position` is the next offset to read, by partition; `trouble` says why Kafka cannot be read now."""

    def __init__(
        self,
        client_configs: Mapping[str, str],
        topic: TableTopic,
        replay: Replay,
        on_another_topic: Callable[[], None],
    ) -> None:
        self.topic = topic
        self.position: dict[int, int] = {}
        self.trouble = f"topic {topic.name} is still being read"
        self._config = ClusterConfig.from_configs(client_configs)._replace(
            client_id=f"{topic.service}-{topic.purpose}".replace(" ", "-").lower(),
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            default_api_timeout_ms=UNREACHABLE_AFTER_MS,
        )
        self._replay = replay
        self._on_another_topic = on_another_topic
        self._topic_id: str | None = None
        self._moved = asyncio.Event()
        self.ready = asyncio.Event()

    @property
    def name(self) -> str:
        return self.topic.name

    async def run(self) -> None:
        """Until cancelled; raises `WrongTopic` if the topic is not fit to keep state."""
        async with asyncio_cluster(self._config) as cluster, asyncio_cluster(self._config) as admin:
            while True:
                try:
                    await self._follow(cluster, admin)
                except AnotherTopic as error:
                    self._forget(str(error))
                except (KafkaError, ApiError) as error:
                    self._note_trouble(error)
                    await asyncio.sleep(RETRY_SECONDS)

    async def _follow(self, cluster: Cluster, admin: Cluster) -> None:
        await self._open(admin)
        while True:
            leaders = await admin.leaders_of([TopicPartition(self.name, each) for each in self.position])
            by_node: dict[int, list[int]] = {}
            for partition, node in leaders.items():
                by_node.setdefault(node, []).append(partition.partition)
            loops = [self._follow_node(cluster, node, each) for node, each in by_node.items()]
            catching_up = [] if self.ready.is_set() else [self._until_ready(admin)]
            with suppress(_LeadersMoved):
                await _together(*loops, *catching_up)

    async def _open(self, admin: Cluster) -> None:
        found = await prepare_topic(admin, self.topic)
        if self._topic_id is not None and found.topic_id != self._topic_id:
            raise AnotherTopic("the topic was deleted and made again")
        self._topic_id = found.topic_id
        unknown = [each for each in range(len(found.partitions)) if each not in self.position]
        if unknown:
            self.position |= await self._offsets(admin, unknown, OffsetSpec.EARLIEST)

    async def _offsets(self, admin: Cluster, partitions: list[int], spec: OffsetSpec) -> dict[int, int]:
        wanted = {TopicPartition(self.name, each): int(spec) for each in partitions}
        found = await list_offsets(admin, wanted, isolation_level=IsolationLevel.READ_COMMITTED)
        offsets = {}
        for (_, partition), listed in found.items():
            if isinstance(listed, KafkaError):
                raise listed
            offsets[partition] = listed.offset
        return offsets

    async def _until_ready(self, admin: Cluster) -> None:
        await self._reach(await self._offsets(admin, list(self.position), OffsetSpec.LATEST))
        self.ready.set()
        log.info("topic %s is read", self.name)

    async def _follow_node(self, cluster: Cluster, node: int, partitions: list[int]) -> None:
        while True:
            wait_ms = MAX_WAIT_MS if self.ready.is_set() else 0
            wanted = {each: self.position[each] for each in partitions}
            request = fetch_request(self.name, wanted, max_wait_ms=wait_ms, max_bytes=MAX_BYTES)
            answer = await cluster.ask_node(node, request, FetchResponse, at_most=BY_NAME)
            _refuse(answer.error_code)
            self.trouble = ""
            for data in answer.responses[0].partitions if answer.responses else ():
                self._take(data)
            self._moved.set()
            self._moved.clear()
            await asyncio.sleep(0)

    def _take(self, data: PartitionData) -> None:
        _refuse(data.error_code)
        partition = data.partition_index
        found = committed_records(data, self.position[partition])
        for record in found.records:
            self._replay(record)
        self.position[partition] = found.next_offset

    def _forget(self, reason: str) -> None:
        log.error("topic %s: %s; reading it anew", self.name, reason)
        self.position.clear()
        self._topic_id = None
        self.ready.clear()
        self._on_another_topic()

    def _note_trouble(self, error: Exception) -> None:
        if self.trouble != str(error):
            log.warning("topic %s cannot be read now: %s", self.name, error)
        self.trouble = str(error)

    # waiting

    async def read_to_end(self, admin: Cluster) -> None:
        """Returns when all that is committed now has been replayed."""
        await self.ready.wait()
        await self._reach(await self._offsets(admin, list(self.position), OffsetSpec.LATEST))

    async def replayed(self, partition: int, offset: int) -> None:
        await self._reach({partition: offset + 1})

    async def _reach(self, wanted: Mapping[int, int]) -> None:
        while any(self.position.get(partition, -1) < offset for partition, offset in wanted.items()):
            await self._moved.wait()


def _refuse(error_code: int) -> None:
    if error_code in LEADER_HAS_MOVED:
        raise _LeadersMoved
    if error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
        raise AnotherTopic("the log ends before the place that was read up to", ErrorCode(error_code))
    if error_code:
        raise error_for(error_code)


async def _together(*loops: Coroutine[Any, Any, None]) -> None:
    """Until one of them fails; then the others are ended, and its error is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for each in loops:
                group.create_task(each)
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
