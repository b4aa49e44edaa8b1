"""The two clusters as an administrator sees them, and the few questions that the connectors ask of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from penstock.client.admin.list_offsets import IsolationLevel, OffsetSpec, list_offsets
from penstock.client.admin.topic_changes import NewTopic, create_topics
from penstock.client.admin.topic_descriptions import describe_topics
from penstock.client.admin.topics import list_topics
from penstock.errors import ErrorCode
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.mirror.configs import Side, client_configs
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, ClusterConfig, blocking_cluster, now
from penstock.wire_client.errors import KafkaError


@contextmanager
def cluster_of(configs: Mapping[str, str], side: Side, role: str) -> Iterator[Cluster]:
    timeout_ms = configs.get("admin.timeout.ms", "60000")
    given = {
        "default.api.timeout.ms": timeout_ms,
        **client_configs(configs, side, "admin", f"{role}-{side}-admin"),
    }
    with blocking_cluster(ClusterConfig.from_configs(given)) as cluster:
        yield cluster


def topic_names(cluster: Cluster) -> list[str]:
    return [topic.name for topic in now(list_topics(cluster, include_internal=False))]


def partition_counts(cluster: Cluster, topics: Iterable[str]) -> dict[str, int]:
    """Those that are gone meanwhile are left out."""
    wanted = sorted(topics)
    found = now(describe_topics(cluster, wanted)) if wanted else {}
    return {name: len(each.partitions) for name, each in found.items() if not isinstance(each, KafkaError)}


def end_offsets(
    cluster: Cluster, partitions: Iterable[TopicPartition], isolation_level: IsolationLevel
) -> dict[TopicPartition, int]:
    wanted = {partition: int(OffsetSpec.LATEST) for partition in partitions}
    found = now(list_offsets(cluster, wanted, isolation_level=isolation_level)) if wanted else {}
    return {where: each.offset for where, each in found.items() if not isinstance(each, KafkaError)}


def ensure_compacted_topic(cluster: Cluster, topic: str, replication_factor: int) -> None:
    """Of one partition, as all topics of MirrorMaker's own are. Who may not make topics has to have it already."""
    new = NewTopic(
        topic,
        1,
        replication_factor if replication_factor > 0 else None,
        configs={"cleanup.policy": "compact"},
    )
    error = now(create_topics(cluster, [new]))[topic]
    if isinstance(error, KafkaError) and error.code not in _FINE:
        raise ConnectError(f"Topic {topic} could not be created: {error}") from error


_FINE = frozenset(
    {
        ErrorCode.TOPIC_ALREADY_EXISTS,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    }
)
