"""Groups of consumers, of the classic protocol and of the newer one, as one kind of thing.

A group is looked up as one of the newer protocol first. Where there is none, or where the broker does not know the
protocol, it is looked up as a classic one; if neither is there, the first answer says why in the better words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.client.admin.groups import CONSUMER_PROTOCOL_TYPES, GroupState, GroupType
from penstock.client.admin.member_assignments import decode_assignment
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire.messages import consumer_group_describe, describe_groups
from penstock.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from penstock.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from penstock.wire_client import Cluster, Node
from penstock.wire_client.errors import KafkaError, UnsupportedVersionError, error_for

UNKNOWN_MEMBER_TYPE = -1
NEWER_MEMBER_TYPE = 1
_LOOK_FOR_A_CLASSIC_ONE = {ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION}


@dataclass(frozen=True, slots=True)
class ConsumerGroupMember:
    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    assignment: frozenset[TopicPartition]
    target_assignment: frozenset[TopicPartition] = frozenset()
    epoch: int | None = None
    """None in a classic group; so are all that follow."""
    is_upgraded: bool | None = None
    rack_id: str | None = None


@dataclass(frozen=True, slots=True)
class ConsumerGroupDescription:
    group_id: str
    type: GroupType
    state: GroupState
    assignor: str
    coordinator: Node
    members: tuple[ConsumerGroupMember, ...]
    epoch: int | None = None
    target_assignment_epoch: int | None = None


async def describe_consumer_groups(
    cluster: Cluster, group_ids: Iterable[str]
) -> dict[str, ConsumerGroupDescription]:
    ids = list(dict.fromkeys(group_ids))
    described = await cluster.each(describe_consumer_group(cluster, group_id) for group_id in ids)
    return dict(zip(ids, described, strict=True))


async def describe_consumer_group(cluster: Cluster, group_id: str) -> ConsumerGroupDescription:
    coordinator = await coordinator_of(cluster, group_id)
    try:
        newer = await cluster.ask_coordinator(
            group_id,
            ConsumerGroupDescribeRequest([group_id]),
            ConsumerGroupDescribeResponse,
            error_of=lambda said: said.groups[0].error_code,
        )
    except UnsupportedVersionError:
        return await _describe_classic_group(cluster, group_id, coordinator, None)
    group = newer.groups[0]
    if group.error_code in _LOOK_FOR_A_CLASSIC_ONE:
        return await _describe_classic_group(cluster, group_id, coordinator, group.error_message)
    if group.error_code:
        raise error_for(group.error_code, group.error_message)
    return ConsumerGroupDescription(
        group_id,
        GroupType.CONSUMER,
        GroupState.parse(group.group_state),
        group.assignor_name,
        coordinator,
        tuple(_newer_member(member) for member in group.members),
        group.group_epoch,
        group.assignment_epoch,
    )


async def coordinator_of(cluster: Cluster, group_id: str) -> Node:
    node_id = await cluster.find_coordinator(group_id)
    node = (await cluster.describe()).node(node_id)
    if node is None:
        raise error_for(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return node


def _newer_member(member: consumer_group_describe.Member) -> ConsumerGroupMember:
    is_upgraded = (
        None if member.member_type == UNKNOWN_MEMBER_TYPE else member.member_type == NEWER_MEMBER_TYPE
    )
    return ConsumerGroupMember(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        _partitions(member.assignment),
        _partitions(member.target_assignment),
        member.member_epoch,
        is_upgraded,
        member.rack_id,
    )


def _partitions(assignment: consumer_group_describe.Assignment | None) -> frozenset[TopicPartition]:
    topics = assignment.topic_partitions if assignment is not None else ()
    return frozenset(TopicPartition(topic.topic_name, each) for topic in topics for each in topic.partitions)


async def _describe_classic_group(
    cluster: Cluster, group_id: str, coordinator: Node, why_not_newer: str | None
) -> ConsumerGroupDescription:
    answer = await cluster.ask_coordinator(
        group_id,
        DescribeGroupsRequest([group_id]),
        DescribeGroupsResponse,
        error_of=lambda said: said.groups[0].error_code,
    )
    group = answer.groups[0]
    if group.error_code == ErrorCode.GROUP_ID_NOT_FOUND:
        raise error_for(group.error_code, why_not_newer or group.error_message)
    if group.error_code:
        raise error_for(group.error_code, group.error_message)
    if group.protocol_type not in CONSUMER_PROTOCOL_TYPES:
        raise NotAConsumerGroupError(f"GroupId {group_id} is not a consumer group ({group.protocol_type}).")
    return ConsumerGroupDescription(
        group_id,
        GroupType.CLASSIC,
        GroupState.parse(group.group_state),
        group.protocol_data,
        coordinator,
        tuple(_classic_member(member) for member in group.members),
    )


class NotAConsumerGroupError(KafkaError):
    """There is a classic group of that name, for something else than consuming."""

    JAVA_NAME = "java.lang.IllegalArgumentException"


def _classic_member(member: describe_groups.DescribedGroupMember) -> ConsumerGroupMember:
    return ConsumerGroupMember(
        member.member_id,
        member.group_instance_id,
        member.client_id,
        member.client_host,
        decode_assignment(bytes(member.member_assignment)),
    )
