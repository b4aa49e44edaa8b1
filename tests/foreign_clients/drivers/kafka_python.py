"""kafka-python."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from tests.foreign_clients.drivers.kafka_python_groups import KafkaPythonGroups, consumed, translated
from tests.foreign_clients.drivers.model import (
    UNKNOWN_TOPIC_OR_PARTITION,
    Change,
    ClientError,
    Cluster,
    ConfigValue,
    Consumed,
    OffsetAt,
    PartitionInfo,
    PartitionOffsets,
    Position,
    ProducerState,
    Record,
    Replica,
    Sent,
)

with warnings.catch_warnings():  # its own use of importlib.resources is out of date
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.admin import ConfigResource, KafkaAdminClient
    from kafka.errors import for_code

TIMEOUT_SECONDS = 30.0


def _check(code: int, message: str = "") -> None:
    if code:
        raise ClientError(code, f"{for_code(code).__name__} {message}")


class KafkaPythonClient(KafkaPythonGroups):
    """Its producer takes the setting that forbids to create topics, and does not heed it."""

    name = "kafka-python"
    chooses_auto_creation = False
    null_headers = False

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
        producer = KafkaProducer(
            bootstrap_servers=self.bootstrap,
            acks=acks if acks == "all" else int(acks),
            compression_type=None if codec == "none" else codec,
            enable_idempotence=idempotent,
            max_request_size=32 << 20,
            linger_ms=20,
            max_block_ms=20_000,
            request_timeout_ms=15_000,
            delivery_timeout_ms=25_000,
        )
        with closing(producer), translated():
            futures = [
                producer.send(
                    topic,
                    record.value,
                    record.key,
                    list(record.headers),
                    record.partition,
                    record.timestamp,
                )
                for record in records
            ]
            found = [future.get(TIMEOUT_SECONDS) for future in futures]
        return [Sent(metadata.partition, -1 if acks == "0" else metadata.offset) for metadata in found]

    @contextmanager
    def _consumer(self, **settings: Any) -> Iterator[KafkaConsumer]:
        consumer = KafkaConsumer(
            bootstrap_servers=self.bootstrap, enable_auto_commit=False, auto_offset_reset="none", **settings
        )
        with closing(consumer), translated():
            yield consumer

    @staticmethod
    def _read(consumer: KafkaConsumer, count: int) -> list[Any]:
        found: list[Any] = []
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while len(found) < count and time.monotonic() < deadline:
            for records in consumer.poll(500, max_records=count - len(found)).values():
                found.extend(records)
        return found

    def consume(self, topic: str, count: int, *, partition: int = 0, offset: int = 0) -> list[Consumed]:
        assigned = TopicPartition(topic, partition)
        with self._consumer() as consumer:
            consumer.assign([assigned])
            consumer.seek(assigned, offset)
            return [consumed(record) for record in self._read(consumer, count)]

    def consume_partitions(self, topic: str, partitions: Sequence[int], count: int) -> list[Consumed]:
        assigned = [TopicPartition(topic, partition) for partition in partitions]
        with self._consumer() as consumer:
            consumer.assign(assigned)
            consumer.seek_to_beginning(*assigned)
            return [consumed(record) for record in self._read(consumer, count)]

    def seek(self, topic: str, positions: Sequence[Position], count: int) -> list[list[int]]:
        assigned = TopicPartition(topic, 0)
        visits = []
        with self._consumer() as consumer:
            consumer.assign([assigned])
            for position in positions:
                self._move(consumer, assigned, position)
                if position.kind == "end":
                    visits.append([consumer.position(assigned)])
                    continue
                visits.append([record.offset for record in self._read(consumer, count)])
        return visits

    @staticmethod
    def _move(consumer: KafkaConsumer, assigned: TopicPartition, position: Position) -> None:
        if position.kind == "beginning":
            consumer.seek_to_beginning(assigned)
        elif position.kind == "end":
            consumer.seek_to_end(assigned)
        elif position.kind == "timestamp":
            consumer.seek(assigned, consumer.offsets_for_times({assigned: position.at})[assigned].offset)
        else:
            consumer.seek(assigned, position.at)

    def offsets(self, topic: str, timestamps: Sequence[int] = (), *, partition: int = 0) -> PartitionOffsets:
        asked = TopicPartition(topic, partition)
        with self._consumer() as consumer:
            beginning = consumer.beginning_offsets([asked])[asked]
            end = consumer.end_offsets([asked])[asked]
            answers = [consumer.offsets_for_times({asked: timestamp})[asked] for timestamp in timestamps]
        found = tuple(OffsetAt(-1, -1) if at is None else OffsetAt(at.offset, at.timestamp) for at in answers)
        return PartitionOffsets(beginning, end, found)

    def partitions_of(self, topic: str, *, auto_create: bool) -> list[int]:
        with self._consumer(allow_auto_create_topics=auto_create) as consumer:
            return sorted(consumer.partitions_for_topic(topic) or ())

    @contextmanager
    def _admin(self) -> Iterator[KafkaAdminClient]:
        with closing(KafkaAdminClient(bootstrap_servers=self.bootstrap)) as admin, translated():
            yield admin

    def create_topic(
        self,
        topic: str,
        *,
        partitions: int = 1,
        replication_factor: int = 1,
        configs: Mapping[str, str] | None = None,
        validate_only: bool = False,
    ) -> None:
        wanted = {
            "num_partitions": partitions,
            "replication_factor": replication_factor,
            "configs": dict(configs or {}),
        }
        with self._admin() as admin:
            admin.create_topics({topic: wanted}, validate_only=validate_only)

    def delete_topic(self, topic: str) -> None:
        with self._admin() as admin:
            admin.delete_topics([topic])

    def create_partitions(self, topic: str, total: int) -> None:
        with self._admin() as admin:
            admin.create_partitions({topic: total})

    def list_topics(self) -> set[str]:
        with self._admin() as admin:
            return set(admin.list_topics())

    def describe_topic(self, topic: str) -> list[PartitionInfo]:
        with self._admin() as admin:
            [described] = admin.describe_topics([topic])
        _check(described["error_code"])
        partitions = sorted(described["partitions"], key=lambda node: node["partition_index"])
        return [
            PartitionInfo(
                node["partition_index"],
                node["leader_id"],
                tuple(node["replica_nodes"]),
                tuple(node["isr_nodes"]),
            )
            for node in partitions
        ]

    def describe_configs(self, resource_type: str, name: str) -> dict[str, ConfigValue]:
        with self._admin() as admin:
            resource = ConfigResource(resource_type, name)
            described = admin.describe_configs([resource], include_synonyms=True, config_filter="all")
        entries = described[resource_type.lower()][name]
        if not entries:  # an error in the answer is not reported, only the lack of entries
            raise ClientError(UNKNOWN_TOPIC_OR_PARTITION, f"no configs for {name}")
        return {
            key: ConfigValue(entry["value"], entry["config_source"], bool(entry["is_sensitive"]))
            for key, entry in entries.items()
        }

    def _alter(self, resource_type: str, name: str, configs: dict[str, Any], incremental: bool) -> None:
        resource = ConfigResource(resource_type, name, configs)
        with self._admin() as admin:
            answer = admin.alter_configs([resource], raise_on_unknown=False, incremental=incremental)
        said = answer[resource_type.lower()][name]
        if said != "OK":  # the error comes as text only
            code = re.search(r"\[Error (\d+)\]", said)
            raise ClientError(int(code[1]) if code else -1, said)

    def alter_configs(self, resource_type: str, name: str, configs: Mapping[str, str]) -> None:
        self._alter(resource_type, name, dict(configs), incremental=False)

    def incremental_alter_configs(self, resource_type: str, name: str, changes: Sequence[Change]) -> None:
        configs = {change.name: (change.kind, change.value) for change in changes}
        self._alter(resource_type, name, configs, incremental=True)

    def describe_cluster(self) -> Cluster:
        with self._admin() as admin:
            described = admin.describe_cluster()
        brokers = {node["broker_id"]: f"{node['host']}:{node['port']}" for node in described["brokers"]}
        return Cluster(described["cluster_id"], described["controller_id"], brokers)

    def delete_records(self, topic: str, before: int, *, partition: int = 0) -> int:
        asked = TopicPartition(topic, partition)
        with self._admin() as admin:
            return int(admin.delete_records({asked: before})[asked]["low_watermark"])

    def list_offsets(self, topic: str, timestamps: Sequence[int], *, partition: int = 0) -> list[OffsetAt]:
        asked = TopicPartition(topic, partition)
        with self._admin() as admin:
            answers = [admin.list_partition_offsets({asked: timestamp})[asked] for timestamp in timestamps]
        return [OffsetAt(answer.offset, answer.timestamp) for answer in answers]

    def describe_log_dirs(self, broker: int) -> list[Replica]:
        with self._admin() as admin:
            [described] = admin.describe_log_dirs(brokers=[broker])
        replicas = []
        for directory in described["log_dirs"]:
            _check(directory["error_code"])
            for topic in directory["topics"]:
                replicas += [
                    Replica(
                        directory["log_dir"], topic["name"], node["partition_index"], node["partition_size"]
                    )
                    for node in topic["partitions"]
                ]
        return replicas

    def describe_producers(self, topic: str, *, partition: int = 0) -> list[ProducerState]:
        asked = TopicPartition(topic, partition)
        with self._admin() as admin:
            states = admin.describe_producers([asked])[asked].active_producers
        return [
            ProducerState(state.producer_id, state.producer_epoch, state.last_sequence, state.last_timestamp)
            for state in states
        ]
