"""Groups whose members share the records of a partition, and the offsets from which they still have some to see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.client.admin.consumer_groups import coordinator_of
from penstock.client.admin.group_offsets import by_topic
from penstock.client.admin.groups import GroupState
from penstock.types import TopicPartition
from penstock.wire.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
)
from penstock.wire.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
    DeleteShareGroupOffsetsResponse,
)
from penstock.wire.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponse,
)
from penstock.wire.messages.share_group_describe import (
    Assignment,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)
from penstock.wire_client import Cluster, Node
from penstock.wire_client.errors import KafkaError, error_for, raise_for


@dataclass(frozen=True, slots=True)
class ShareGroupMember:
    member_id: str
    client_id: str
    host: str
    epoch: int
    assignment: frozenset[TopicPartition]
    rack_id: str | None = None


@dataclass(frozen=True, slots=True)
class ShareGroupDescription:
    group_id: str
    state: GroupState
    coordinator: Node
    members: tuple[ShareGroupMember, ...]
    epoch: int
    target_assignment_epoch: int


@dataclass(frozen=True, slots=True)
class SharePartitionOffset:
    start_offset: int
    leader_epoch: int | None
    lag: int | None


async def describe_share_groups(
    cluster: Cluster, group_ids: Iterable[str]
) -> dict[str, ShareGroupDescription]:
    ids = list(dict.fromkeys(group_ids))
    described = await cluster.each(describe_share_group(cluster, group_id) for group_id in ids)
    return dict(zip(ids, described, strict=True))


async def describe_share_group(cluster: Cluster, group_id: str) -> ShareGroupDescription:
    coordinator = await coordinator_of(cluster, group_id)
    answer = await cluster.ask_coordinator(
        group_id,
        ShareGroupDescribeRequest([group_id]),
        ShareGroupDescribeResponse,
        error_of=lambda said: said.groups[0].error_code,
    )
    group = answer.groups[0]
    raise_for(group.error_code, group.error_message)
    members = tuple(
        ShareGroupMember(
            member.member_id,
            member.client_id,
            member.client_host,
            member.member_epoch,
            _partitions(member.assignment),
            member.rack_id,
        )
        for member in group.members
    )
    state = GroupState.parse(group.group_state)
    return ShareGroupDescription(
        group_id, state, coordinator, members, group.group_epoch, group.assignment_epoch
    )


def _partitions(assignment: Assignment | None) -> frozenset[TopicPartition]:
    topics = assignment.topic_partitions if assignment is not None else ()
    return frozenset(TopicPartition(topic.topic_name, each) for topic in topics for each in topic.partitions)


async def list_share_group_offsets(
    cluster: Cluster, group_id: str, partitions: Iterable[TopicPartition] | None = None
) -> dict[TopicPartition, SharePartitionOffset | None]:
    """Of these partitions, or of all that the group reads; None where nothing has been read yet."""
    topics = None if partitions is None else by_topic(partitions)
    asked = (
        None
        if topics is None
        else [DescribeShareGroupOffsetsRequestTopic(topic, each) for topic, each in topics.items()]
    )
    answer = await cluster.ask_coordinator(
        group_id,
        DescribeShareGroupOffsetsRequest([DescribeShareGroupOffsetsRequestGroup(group_id, asked)]),
        DescribeShareGroupOffsetsResponse,
        error_of=lambda said: said.groups[0].error_code,
    )
    group = answer.groups[0]
    raise_for(group.error_code, group.error_message)
    return {
        TopicPartition(topic.topic_name, each.partition_index): _offset(
            each.start_offset, each.leader_epoch, each.lag
        )
        for topic in group.topics
        for each in topic.partitions
        if not each.error_code
    }


def _offset(start_offset: int, leader_epoch: int, lag: int) -> SharePartitionOffset | None:
    if start_offset < 0:
        return None
    return SharePartitionOffset(
        start_offset, leader_epoch if leader_epoch >= 0 else None, lag if lag >= 0 else None
    )


async def alter_share_group_offsets(
    cluster: Cluster, group_id: str, start_offsets: Mapping[TopicPartition, int]
) -> dict[TopicPartition, KafkaError | None]:
    """Has a group that is empty begin elsewhere; for each partition, why it could not be."""
    topics = [
        AlterShareGroupOffsetsRequestTopic(
            topic,
            [
                AlterShareGroupOffsetsRequestPartition(each, start_offsets[TopicPartition(topic, each)])
                for each in partitions
            ],
        )
        for topic, partitions in by_topic(start_offsets).items()
    ]
    answer = await cluster.ask_coordinator(
        group_id, AlterShareGroupOffsetsRequest(group_id, topics), AlterShareGroupOffsetsResponse
    )
    if answer.error_code:
        return dict.fromkeys(start_offsets, error_for(answer.error_code, answer.error_message))
    return {
        TopicPartition(topic.topic_name, each.partition_index): error_or_none(
            each.error_code, each.error_message
        )
        for topic in answer.responses
        for each in topic.partitions
    }


async def delete_share_group_offsets(
    cluster: Cluster, group_id: str, topics: Iterable[str]
) -> dict[str, KafkaError | None]:
    """Forgets topics that a group that is empty has read; for each, why it could not be."""
    asked = [DeleteShareGroupOffsetsRequestTopic(topic) for topic in dict.fromkeys(topics)]
    answer = await cluster.ask_coordinator(
        group_id, DeleteShareGroupOffsetsRequest(group_id, asked), DeleteShareGroupOffsetsResponse
    )
    raise_for(answer.error_code, answer.error_message)
    return {
        topic.topic_name: error_or_none(topic.error_code, topic.error_message) for topic in answer.responses
    }


def error_or_none(code: int, message: str | None) -> KafkaError | None:
    return error_for(code, message) if code else None
