"""How far groups of consumers are behind: up to the last record that is committed."""

from __future__ import annotations

from typing import NamedTuple

from penstock.client.admin.consumer_groups import ConsumerGroupDescription, ConsumerGroupMember
from penstock.client.admin.group_offsets import list_group_offsets
from penstock.client.admin.list_offsets import IsolationLevel, OffsetSpec, list_offsets
from penstock.rest.errors import not_found
from penstock.rest.kafka import Kafka
from penstock.rest.v3.groups import required_group
from penstock.rest.v3.partitions import partition_number
from penstock.rest.v3.resources import Links, Resource, links_of, listing
from penstock.types import TopicPartition
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.wire_client.errors import KafkaError


class Lag(NamedTuple):
    partition: TopicPartition
    member: ConsumerGroupMember | None
    current_offset: int
    log_end_offset: int

    @property
    def lag(self) -> int:
        return self.log_end_offset - self.current_offset

    @property
    def consumer_id(self) -> str:
        return self.member.member_id if self.member is not None else ""

    @property
    def instance_id(self) -> str | None:
        return self.member.instance_id if self.member is not None else None

    @property
    def client_id(self) -> str:
        return self.member.client_id if self.member is not None else ""


async def _lags_of(kafka: Kafka, group: ConsumerGroupDescription) -> list[Lag]:
    """Of all partitions that the group has committed offsets of; those that are gone are left out."""
    committed = await list_group_offsets(kafka.cluster, group.group_id)
    offsets = {partition: each.offset for partition, each in committed.items() if each is not None}
    if not offsets:
        raise not_found("Consumer group offsets could not be found.")
    ends = await list_offsets(
        kafka.cluster,
        dict.fromkeys(offsets, OffsetSpec.LATEST),
        isolation_level=IsolationLevel.READ_COMMITTED,
    )
    owners = {partition: member for member in group.members for partition in member.assignment}
    return [
        Lag(partition, owners.get(partition), offset, end.offset)
        for partition, offset in sorted(offsets.items())
        if not isinstance(end := ends[partition], KafkaError)
    ]


async def list_lags(kafka: Kafka, request: Request) -> Response:
    """List how far a consumer group is behind in each partition, the farthest first."""
    links = await links_of(kafka, request)
    group = await required_group(kafka, request)
    lags = sorted(await _lags_of(kafka, group), key=lambda each: each.lag, reverse=True)
    address = links.to("consumer-groups", group.group_id, "lags")
    return listing("KafkaConsumerLag", address, (_lag(links, group.group_id, each) for each in lags))


async def get_lag(kafka: Kafka, request: Request) -> Response:
    """Get how far a consumer group is behind in a partition."""
    links = await links_of(kafka, request)
    partition = TopicPartition(request.path["topic_name"], partition_number(request))
    group = await required_group(kafka, request)
    for each in await _lags_of(kafka, group):
        if each.partition == partition:
            return json_response(_lag(links, group.group_id, each))
    raise not_found(f"Consumer group {group.group_id} has no offset of {partition}.")


def _lag(links: Links, group_id: str, lag: Lag) -> Resource:
    topic, number = lag.partition
    return links.resource(
        "KafkaConsumerLag",
        links.to("consumer-groups", group_id, "lags", topic, "partitions", number),
        f"/consumer-group={group_id}/lag={topic}/partition={number}",
        {
            "consumer_group_id": group_id,
            "topic_name": topic,
            "partition_id": number,
            "consumer_id": lag.consumer_id,
            "instance_id": lag.instance_id,
            "client_id": lag.client_id,
            "current_offset": lag.current_offset,
            "log_end_offset": lag.log_end_offset,
            "lag": lag.lag,
        },
    )


async def get_lag_summary(kafka: Kafka, request: Request) -> Response:
    """Get how far a consumer group is behind in all, and where it is behind the most."""
    links = await links_of(kafka, request)
    group = await required_group(kafka, request)
    lags = await _lags_of(kafka, group)
    if not lags:
        raise not_found("Consumer group offsets could not be found.")
    worst = max(lags, key=lambda each: each.lag)
    topic, number = worst.partition
    steps = ("consumer-groups", group.group_id)
    return json_response(
        links.resource(
            "KafkaConsumerGroupLagSummary",
            links.to(*steps, "lag-summary"),
            f"/consumer-group={group.group_id}/lag-summary",
            {
                "consumer_group_id": group.group_id,
                "max_lag_consumer_id": worst.consumer_id,
                "max_lag_instance_id": worst.instance_id,
                "max_lag_client_id": worst.client_id,
                "max_lag_topic_name": topic,
                "max_lag_partition_id": number,
                "max_lag": worst.lag,
                "total_lag": sum(each.lag for each in lags),
                "max_lag_consumer": links.related(*steps, "consumers", worst.consumer_id),
                "max_lag_partition": links.related("topics", topic, "partitions", number),
            },
        )
    )
