"""aiokafka: every operation runs in an event loop of its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from tests.foreign_clients.drivers.aiokafka_groups import AiokafkaGroups, consumed, translated
from tests.foreign_clients.drivers.model import (
    ClientError,
    Cluster,
    ConfigValue,
    Consumed,
    OffsetAt,
    PartitionInfo,
    PartitionOffsets,
    Position,
    Record,
    Sent,
)

TIMEOUT_SECONDS = 30.0
SOURCES = {
    1: "DYNAMIC_TOPIC_CONFIG",
    2: "DYNAMIC_BROKER_CONFIG",
    3: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    4: "STATIC_BROKER_CONFIG",
    5: "DEFAULT_CONFIG",
}
T = TypeVar("T")


def _run(operation: Callable[[], Awaitable[T]]) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(2 * TIMEOUT_SECONDS):
            return await operation()

    with translated():
        return asyncio.run(bounded())


def _check(code: int, message: str | None = None) -> None:
    if code:
        raise ClientError(code, message or "")


class AiokafkaClient(AiokafkaGroups):
    """Its producer always lets the broker create topics."""

    name = "aiokafka"
    chooses_auto_creation = False

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        *,
        codec: str = "none",
        acks: str = "all",
        idempotent: bool = False,
        auto_create: bool = True,
    ) -> list[Sent]:
        async def send() -> list[Sent]:
            producer = AIOKafkaProducer(
                bootstrap_servers=self.bootstrap,
                acks=acks if acks == "all" else int(acks),
                compression_type=None if codec == "none" else codec,
                enable_idempotence=idempotent,
                max_request_size=32 << 20,
                linger_ms=20,
                request_timeout_ms=25_000,
            )
            async with producer:
                futures = [
                    await producer.send(
                        topic,
                        record.value,
                        record.key,
                        record.partition,
                        record.timestamp,
                        list(record.headers),
                    )
                    for record in records
                ]
                sent = [await future for future in futures]
            if acks == "0":
                return []
            return [Sent(metadata.partition, metadata.offset) for metadata in sent]

        return _run(send)

    @asynccontextmanager
    async def _assigned(self, *partitions: TopicPartition) -> AsyncIterator[AIOKafkaConsumer]:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap, enable_auto_commit=False, auto_offset_reset="none"
        )
        async with consumer:
            consumer.assign(partitions)
            yield consumer

    @staticmethod
    async def _read(consumer: AIOKafkaConsumer, count: int) -> list[Any]:
        found: list[Any] = []
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while len(found) < count and time.monotonic() < deadline:
            batches = await consumer.getmany(timeout_ms=500, max_records=count - len(found))
            for records in batches.values():
                found.extend(records)
        return found

    def consume(self, topic: str, count: int, *, partition: int = 0, offset: int = 0) -> list[Consumed]:
        assigned = TopicPartition(topic, partition)

        async def read() -> list[Any]:
            async with self._assigned(assigned) as consumer:
                consumer.seek(assigned, offset)
                return await self._read(consumer, count)

        return [consumed(record) for record in _run(read)]

    def consume_partitions(self, topic: str, partitions: Sequence[int], count: int) -> list[Consumed]:
        assigned = [TopicPartition(topic, partition) for partition in partitions]

        async def read() -> list[Any]:
            async with self._assigned(*assigned) as consumer:
                await consumer.seek_to_beginning(*assigned)
                return await self._read(consumer, count)

        return [consumed(record) for record in _run(read)]

    def seek(self, topic: str, positions: Sequence[Position], count: int) -> list[list[int]]:
        assigned = TopicPartition(topic, 0)

        async def visit() -> list[list[int]]:
            visits = []
            async with self._assigned(assigned) as consumer:
                for position in positions:
                    await self._move(consumer, assigned, position)
                    if position.kind == "end":
                        visits.append([await consumer.position(assigned)])
                        continue
                    visits.append([record.offset for record in await self._read(consumer, count)])
            return visits

        return _run(visit)

    @staticmethod
    async def _move(consumer: AIOKafkaConsumer, assigned: TopicPartition, position: Position) -> None:
        if position.kind == "beginning":
            await consumer.seek_to_beginning(assigned)
        elif position.kind == "end":
            await consumer.seek_to_end(assigned)
        elif position.kind == "timestamp":
            found = await consumer.offsets_for_times({assigned: position.at})
            consumer.seek(assigned, found[assigned].offset)
        else:
            consumer.seek(assigned, position.at)

    def offsets(self, topic: str, timestamps: Sequence[int] = (), *, partition: int = 0) -> PartitionOffsets:
        asked = TopicPartition(topic, partition)

        async def look() -> PartitionOffsets:
            async with self._assigned(asked) as consumer:
                beginning = (await consumer.beginning_offsets([asked]))[asked]
                end = (await consumer.end_offsets([asked]))[asked]
                found = [(await consumer.offsets_for_times({asked: at}))[asked] for at in timestamps]
            for_times = (
                OffsetAt(-1, -1) if at is None else OffsetAt(at.offset, at.timestamp) for at in found
            )
            return PartitionOffsets(beginning, end, tuple(for_times))

        return _run(look)

    def _administer(self, operation: Callable[[AIOKafkaAdminClient], Awaitable[T]]) -> T:
        async def run() -> T:
            admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap)
            await admin.start()
            try:
                return await operation(admin)
            finally:
                await admin.close()

        return _run(run)

    def create_topic(
        self,
        topic: str,
        *,
        partitions: int = 1,
        replication_factor: int = 1,
        configs: Mapping[str, str] | None = None,
        validate_only: bool = False,
    ) -> None:
        new = NewTopic(topic, partitions, replication_factor, topic_configs=dict(configs or {}))
        answer = self._administer(lambda admin: admin.create_topics([new], validate_only=validate_only))
        for _, code, message, *_ in answer.topic_errors:
            _check(code, message)

    def delete_topic(self, topic: str) -> None:
        answer = self._administer(lambda admin: admin.delete_topics([topic]))
        for _, code, *_ in answer.topic_error_codes:
            _check(code)

    def create_partitions(self, topic: str, total: int) -> None:
        self._administer(lambda admin: admin.create_partitions({topic: NewPartitions(total)}))

    def list_topics(self) -> set[str]:
        return set(self._administer(lambda admin: admin.list_topics()))

    def describe_topic(self, topic: str) -> list[PartitionInfo]:
        [described] = self._administer(lambda admin: admin.describe_topics([topic]))
        _check(described["error_code"])
        partitions = sorted(described["partitions"], key=lambda node: node["partition"])
        return [
            PartitionInfo(node["partition"], node["leader"], tuple(node["replicas"]), tuple(node["isr"]))
            for node in partitions
        ]

    def describe_configs(self, resource_type: str, name: str) -> dict[str, ConfigValue]:
        resource = ConfigResource(ConfigResourceType[resource_type], name)
        [answer] = self._administer(lambda admin: admin.describe_configs([resource], include_synonyms=True))
        [(code, message, _, _, entries)] = answer.resources
        _check(code, message)
        return {
            key: ConfigValue(value, SOURCES.get(source), bool(sensitive))
            for key, value, _read_only, source, sensitive, *_ in entries
        }

    def alter_configs(self, resource_type: str, name: str, configs: Mapping[str, str]) -> None:
        resource = ConfigResource(ConfigResourceType[resource_type], name, dict(configs))
        [answer] = self._administer(lambda admin: admin.alter_configs([resource]))
        for code, message, *_ in answer.resources:
            _check(code, message)

    def describe_cluster(self) -> Cluster:
        described = self._administer(lambda admin: admin.describe_cluster())
        brokers = {node["node_id"]: f"{node['host']}:{node['port']}" for node in described["brokers"]}
        return Cluster(described.get("cluster_id"), described.get("controller_id"), brokers)

    def delete_records(self, topic: str, before: int, *, partition: int = 0) -> int:
        asked = TopicPartition(topic, partition)
        wanted = {asked: RecordsToDelete(before_offset=before)}
        return int(self._administer(lambda admin: admin.delete_records(wanted))[asked])
