"""Groups, and the offsets that they have committed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.client.admin import consumer_groups, group_offsets, groups, share_groups, streams_groups
from penstock.client.admin import list_offsets as offsets
from penstock.client.admin.calls.outcome import raise_failed, unless_failed
from penstock.client.admin.consumer_groups import ConsumerGroupDescription
from penstock.client.admin.group_offsets import CommittedOffset
from penstock.client.admin.groups import GroupListing, GroupState, GroupType
from penstock.client.admin.list_offsets import ListedOffset, OffsetSpec
from penstock.client.admin.share_groups import ShareGroupDescription
from penstock.client.admin.streams_groups import StreamsGroupDescription
from penstock.types import TopicPartition
from penstock.wire_client import Cluster


async def list_groups(
    cluster: Cluster, *, states: Iterable[GroupState] = (), types: Iterable[GroupType] = ()
) -> list[GroupListing]:
    """The groups that there are: of consumers of either protocol, share groups and streams groups.

    >>> admin.list_groups()
    []
    """
    return await groups.list_groups(cluster, states=tuple(states), types=tuple(types))


async def describe_consumer_groups(
    cluster: Cluster, group_ids: Iterable[str]
) -> dict[str, ConsumerGroupDescription]:
    """State, members and assignments of each group of consumers.

    >>> from penstock import KafkaConsumer
    >>> created = admin.create_topic("orders")
    >>> with KafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
    ...     consumer.subscribe("orders")
    ...     while not consumer.assignment():
    ...         records = consumer.poll(timeout=1.0)
    ...     admin.describe_consumer_groups(["billing"])["billing"].state
    <GroupState.STABLE: 'Stable'>
    """
    return await consumer_groups.describe_consumer_groups(cluster, group_ids)


async def describe_share_groups(
    cluster: Cluster, group_ids: Iterable[str]
) -> dict[str, ShareGroupDescription]:
    """State and members of each share group.

    admin.describe_share_groups(["workers"])["workers"].members
    """
    return await share_groups.describe_share_groups(cluster, group_ids)


async def describe_streams_groups(
    cluster: Cluster, group_ids: Iterable[str]
) -> dict[str, StreamsGroupDescription]:
    """State, topology and members with their tasks of each group of a Kafka Streams program.

    admin.describe_streams_groups(["word-count"])["word-count"].subtopologies
    """
    return await streams_groups.describe_streams_groups(cluster, group_ids)


async def delete_groups(cluster: Cluster, group_ids: Iterable[str]) -> None:
    """Deletes groups that have no members, with the offsets that they have committed.

    >>> admin.delete_groups(["nobody"])
    Traceback (most recent call last):
    penstock.wire_client.errors.KafkaError: nobody: The group id does not exist.
    """
    raise_failed(await groups.delete_groups(cluster, group_ids))


async def committed_offsets(
    cluster: Cluster, group_id: str, partitions: Iterable[TopicPartition] | None = None
) -> dict[TopicPartition, CommittedOffset | None]:
    """What a group has committed: for these partitions (None where nothing is), or for all that it has.

    >>> admin.committed_offsets("nobody")
    {}
    """
    return await group_offsets.list_group_offsets(cluster, group_id, partitions)


async def alter_group_offsets(
    cluster: Cluster, group_id: str, committed: Mapping[TopicPartition, int | CommittedOffset]
) -> None:
    """Has a group that has no members go on from other offsets.

    >>> created = admin.create_topic("orders")
    >>> from penstock.client import TopicPartition
    >>> admin.alter_group_offsets("billing", {TopicPartition("orders", 0): 0})
    >>> admin.committed_offsets("billing")[TopicPartition("orders", 0)].offset
    0
    """
    wanted = {
        partition: CommittedOffset(offset) if isinstance(offset, int) else offset
        for partition, offset in committed.items()
    }
    raise_failed(await group_offsets.alter_group_offsets(cluster, group_id, wanted))


async def delete_group_offsets(cluster: Cluster, group_id: str, partitions: Iterable[TopicPartition]) -> None:
    """Forgets what a group has committed for these partitions, of topics that no member reads.

    >>> created = admin.create_topic("orders")
    >>> from penstock.client import TopicPartition
    >>> admin.alter_group_offsets("billing", {TopicPartition("orders", 0): 0})
    >>> admin.delete_group_offsets("billing", [TopicPartition("orders", 0)])
    """
    raise_failed(await group_offsets.delete_group_offsets(cluster, group_id, partitions))


async def list_offsets(
    cluster: Cluster, wanted: Mapping[TopicPartition, OffsetSpec | int]
) -> dict[TopicPartition, ListedOffset]:
    """The earliest or latest offset of each partition, or the first one with at least a timestamp (milliseconds).

    >>> created = admin.create_topic("orders")
    >>> from penstock.client import OffsetSpec, TopicPartition
    >>> partition = TopicPartition("orders", 0)
    >>> admin.list_offsets({partition: OffsetSpec.LATEST})[partition].offset
    0
    """
    return unless_failed(await offsets.list_offsets(cluster, dict(wanted)))
