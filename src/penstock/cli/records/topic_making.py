"""The topic that records are copied to, made if it is not there."""

from __future__ import annotations

from penstock.cli.cluster_arguments import Configs
from penstock.cli.first_contact import tool_cluster_config
from penstock.client.admin.configs import ConfigResource, ConfigSource, ResourceType, describe_configs
from penstock.client.admin.topic_changes import NewTopic, create_topics
from penstock.client.admin.topic_descriptions import describe_topics
from penstock.errors import ErrorCode
from penstock.wire_client import Cluster, blocking_cluster, now
from penstock.wire_client.errors import KafkaError


def partitions_or_create(configs: Configs, topic: str, partitions: int | None, like: str | None) -> int:
    """How many partitions the topic has. One that is not there gets as many as said, and the configs of another."""
    with blocking_cluster(tool_cluster_config(configs)) as cluster:
        return now(_partitions_or_create(cluster, topic, partitions, like))


async def _partitions_or_create(
    cluster: Cluster, topic: str, partitions: int | None, like: str | None
) -> int:
    described = (await describe_topics(cluster, [topic]))[topic]
    if not isinstance(described, KafkaError):
        return len(described.partitions)
    if described.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        raise described
    if partitions is None:
        raise KafkaError(
            f"topic {topic} does not exist; --create N makes it with N partitions", described.code
        )
    own_configs = await _own_configs(cluster, like) if like is not None else {}
    result = (await create_topics(cluster, [NewTopic(topic, partitions, configs=own_configs)]))[topic]
    if isinstance(result, KafkaError):
        raise result
    return partitions


async def _own_configs(cluster: Cluster, topic: str) -> dict[str, str]:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    config = (await describe_configs(cluster, [resource]))[resource]
    if isinstance(config, KafkaError):
        raise config
    own = (entry for entry in config.values() if entry.source is ConfigSource.DYNAMIC_TOPIC_CONFIG)
    return {entry.name: entry.value for entry in own if entry.value is not None}
