"""`penstock topics --list` and `--describe`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.output.view import Record, View
from penstock.cli.tools.topics.selection import existing_topics, selected_topics
from penstock.cli.views.asking import cluster_of, has_only
from penstock.client.admin.configs import (
    Config,
    ConfigResource,
    ConfigSource,
    ResourceType,
    describe_configs,
)
from penstock.client.admin.topic_descriptions import TopicDescription, TopicPartitionInfo, describe_topics
from penstock.wire_client import Cluster, Node, now
from penstock.wire_client.errors import KafkaError

REPORTS: Mapping[str, Callable[[TopicPartitionInfo, int], bool]] = {
    "under-replicated-partitions": lambda partition, min_isr: len(partition.isr) < len(partition.replicas),
    "unavailable-partitions": lambda partition, min_isr: partition.leader is None,
    "under-min-isr-partitions": lambda partition, min_isr: len(partition.isr) < min_isr,
    "at-min-isr-partitions": lambda partition, min_isr: len(partition.isr) == min_isr,
}
"""Flags that choose partitions; the number is `min.insync.replicas` of the topic."""
DESCRIBE_FLAGS = ("describe", "topic", "exclude-internal", "if-exists", "topics-with-overrides", *REPORTS)


def view(options: OptionSet) -> View | None:
    if options.has("list") and has_only(options, "list", "topic", "exclude-internal"):
        with cluster_of(options) as cluster:
            return now(_listed(cluster, options))
    if options.has("describe") and has_only(options, *DESCRIBE_FLAGS):
        with cluster_of(options) as cluster:
            return now(_described(cluster, options))
    return None


async def _listed(cluster: Cluster, options: OptionSet) -> View:
    topics = await _descriptions(cluster, await selected_topics(cluster, options))
    return View([_summary(topic) for topic in topics])


async def _described(cluster: Cluster, options: OptionSet) -> View:
    topics = await _descriptions(cluster, await existing_topics(cluster, options))
    resources = [ConfigResource(ResourceType.TOPIC, topic.name) for topic in topics]
    configs = await describe_configs(cluster, resources)
    records: list[Record] = []
    rows: list[Record] = []
    for topic, resource in zip(topics, resources, strict=True):
        config = configs[resource]
        if isinstance(config, KafkaError):
            raise config
        partitions = _chosen(topic, config, options)
        overrides = _overrides(config)
        if partitions and (overrides or not options.has("topics-with-overrides")):
            shown = [_partition(each) for each in partitions]
            records.append({**_summary(topic), "configs": overrides, "partitions": shown})
            rows += [
                {"topic": topic.name, **_partition(each), "health": _health(each)} for each in partitions
            ]
    return View(records, rows)


def _chosen(topic: TopicDescription, config: Config, options: OptionSet) -> list[TopicPartitionInfo]:
    """All partitions, or those that one of the reports asked for is about."""
    asked = [holds for flag, holds in REPORTS.items() if options.has(flag)]
    min_isr = int(config["min.insync.replicas"].value or 1)
    return [each for each in topic.partitions if not asked or any(holds(each, min_isr) for holds in asked)]


async def _descriptions(cluster: Cluster, names: list[str]) -> list[TopicDescription]:
    found = []
    for described in (await describe_topics(cluster, names)).values():
        if isinstance(described, KafkaError):
            raise described
        found.append(described)
    return sorted(found, key=lambda topic: topic.name)


def _summary(topic: TopicDescription) -> dict[str, object]:
    return {
        "name": topic.name,
        "partition_count": len(topic.partitions),
        "replication_factor": len(topic.partitions[0].replicas) if topic.partitions else 0,
        "internal": topic.is_internal,
        "topic_id": topic.topic_id,
    }


def _partition(partition: TopicPartitionInfo) -> Record:
    return {
        "partition": partition.partition,
        "leader": None if partition.leader is None else partition.leader.id,
        "replicas": _ids(partition.replicas),
        "isr": _ids(partition.isr),
    }


def _ids(nodes: tuple[Node, ...]) -> list[int]:
    return [node.id for node in nodes]


def _health(partition: TopicPartitionInfo) -> str:
    if partition.leader is None:
        return "no leader"
    return "ok" if len(partition.isr) >= len(partition.replicas) else "under-replicated"


def _overrides(config: Config) -> Mapping[str, str | None]:
    own = (entry for entry in config.values() if entry.source is ConfigSource.DYNAMIC_TOPIC_CONFIG)
    return {entry.name: entry.value for entry in own}
