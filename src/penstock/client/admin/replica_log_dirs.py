"""Which log directory of a broker a replica is in, and its move to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from penstock.client.admin.group_offsets import by_topic
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from penstock.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, error_for


class TopicPartitionReplica(NamedTuple):
    topic: str
    partition: int
    broker_id: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}-{self.broker_id}"


@dataclass(frozen=True, slots=True)
class ReplicaLogDir:
    current: str | None = None
    """None if the replica is in no directory that works."""
    future: str | None = None
    """Where it is being moved to."""


async def describe_replica_log_dirs(
    cluster: Cluster, replicas: Iterable[TopicPartitionReplica]
) -> dict[TopicPartitionReplica, ReplicaLogDir]:
    brokers = _by_broker(replicas)
    answers = await cluster.each(_describe(cluster, *each) for each in brokers.items())
    return {replica: found for answer in answers for replica, found in answer.items()}


async def _describe(
    cluster: Cluster, broker_id: int, partitions: list[TopicPartition]
) -> dict[TopicPartitionReplica, ReplicaLogDir]:
    topics = [DescribableLogDirTopic(topic, each) for topic, each in by_topic(partitions).items()]
    answer = await cluster.ask_node(broker_id, DescribeLogDirsRequest(topics), DescribeLogDirsResponse)
    current: dict[TopicPartition, str] = {}
    future: dict[TopicPartition, str] = {}
    for result in answer.results:
        if result.error_code == ErrorCode.KAFKA_STORAGE_ERROR:
            continue  # the directory is offline
        if result.error_code:
            raise error_for(result.error_code)
        for topic in result.topics:
            for each in topic.partitions:
                into = future if each.is_future_key else current
                into[TopicPartition(topic.name, each.partition_index)] = result.log_dir
    return {
        TopicPartitionReplica(*partition, broker_id): ReplicaLogDir(
            current.get(partition), future.get(partition)
        )
        for partition in partitions
    }


async def alter_replica_log_dirs(
    cluster: Cluster, log_dirs: Mapping[TopicPartitionReplica, str]
) -> dict[TopicPartitionReplica, KafkaError | None]:
    """Begins to move replicas to other directories of their brokers; for each, why it could not be."""
    answers = await cluster.each(
        _alter(
            cluster,
            broker_id,
            {part: log_dirs[TopicPartitionReplica(*part, broker_id)] for part in partitions},
        )
        for broker_id, partitions in _by_broker(log_dirs).items()
    )
    return {replica: error for answer in answers for replica, error in answer.items()}


async def _alter(
    cluster: Cluster, broker_id: int, log_dirs: Mapping[TopicPartition, str]
) -> dict[TopicPartitionReplica, KafkaError | None]:
    into: dict[str, list[TopicPartition]] = {}
    for partition, log_dir in log_dirs.items():
        into.setdefault(log_dir, []).append(partition)
    request = AlterReplicaLogDirsRequest(
        [
            AlterReplicaLogDir(
                path, [AlterReplicaLogDirTopic(topic, each) for topic, each in by_topic(partitions).items()]
            )
            for path, partitions in into.items()
        ]
    )
    answer = await cluster.ask_node(broker_id, request, AlterReplicaLogDirsResponse)
    return {
        TopicPartitionReplica(topic.topic_name, each.partition_index, broker_id): (
            error_for(each.error_code) if each.error_code else None
        )
        for topic in answer.results
        for each in topic.partitions
    }


def _by_broker(replicas: Iterable[TopicPartitionReplica]) -> dict[int, list[TopicPartition]]:
    found: dict[int, list[TopicPartition]] = {}
    for topic, partition, broker_id in replicas:
        found.setdefault(broker_id, []).append(TopicPartition(topic, partition))
    return found
