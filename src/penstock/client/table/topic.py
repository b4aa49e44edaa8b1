"""Topics that keep a service's state: made if they are missing, refused if they would lose it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.client.admin.configs import cleanup_policy
from penstock.client.admin.topic_changes import NewTopic, create_topics
from penstock.client.admin.topic_descriptions import TopicDescription, describe_topics
from penstock.errors import ConfigError, ErrorCode
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.client.table")


class WrongTopic(ConfigError):
    """The topic is there, but not fit to keep state; nothing but an operator can help."""


@dataclass(frozen=True, slots=True)
class TableTopic:
    key: str
    """The setting that names it."""
    name: str
    partitions: int
    replication_factor: int
    purpose: str
    service: str
    """Whose it is, as in "Connect cluster"."""
    settings: str
    """Where the setting stands, as in "Connect worker configurations"."""
    has_one_partition: bool = False
    configs: Mapping[str, str] = field(default_factory=dict)


async def prepare_topic(cluster: Cluster, topic: TableTopic) -> TopicDescription:
    found = (await describe_topics(cluster, [topic.name]))[topic.name]
    if isinstance(found, TopicDescription):
        await _check(cluster, topic, found)
        return found
    if found.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        raise found
    await _create(cluster, topic)
    found = (await describe_topics(cluster, [topic.name]))[topic.name]
    if isinstance(found, KafkaError):
        raise found
    return found


async def _create(cluster: Cluster, topic: TableTopic) -> None:
    replicas = topic.replication_factor if topic.replication_factor > 0 else None
    brokers = len((await cluster.describe()).nodes)
    if replicas is not None and replicas > brokers:
        log.warning(
            "creating topic %s with %d replicas instead of %d (%s): there are no more brokers",
            *(topic.name, brokers, replicas, topic.key.removesuffix("topic") + "replication.factor"),
        )
        replicas = brokers
    partitions = topic.partitions if topic.partitions > 0 else None
    new = NewTopic(topic.name, partitions, replicas, configs=topic.configs)
    made = (await create_topics(cluster, [new]))[new.name]
    if isinstance(made, KafkaError):
        raise made  # somebody else may just have made it: the next attempt finds it, and sees whether it is fit


async def _check(cluster: Cluster, topic: TableTopic, found: TopicDescription) -> None:
    if topic.has_one_partition and len(found.partitions) > 1:
        raise WrongTopic(
            f"Topic '{topic.name}' supplied via the '{topic.key}' property is required to have a single partition "
            f"in order to guarantee consistency of {topic.purpose}, but found {len(found.partitions)} partitions."
        )
    policy = await cleanup_policy(cluster, topic.name)
    if policy != "compact":
        raise WrongTopic(
            f"Topic '{topic.name}' supplied via the '{topic.key}' property is required to have "
            f"'cleanup.policy=compact' to guarantee consistency and durability of {topic.purpose}, "
            f"but found the topic currently has 'cleanup.policy={policy}'. Continuing would likely result in "
            f"eventually losing {topic.purpose} and problems restarting this {topic.service} in the future. Change "
            f"the '{topic.key}' property in the {topic.settings} to use a topic with "
            f"'cleanup.policy=compact'."
        )
