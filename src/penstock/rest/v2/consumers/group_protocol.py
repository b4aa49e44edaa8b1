"""What members of a group tell each other through its coordinator, and who gets which partitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.group.assignors import MemberSpec, assign_range
from penstock.group.consumer_protocol import (
    AssignedPartitions,
    NamedPartitions,
    Subscription,
    decode_assignment,
    decode_subscription,
    encode,
)
from penstock.types import TopicPartition

PROTOCOL_TYPE, ASSIGNOR = "consumer", "range"
SUBSCRIPTION_VERSION, ASSIGNMENT_VERSION = 1, 0


def subscription_bytes(topics: Iterable[str]) -> bytes:
    return encode(Subscription(sorted(topics)), SUBSCRIPTION_VERSION)


def subscribed_topics(data: bytes) -> frozenset[str]:
    return frozenset(decode_subscription(data).topics)


def assigned_partitions(data: bytes) -> list[TopicPartition]:
    if not data:
        return []
    named = decode_assignment(data).assigned_partitions
    return [TopicPartition(each.topic, number) for each in named for number in each.partitions]


def assign(
    members: Mapping[str, tuple[str | None, frozenset[str]]], counts: Mapping[str, int]
) -> dict[str, bytes]:
    """For each member, with its instance id and its topics, the bytes of its assignment."""
    known = {name: count for name, count in counts.items() if count}
    specs = [
        MemberSpec(
            member_id, instance_id, None, frozenset(each.encode() for each in topics if each in known), {}
        )
        for member_id, (instance_id, topics) in members.items()
    ]
    assigned = assign_range(specs, {name.encode(): count for name, count in known.items()})
    return {
        member_id: encode(
            AssignedPartitions(
                [NamedPartitions(topic.decode(), sorted(numbers)) for topic, numbers in sorted(each.items())]
            ),
            ASSIGNMENT_VERSION,
        )
        for member_id, each in assigned.items()
    }
