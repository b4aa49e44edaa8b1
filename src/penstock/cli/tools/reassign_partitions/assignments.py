"""Where partitions are: their replicas, the directories these are in, and the brokers that there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.cli.tools.common.failures import CommandFailure, as_java_says, failing
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.reassign_partitions.plans import LogDirs
from penstock.client.admin.replica_log_dirs import TopicPartitionReplica, describe_replica_log_dirs
from penstock.client.admin.topic_descriptions import TopicDescription, describe_topics
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, Node, now
from penstock.wire_client.errors import KafkaError, error_for, java_exception_name

Assignments = dict[TopicPartition, tuple[Node, ...]]


def assignments_of_topics(cluster: Cluster, topics: Iterable[str]) -> Assignments:
    with failing(as_java_says):
        described = now(describe_topics(cluster, topics))
        return {
            TopicPartition(topic, each.partition): each.replicas
            for topic in described
            for each in _found(topic, described[topic]).partitions
        }


def _found(topic: str, described: TopicDescription | KafkaError) -> TopicDescription:
    if not isinstance(described, KafkaError):
        return described
    if described.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        raise error_for(described.code, f"Topic {topic} not found.")
    raise described


def assignments_of_partitions(cluster: Cluster, partitions: Iterable[TopicPartition]) -> Assignments:
    wanted = list(partitions)
    found = assignments_of_topics(cluster, {partition.topic for partition in wanted})
    missing = in_hash_order(partition for partition in wanted if partition not in found)
    if missing:
        name = java_exception_name(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        raise CommandFailure(f"{name}: Unable to find partition: {', '.join(map(str, missing))}")
    return {partition: found[partition] for partition in wanted}


def replica_ids(assignments: Assignments) -> dict[TopicPartition, list[int]]:
    return {partition: [node.id for node in nodes] for partition, nodes in assignments.items()}


def current_log_dirs(cluster: Cluster, assignments: Mapping[TopicPartition, tuple[Node, ...]]) -> LogDirs:
    """Of replicas whose brokers are there."""
    replicas = [
        TopicPartitionReplica(*partition, node.id)
        for partition, nodes in assignments.items()
        for node in nodes
        if node.host
    ]
    with failing(as_java_says):
        found = now(describe_replica_log_dirs(cluster, replicas))
    return {replica: each.current for replica, each in found.items() if each.current is not None}


def brokers_of(cluster: Cluster) -> tuple[Node, ...]:
    with failing(as_java_says):
        return now(cluster.describe()).nodes
