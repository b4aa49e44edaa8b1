"""Partitions that move from brokers to brokers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from penstock.client.admin.group_offsets import by_topic
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from penstock.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
)
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, UnsupportedVersionError, error_for, raise_for

FIRST_VERSION_THAT_KEEPS_THE_FACTOR = 1


@dataclass(frozen=True, slots=True)
class PartitionReassignment:
    replicas: tuple[int, ...]
    """Those that are to be and those that are to go; the adding and the removing are among them."""
    adding: tuple[int, ...]
    removing: tuple[int, ...]


async def list_partition_reassignments(
    cluster: Cluster, partitions: Iterable[TopicPartition] | None = None
) -> dict[TopicPartition, PartitionReassignment]:
    """Those under way, of these partitions or of all."""
    topics = (
        None
        if partitions is None
        else [ListPartitionReassignmentsTopics(topic, each) for topic, each in by_topic(partitions).items()]
    )
    request = ListPartitionReassignmentsRequest(cluster.config.request_timeout_ms, topics)
    answer = await cluster.ask_controller(request, ListPartitionReassignmentsResponse)
    raise_for(answer.error_code, answer.error_message)
    return {
        TopicPartition(topic.name, each.partition_index): PartitionReassignment(
            tuple(each.replicas), tuple(each.adding_replicas), tuple(each.removing_replicas)
        )
        for topic in answer.topics
        for each in topic.partitions
    }


async def alter_partition_reassignments(
    cluster: Cluster,
    replicas: Mapping[TopicPartition, Sequence[int] | None],
    *,
    allow_replication_factor_change: bool = True,
) -> dict[TopicPartition, KafkaError | None]:
    """Begins to move partitions to these brokers, or with None stops moving them; for each, why it could not be."""
    if not allow_replication_factor_change:
        await _require_kept_factor(cluster)
    topics = [
        ReassignableTopic(
            topic,
            [
                ReassignablePartition(each, None if to is None else list(to))
                for each in partitions
                for to in [replicas[TopicPartition(topic, each)]]
            ],
        )
        for topic, partitions in by_topic(sorted(replicas)).items()
    ]
    request = AlterPartitionReassignmentsRequest(
        cluster.config.request_timeout_ms, allow_replication_factor_change, topics
    )
    answer = await cluster.ask_controller(request, AlterPartitionReassignmentsResponse)
    if answer.error_code:
        return dict.fromkeys(replicas, error_for(answer.error_code, answer.error_message))
    return {
        TopicPartition(topic.name, each.partition_index): (
            error_for(each.error_code, each.error_message) if each.error_code else None
        )
        for topic in answer.responses
        for each in topic.partitions
    }


async def _require_kept_factor(cluster: Cluster) -> None:
    version = await cluster.newest_version_of_controller(AlterPartitionReassignmentsRequest)
    if version < FIRST_VERSION_THAT_KEEPS_THE_FACTOR:
        raise UnsupportedVersionError(
            "The broker does not support a reassignment that must keep the replication factor",
            ErrorCode.UNSUPPORTED_VERSION,
        )
