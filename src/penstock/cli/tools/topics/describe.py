"""kafka-topics --describe: a line for each topic, and one for each partition or for those that are reported."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.common.java_order import capacity_of_copy, in_hash_order
from penstock.cli.tools.topics.selection import existing_topic_id, existing_topics
from penstock.cli.tools.topics.topic_id import parsed_topic_id
from penstock.client.admin.configs import Config, ConfigResource, ResourceType, describe_configs
from penstock.client.admin.reassignments import PartitionReassignment, list_partition_reassignments
from penstock.client.admin.topic_descriptions import (
    PARTITIONS_PER_ANSWER,
    Descriptions,
    TopicDescription,
    TopicPartitionInfo,
    describe_topics,
    describe_topics_by_id,
)
from penstock.client.admin.topic_ids import NO_TOPIC_ID
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, Node
from penstock.wire_client.errors import KafkaError, UnsupportedVersionError

Reassignments = dict[TopicPartition, PartitionReassignment]


async def describe(cluster: Cluster, options: OptionSet) -> None:
    topics = _without_errors(await _descriptions(cluster, options))
    configs = await _configs(cluster, topics)
    live_brokers = {node.id for node in (await cluster.describe()).nodes}
    reassignments = await _reassignments(cluster, topics)
    for topic in topics:
        report = Report(options, topic, configs[topic.name], reassignments, live_brokers)
        report.print()


async def _descriptions(cluster: Cluster, options: OptionSet) -> Descriptions:
    topic_id = parsed_topic_id(options.value("topic-id")) if options.has("topic-id") else NO_TOPIC_ID
    if topic_id != NO_TOPIC_ID:
        found = await existing_topic_id(cluster, options, topic_id)
        return await describe_topics_by_id(cluster, [found]) if found else {}
    names = await existing_topics(cluster, options)
    limit = options.value("partition-size-limit-per-response")
    per_answer = PARTITIONS_PER_ANSWER if limit is None else limit
    found_by_name = await describe_topics(cluster, names, partitions_per_answer=per_answer)
    return {name: found_by_name[name] for name in _as_admin_gives(names)}


def _as_admin_gives(names: list[str]) -> list[str]:
    """In the order of the maps that Kafka's admin client puts them into one after the other."""
    count = len(names)
    copied = in_hash_order(in_hash_order(names, count), capacity_of_copy(count))
    return in_hash_order(copied, count)


def _without_errors(descriptions: Descriptions) -> list[TopicDescription]:
    topics = []
    for description in descriptions.values():
        if isinstance(description, KafkaError):
            raise description
        topics.append(description)
    return topics


async def _configs(cluster: Cluster, topics: list[TopicDescription]) -> dict[str, Config]:
    resources = [ConfigResource(ResourceType.TOPIC, topic.name) for topic in topics]
    configs: dict[str, Config] = {}
    for resource, config in (await describe_configs(cluster, resources)).items():
        if isinstance(config, KafkaError):
            raise config
        configs[resource.name] = config
    return configs


async def _reassignments(cluster: Cluster, topics: list[TopicDescription]) -> Reassignments:
    """None where the cluster does not tell."""
    partitions = [TopicPartition(topic.name, each.partition) for topic in topics for each in topic.partitions]
    try:
        return await list_partition_reassignments(cluster, partitions) if partitions else {}
    except UnsupportedVersionError:
        return {}
    except KafkaError as error:
        if error.code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            return {}
        raise


class Report:
    def __init__(
        self,
        options: OptionSet,
        topic: TopicDescription,
        config: Config,
        reassignments: Reassignments,
        live_brokers: set[int],
    ) -> None:
        self._options = options
        self._topic = topic
        self._config = config
        self._reassignments = reassignments
        self._live_brokers = live_brokers
        self._checks = {
            "under-replicated-partitions": self._is_under_replicated,
            "unavailable-partitions": self._is_unavailable,
            "under-min-isr-partitions": self._is_under_min_isr,
            "at-min-isr-partitions": self._is_at_min_isr,
        }

    def print(self) -> None:
        asked = [check for option, check in self._checks.items() if self._options.has(option)]
        if not asked:
            self._print_topic()
        if self._options.has("topics-with-overrides"):
            return
        for partition in sorted(self._topic.partitions, key=lambda each: each.partition):
            if not asked or any(check(partition) for check in asked):
                self._print_partition(partition)

    def _print_topic(self) -> None:
        overrides = [
            f"{name}={_shown(self._config[name].value)}"
            for name in in_hash_order(self._config)
            if not self._config[name].is_default
        ]
        if self._options.has("topics-with-overrides") and not overrides:
            return
        topic = self._topic
        columns = [
            f"Topic: {topic.name}",
            *([f"TopicId: {topic.topic_id}"] if topic.topic_id != NO_TOPIC_ID else []),
            f"PartitionCount: {len(topic.partitions)}",
            f"ReplicationFactor: {self._replication_factor(topic.partitions[0])}",
            f"Configs: {','.join(overrides)}",
        ]
        print("\t".join(columns))

    def _print_partition(self, partition: TopicPartitionInfo) -> None:
        moving = self._reassignment_of(partition)
        columns = [
            "",
            f"Topic: {self._topic.name}",
            f"Partition: {partition.partition}",
            f"Leader: {'none' if partition.leader is None else partition.leader.id}",
            f"Replicas: {_ids(partition.replicas)}",
            f"Isr: {_ids(partition.isr)}",
        ]
        if moving is not None:
            columns.append(f"Adding Replicas: {_numbers(moving.adding)}")
            columns.append(f"Removing Replicas: {_numbers(moving.removing)}")
        columns.append(f"Elr: {'N/A' if partition.elr is None else _ids(partition.elr)}")
        known = partition.last_known_elr
        columns.append(f"LastKnownElr: {'N/A' if known is None else _ids(known)}")
        print("\t".join(columns))

    # --- partitions that are reported

    def _reassignment_of(self, partition: TopicPartitionInfo) -> PartitionReassignment | None:
        return self._reassignments.get(TopicPartition(self._topic.name, partition.partition))

    def _replication_factor(self, partition: TopicPartitionInfo) -> int:
        """Without those that are being added, as long as a reassignment is under way."""
        moving = self._reassignment_of(partition)
        changing = set() if moving is None else {*moving.adding, *moving.removing}
        if moving is None or not any(node.id in changing for node in partition.replicas):
            return len(partition.replicas)
        return len(moving.replicas) - len(moving.adding)

    @property
    def _min_isr(self) -> int:
        return int(self._config["min.insync.replicas"].value or 0)

    def _is_under_replicated(self, partition: TopicPartitionInfo) -> bool:
        return self._replication_factor(partition) > len(partition.isr)

    def _is_unavailable(self, partition: TopicPartitionInfo) -> bool:
        return partition.leader is None or partition.leader.id not in self._live_brokers

    def _is_under_min_isr(self, partition: TopicPartitionInfo) -> bool:
        return partition.leader is None or len(partition.isr) < self._min_isr

    def _is_at_min_isr(self, partition: TopicPartitionInfo) -> bool:
        return len(partition.isr) == self._min_isr


def _ids(nodes: tuple[Node, ...]) -> str:
    return _numbers(tuple(node.id for node in nodes))


def _numbers(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))


def _shown(value: str | None) -> str:
    return "null" if value is None else value
