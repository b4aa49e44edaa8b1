"""Groups of consumers, their members, and what each member is to read."""

from __future__ import annotations

import re

from penstock.client.admin.consumer_groups import (
    ConsumerGroupDescription,
    ConsumerGroupMember,
    NotAConsumerGroupError,
    describe_consumer_group,
    describe_consumer_groups,
)
from penstock.client.admin.groups import GroupState, GroupType, list_consumer_groups
from penstock.errors import ErrorCode
from penstock.rest.errors import not_found
from penstock.rest.kafka import Kafka
from penstock.rest.v3.partitions import partition_number
from penstock.rest.v3.resources import Links, Resource, links_of, listing
from penstock.types import TopicPartition
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.wire_client.errors import KafkaError

_WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])")


async def list_groups(kafka: Kafka, request: Request) -> Response:
    """List the consumer groups."""
    links = await links_of(kafka, request)
    simple = await _simple_by_group(kafka)
    described = await describe_consumer_groups(kafka.cluster, sorted(simple))
    found = [_group(links, group, simple[group_id]) for group_id, group in described.items()]
    return listing("KafkaConsumerGroup", links.to("consumer-groups"), found)


async def get_group(kafka: Kafka, request: Request) -> Response:
    """Get a consumer group."""
    links = await links_of(kafka, request)
    group = await required_group(kafka, request)
    simple = await _simple_by_group(kafka)
    return json_response(_group(links, group, simple.get(group.group_id, False)))


async def _simple_by_group(kafka: Kafka) -> dict[str, bool]:
    """Of each group whether it is a simple one: it has offsets, and never had members."""
    return {each.group_id: not each.protocol for each in await list_consumer_groups(kafka.cluster)}


async def required_group(kafka: Kafka, request: Request) -> ConsumerGroupDescription:
    """The group that the path names."""
    group_id = request.path["consumer_group_id"]
    missing = not_found(f"Consumer Group {group_id} could not be found.")
    try:
        group = await describe_consumer_group(kafka.cluster, group_id)
    except NotAConsumerGroupError:
        raise missing from None
    except KafkaError as error:
        raise missing if error.code == ErrorCode.GROUP_ID_NOT_FOUND else error from None
    if group.state is GroupState.DEAD:
        raise missing
    return group


def _group(links: Links, group: ConsumerGroupDescription, is_simple: bool) -> Resource:
    steps = ("consumer-groups", group.group_id)
    return links.resource(
        "KafkaConsumerGroup",
        links.to(*steps),
        f"/consumer-group={group.group_id}",
        {
            "consumer_group_id": group.group_id,
            "is_simple": is_simple,
            "partition_assignor": group.assignor,
            "state": _WORD_START.sub("_", group.state.value).upper(),
            "type": group.type.value.upper(),
            "is_mixed_consumer_group": _is_mixed(group),
            "coordinator": links.related("brokers", group.coordinator.id),
            "consumers": links.related(*steps, "consumers"),
            "lag_summary": links.related(*steps, "lag-summary"),
        },
    )


def _is_mixed(group: ConsumerGroupDescription) -> bool:
    """Whether members of the classic protocol take part in a group of the newer one."""
    return group.type is GroupType.CONSUMER and any(member.is_upgraded is False for member in group.members)


# --- members


async def list_consumers(kafka: Kafka, request: Request) -> Response:
    """List the members of a consumer group."""
    links = await links_of(kafka, request)
    group = await required_group(kafka, request)
    members = sorted(group.members, key=lambda member: member.member_id)
    address = links.to("consumer-groups", group.group_id, "consumers")
    return listing("KafkaConsumer", address, (_consumer(links, group, member) for member in members))


async def get_consumer(kafka: Kafka, request: Request) -> Response:
    """Get a member of a consumer group."""
    links = await links_of(kafka, request)
    group = await required_group(kafka, request)
    return json_response(_consumer(links, group, _required_member(group, request)))


def _required_member(group: ConsumerGroupDescription, request: Request) -> ConsumerGroupMember:
    wanted = request.path["consumer_id"]
    for member in group.members:
        if member.member_id == wanted:
            return member
    raise not_found(f"Consumer {wanted} could not be found in group {group.group_id}.")


def _consumer(links: Links, group: ConsumerGroupDescription, member: ConsumerGroupMember) -> Resource:
    steps = ("consumer-groups", group.group_id, "consumers", member.member_id)
    return links.resource(
        "KafkaConsumer",
        links.to(*steps),
        f"/consumer-group={group.group_id}/consumer={member.member_id}",
        {
            "consumer_group_id": group.group_id,
            "consumer_id": member.member_id,
            "instance_id": member.instance_id,
            "client_id": member.client_id,
            "assignments": links.related(*steps, "assignments"),
        },
    )


# --- assignments


async def list_assignments(kafka: Kafka, request: Request) -> Response:
    """List the partitions that a member is to read."""
    links = await links_of(kafka, request)
    group = await required_group(kafka, request)
    member = _required_member(group, request)
    address = links.to("consumer-groups", group.group_id, "consumers", member.member_id, "assignments")
    found = (_assignment(links, group, member, each) for each in sorted(member.assignment))
    return listing("KafkaConsumerAssignment", address, found)


async def get_assignment(kafka: Kafka, request: Request) -> Response:
    """Get the assignment of a partition to a member."""
    links = await links_of(kafka, request)
    group = await required_group(kafka, request)
    member = _required_member(group, request)
    partition = TopicPartition(request.path["topic_name"], partition_number(request))
    if partition not in member.assignment:
        raise not_found(f"{partition} is not assigned to consumer {member.member_id}.")
    return json_response(_assignment(links, group, member, partition))


def _assignment(
    links: Links, group: ConsumerGroupDescription, member: ConsumerGroupMember, partition: TopicPartition
) -> Resource:
    topic, number = partition
    of_group = ("consumer-groups", group.group_id)
    place = (topic, "partitions", number)
    name = (
        f"/consumer-group={group.group_id}/consumer={member.member_id}/assignment={topic}/partition={number}"
    )
    return links.resource(
        "KafkaConsumerAssignment",
        links.to(*of_group, "consumers", member.member_id, "assignments", *place),
        name,
        {
            "consumer_group_id": group.group_id,
            "consumer_id": member.member_id,
            "topic_name": topic,
            "partition_id": number,
            "partition": links.related("topics", *place),
            "lag": links.related(*of_group, "lags", *place),
        },
    )
