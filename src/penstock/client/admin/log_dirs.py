"""What the log directories of brokers hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire.messages.describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, error_for


@dataclass(frozen=True, slots=True)
class ReplicaInfo:
    size: int
    offset_lag: int
    is_future: bool


@dataclass(frozen=True, slots=True)
class LogDirDescription:
    error: KafkaError | None
    replicas: Mapping[TopicPartition, ReplicaInfo]
    total_bytes: int | None
    usable_bytes: int | None


LogDirs = dict[str, LogDirDescription]


async def describe_log_dirs(cluster: Cluster, node_ids: Iterable[int]) -> dict[int, LogDirs]:
    """The log directories of each broker by their paths."""
    wanted = list(node_ids)
    described = await cluster.each(_describe_node(cluster, node_id) for node_id in wanted)
    return dict(zip(wanted, described, strict=True))


async def _describe_node(cluster: Cluster, node_id: int) -> LogDirs:
    every_topic = DescribeLogDirsRequest(topics=None)
    answer = await cluster.ask_node(node_id, every_topic, DescribeLogDirsResponse)
    if not answer.results:
        # Brokers that have no error code in this answer leave out all directories instead.
        raise error_for(answer.error_code or ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    return {result.log_dir: _described(result) for result in answer.results}


def _described(result: DescribeLogDirsResult) -> LogDirDescription:
    replicas = {
        TopicPartition(topic.name, each.partition_index): ReplicaInfo(
            each.partition_size, each.offset_lag, each.is_future_key
        )
        for topic in result.topics
        for each in topic.partitions
    }
    return LogDirDescription(
        error_for(result.error_code) if result.error_code else None,
        replicas,
        _known(result.total_bytes),
        _known(result.usable_bytes),
    )


def _known(size: int) -> int | None:
    return None if size < 0 else size
