"""The topic that keeps the schemas: made if it is missing, refused if it would lose them."""

import logging

from penstock.client.admin.configs import cleanup_policy
from penstock.client.admin.topic_changes import NewTopic, create_topics
from penstock.client.admin.topic_descriptions import TopicDescription, describe_topics
from penstock.errors import ConfigError, ErrorCode
from penstock.registry.settings import RegistrySettings
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.registry")


class WrongTopic(ConfigError):
    """The topic is there, but not fit to keep schemas; nothing but an operator can help."""


async def prepare_topic(cluster: Cluster, settings: RegistrySettings) -> str:
    """The id of the topic, which is another one if the topic was deleted and made again."""
    name = settings.kafkastore_topic
    found = (await describe_topics(cluster, [name]))[name]
    if isinstance(found, KafkaError) and found.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        raise found
    if settings.kafkastore_topic_skip_validation:
        return found.topic_id if isinstance(found, TopicDescription) else ""
    if isinstance(found, TopicDescription):
        await _check(cluster, settings, found)
        return found.topic_id
    return await _create(cluster, settings)


async def _create(cluster: Cluster, settings: RegistrySettings) -> str:
    wanted = settings.kafkastore_topic_replication_factor
    replicas = min(wanted, len((await cluster.describe()).nodes))
    if replicas < wanted:
        log.warning(
            "creating topic %s with %d replicas instead of kafkastore.topic.replication.factor=%d: "
            "there are no more brokers",
            *(settings.kafkastore_topic, replicas, wanted),
        )
    new = NewTopic(settings.kafkastore_topic, 1, replicas, configs=settings.topic_configs)
    made = (await create_topics(cluster, [new]))[new.name]
    if isinstance(made, KafkaError):
        raise made  # somebody else may just have made it: the next attempt will find it
    return made.topic_id


async def _check(cluster: Cluster, settings: RegistrySettings, topic: TopicDescription) -> None:
    if len(topic.partitions) != 1:
        raise WrongTopic(
            f"kafkastore.topic: the schema topic {topic.name} should have only 1 partition "
            f"but has {len(topic.partitions)}"
        )
    if len(topic.partitions[0].replicas) < settings.kafkastore_topic_replication_factor:
        log.warning(
            "topic %s has fewer replicas than kafkastore.topic.replication.factor=%d",
            *(topic.name, settings.kafkastore_topic_replication_factor),
        )
    policy = await cleanup_policy(cluster, topic.name)
    if policy != "compact":
        raise WrongTopic(
            f"kafkastore.topic: the retention policy of the schema topic {topic.name} is incorrect: "
            f"expected cleanup.policy to be 'compact' but it is {policy}; set it, or Kafka deletes schemas"
        )
