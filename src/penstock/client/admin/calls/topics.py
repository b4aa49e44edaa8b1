"""Topics and their records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from penstock.client.admin import records, topic_changes, topic_descriptions
from penstock.client.admin import topics as listing
from penstock.client.admin.calls.outcome import raise_failed, unless_failed
from penstock.client.admin.topic_changes import CreatedTopic, NewPartitions, NewTopic
from penstock.client.admin.topic_descriptions import TopicDescription
from penstock.client.admin.topics import TopicListing
from penstock.types import TopicPartition
from penstock.wire_client import Cluster


async def list_topics(cluster: Cluster, *, include_internal: bool = False) -> list[TopicListing]:
    """The topics that there are; Kafka's own, such as `__consumer_offsets`, only on request.

    >>> admin.create_topic("orders")
    CreatedTopic(name='orders', ...)
    >>> [topic.name for topic in admin.list_topics()]
    ['orders']
    """
    return await listing.list_topics(cluster, include_internal=include_internal)


async def describe_topics(cluster: Cluster, names: Iterable[str]) -> dict[str, TopicDescription]:
    """Partitions, leaders and replicas of each topic.

    >>> created = admin.create_topic("orders", partitions=3)
    >>> len(admin.describe_topics(["orders"])["orders"].partitions)
    3
    """
    return unless_failed(await topic_descriptions.describe_topics(cluster, names))


async def create_topic(
    cluster: Cluster,
    name: str,
    *,
    partitions: int | None = None,
    replication_factor: int | None = None,
    configs: Mapping[str, str] | None = None,
    validate_only: bool = False,
) -> CreatedTopic:
    """Creates a topic; what is not given is as the broker's settings say.

    >>> admin.create_topic("prices", partitions=3, configs={"cleanup.policy": "compact"}).num_partitions
    3
    >>> admin.create_topic("prices")
    Traceback (most recent call last):
    penstock.wire_client.errors.KafkaError: Topic 'prices' already exists.
    """
    topic = NewTopic(name, partitions, replication_factor, configs=configs or {})
    return (await create_topics(cluster, [topic], validate_only=validate_only))[name]


async def create_topics(
    cluster: Cluster, topics: Iterable[NewTopic], *, validate_only: bool = False
) -> dict[str, CreatedTopic]:
    """Creates several topics at once. Those that can be are created, also if another cannot.

    >>> from penstock.client import NewTopic
    >>> sorted(admin.create_topics([NewTopic("a"), NewTopic("b", num_partitions=2)]))
    ['a', 'b']
    """
    return unless_failed(await topic_changes.create_topics(cluster, topics, validate_only=validate_only))


async def delete_topics(cluster: Cluster, names: Iterable[str]) -> None:
    """Deletes topics, with their records.

    >>> created = admin.create_topic("orders")
    >>> admin.delete_topics(["orders"])
    >>> admin.list_topics()
    []
    """
    raise_failed(await topic_changes.delete_topics(cluster, names))


async def add_partitions(
    cluster: Cluster, topic: str, total: int, *, new_replicas: Sequence[Sequence[int]] | None = None
) -> None:
    """Lets a topic have `total` partitions; it cannot have fewer than before.

    >>> created = admin.create_topic("orders", partitions=1)
    >>> admin.add_partitions("orders", 4)
    """
    raise_failed(await topic_changes.create_partitions(cluster, {topic: NewPartitions(total, new_replicas)}))


async def delete_records(cluster: Cluster, before: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    """Deletes what lies before these offsets (-1: all); gives the lowest offset that each partition has then.

    >>> created = admin.create_topic("orders")
    >>> from penstock.client import TopicPartition
    >>> admin.delete_records({TopicPartition("orders", 0): -1})
    {TopicPartition(topic='orders', partition=0): 0}
    """
    return unless_failed(await records.delete_records(cluster, before))
