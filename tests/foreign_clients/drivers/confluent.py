"""confluent-kafka, the Python face of librdkafka."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from confluent_kafka import (
    Consumer,
    KafkaError,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from tests.foreign_clients.drivers.confluent_errors import TIMEOUT_SECONDS, only, raised, translated
from tests.foreign_clients.drivers.confluent_groups import ConfluentGroups
from tests.foreign_clients.drivers.confluent_sessions import consumed
from tests.foreign_clients.drivers.model import (
    EARLIEST,
    LATEST,
    MAX_TIMESTAMP,
    Change,
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
from tests.support.processes import wait_for

SPECS = {EARLIEST: OffsetSpec.earliest, LATEST: OffsetSpec.latest, MAX_TIMESTAMP: OffsetSpec.max_timestamp}


class ConfluentClient(ConfluentGroups):
    name = "confluent-kafka"
    chooses_auto_creation = False
    _shared_admin: AdminClient | None = None

    def _settings(self, **settings: Any) -> dict[str, Any]:
        named = {key.replace("_", "."): value for key, value in settings.items()}
        return {"bootstrap.servers": self.bootstrap, "log_level": 0, **named}

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
        settings = self._settings(
            compression_type=codec,
            acks=acks,
            enable_idempotence=idempotent,
            message_max_bytes=32 << 20,
            linger_ms=20,
            message_timeout_ms=25_000,
        )
        producer = Producer(settings)
        delivered: dict[int, Any] = {}
        for index, record in enumerate(records):
            optional = {} if record.timestamp is None else {"timestamp": record.timestamp}
            with translated():
                producer.produce(
                    topic,
                    record.value,
                    record.key,
                    -1 if record.partition is None else record.partition,
                    on_delivery=lambda error, message, index=index: delivered.update(
                        {index: (error, message)}
                    ),
                    headers=list(record.headers),
                    **optional,
                )
        left = producer.flush(TIMEOUT_SECONDS)
        assert left == 0, f"{left} records neither delivered nor failed"
        return [self._sent(*delivered[index]) for index in range(len(records))]

    @staticmethod
    def _sent(error: KafkaError | None, message: Any) -> Sent:
        if error is not None:
            raise raised(error)
        offset = message.offset()
        return Sent(message.partition(), -1 if offset is None or offset < 0 else offset)

    @contextmanager
    def _consumer(self, **settings: Any) -> Iterator[Consumer]:
        consumer = Consumer(
            self._settings(group_id="unused", enable_auto_commit=False, auto_offset_reset="error", **settings)
        )
        try:
            with translated():
                yield consumer
        finally:
            consumer.close()

    @staticmethod
    def _read(consumer: Consumer, count: int) -> list[Any]:
        messages: list[Any] = []
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while len(messages) < count and time.monotonic() < deadline:
            for message in consumer.consume(count - len(messages), timeout=0.5):
                if message.error() is not None:
                    raise raised(message.error())
                messages.append(message)
        return messages

    def consume(self, topic: str, count: int, *, partition: int = 0, offset: int = 0) -> list[Consumed]:
        with self._consumer() as consumer:
            consumer.assign([TopicPartition(topic, partition, offset)])
            return [consumed(message) for message in self._read(consumer, count)]

    def consume_partitions(self, topic: str, partitions: Sequence[int], count: int) -> list[Consumed]:
        with self._consumer() as consumer:
            consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
            return [consumed(message) for message in self._read(consumer, count)]

    def seek(self, topic: str, positions: Sequence[Position], count: int) -> list[list[int]]:
        visits = []
        with self._consumer() as consumer:
            consumer.assign([TopicPartition(topic, 0, 0)])
            self._read(consumer, 1)
            for position in positions:
                offset = self._target(consumer, topic, position)
                if position.kind == "end":
                    visits.append([offset])
                    continue
                consumer.seek(TopicPartition(topic, 0, offset))
                visits.append([message.offset() for message in self._read(consumer, count)])
        return visits

    @staticmethod
    def _target(consumer: Consumer, topic: str, position: Position) -> int:
        if position.kind == "timestamp":
            asked = [TopicPartition(topic, 0, position.at)]
            return int(consumer.offsets_for_times(asked, TIMEOUT_SECONDS)[0].offset)
        if position.kind == "offset":
            return position.at
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), TIMEOUT_SECONDS)
        return int(low if position.kind == "beginning" else high)

    def offsets(self, topic: str, timestamps: Sequence[int] = (), *, partition: int = 0) -> PartitionOffsets:
        with self._consumer() as consumer:
            low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), TIMEOUT_SECONDS)
            found = []
            for timestamp in timestamps:
                asked = [TopicPartition(topic, partition, timestamp)]
                [answer] = consumer.offsets_for_times(asked, TIMEOUT_SECONDS)
                # librdkafka says "end" (-1) where no record is that young
                found.append(OffsetAt(answer.offset, None))
            return PartitionOffsets(low, high, tuple(found))

    def partitions_of(self, topic: str, *, auto_create: bool) -> list[int]:
        with self._consumer(allow_auto_create_topics=auto_create) as consumer:
            described = consumer.list_topics(topic, TIMEOUT_SECONDS).topics[topic]
            if described.error is not None:
                raise raised(described.error)
            return sorted(described.partitions)

    def _admin(self) -> AdminClient:
        """One for all calls: an admin client that is let go ends the calls that are under way."""
        if self._shared_admin is None:
            self._shared_admin = AdminClient(self._settings())
        return self._shared_admin

    def create_topic(
        self,
        topic: str,
        *,
        partitions: int = 1,
        replication_factor: int = 1,
        configs: Mapping[str, str] | None = None,
        validate_only: bool = False,
    ) -> None:
        new = NewTopic(topic, partitions, replication_factor, config=dict(configs or {}))
        with translated():
            futures = self._admin().create_topics([new], validate_only=validate_only)
        only(futures)
        if not validate_only:  # Apache Kafka's controller answers before its broker knows
            wait_for(lambda: topic in self.list_topics(), what="the new topic to be known")

    def delete_topic(self, topic: str) -> None:
        only(self._admin().delete_topics([topic]))

    def create_partitions(self, topic: str, total: int) -> None:
        only(self._admin().create_partitions([NewPartitions(topic, total)]))

    def list_topics(self) -> set[str]:
        return set(self._admin().list_topics(timeout=TIMEOUT_SECONDS).topics)

    def describe_topic(self, topic: str) -> list[PartitionInfo]:
        described = only(self._admin().describe_topics(TopicCollection([topic])))
        return [
            PartitionInfo(
                info.id,
                info.leader.id,
                tuple(node.id for node in info.replicas),
                tuple(node.id for node in info.isr),
            )
            for info in described.partitions
        ]

    def describe_configs(self, resource_type: str, name: str) -> dict[str, ConfigValue]:
        resource = ConfigResource(ResourceType[resource_type], name)
        entries = only(self._admin().describe_configs([resource]))
        return {
            key: ConfigValue(entry.value, ConfigSource(entry.source).name, entry.is_sensitive)
            for key, entry in entries.items()
        }

    def alter_configs(self, resource_type: str, name: str, configs: Mapping[str, str]) -> None:
        resource = ConfigResource(ResourceType[resource_type], name, set_config=dict(configs))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            futures = self._admin().alter_configs([resource])
        only(futures)

    def incremental_alter_configs(self, resource_type: str, name: str, changes: Sequence[Change]) -> None:
        entries = [
            ConfigEntry(change.name, change.value, incremental_operation=AlterConfigOpType[change.kind])
            for change in changes
        ]
        resource = ConfigResource(ResourceType[resource_type], name, incremental_configs=entries)
        only(self._admin().incremental_alter_configs([resource]))

    def describe_cluster(self) -> Cluster:
        with translated():
            described = self._admin().describe_cluster().result(TIMEOUT_SECONDS)
        brokers = {node.id: f"{node.host}:{node.port}" for node in described.nodes}
        return Cluster(described.cluster_id, described.controller.id, brokers)

    def delete_records(self, topic: str, before: int, *, partition: int = 0) -> int:
        deleted = only(self._admin().delete_records([TopicPartition(topic, partition, before)]))
        return int(deleted.low_watermark)

    def list_offsets(self, topic: str, timestamps: Sequence[int], *, partition: int = 0) -> list[OffsetAt]:
        found = []
        for timestamp in timestamps:
            spec = SPECS[timestamp]() if timestamp in SPECS else OffsetSpec.for_timestamp(timestamp)
            answer = only(self._admin().list_offsets({TopicPartition(topic, partition): spec}))
            found.append(OffsetAt(answer.offset, answer.timestamp))
        return found
