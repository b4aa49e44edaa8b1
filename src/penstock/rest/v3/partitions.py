"""Partitions of a topic, their replicas, their offsets, and where they are being moved to."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.client.admin.list_offsets import OffsetSpec, list_offsets
from penstock.client.admin.reassignments import PartitionReassignment, list_partition_reassignments
from penstock.rest.errors import bad_field, not_found
from penstock.rest.fields import Parameter, read_integer
from penstock.rest.kafka import Kafka
from penstock.rest.v3.clusters import required_broker
from penstock.rest.v3.resources import Links, Resource, links_of, listing
from penstock.rest.v3.topics import described_topics, required_topic
from penstock.types import TopicPartition
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.wire.messages.metadata import MetadataResponsePartition
from penstock.wire_client.errors import KafkaError

BOTH_ENDS = "earliest_and_latest"
OFFSET_TYPE = Parameter("offset_type", str, f"Only {BOTH_ENDS}, which it is if not given.")


async def list_partitions(kafka: Kafka, request: Request) -> Response:
    """List the partitions of a topic."""
    links = await links_of(kafka, request)
    topic = await required_topic(kafka, request)
    name = topic.name or ""
    ordered = sorted(topic.partitions, key=lambda each: each.partition_index)
    address = links.to("topics", name, "partitions")
    return listing("KafkaPartition", address, (_partition(links, name, each) for each in ordered))


async def get_partition(kafka: Kafka, request: Request) -> Response:
    """Get a partition."""
    links = await links_of(kafka, request)
    found = await _required_partition(kafka, request)
    return json_response(_partition(links, request.path["topic_name"], found))


def partition_number(request: Request) -> int:
    return read_integer("partition_id", request.path["partition_id"], most=2**31 - 1)


async def _required_partition(kafka: Kafka, request: Request) -> MetadataResponsePartition:
    number = partition_number(request)
    topic = await required_topic(kafka, request)
    for each in topic.partitions:
        if each.partition_index == number:
            return each
    raise not_found(
        f"Partition {number} of topic {topic.name} could not be found on cluster {request.path['cluster_id']}."
    )


def _partition(links: Links, topic: str, partition: MetadataResponsePartition) -> Resource:
    number, leader = partition.partition_index, partition.leader_id
    steps = ("topics", topic, "partitions", number)
    return links.resource(
        "KafkaPartition",
        links.to(*steps),
        f"/topic={topic}/partition={number}",
        {
            "topic_name": topic,
            "partition_id": number,
            "leader": links.related(*steps, "replicas", leader) if leader >= 0 else None,
            "replicas": links.related(*steps, "replicas"),
            "reassignment": links.related(*steps, "reassignment"),
        },
    )


# --- offsets


async def get_offsets(kafka: Kafka, request: Request) -> Response:
    """Get the first and the next offset of a partition."""
    links = await links_of(kafka, request)
    kind = request.text(OFFSET_TYPE.name, BOTH_ENDS)
    if kind != BOTH_ENDS:
        raise bad_field(OFFSET_TYPE.name, kind, BOTH_ENDS)
    await _required_partition(kafka, request)
    partition = TopicPartition(request.path["topic_name"], partition_number(request))
    earliest, latest = [
        (await list_offsets(kafka.cluster, {partition: spec}))[partition]
        for spec in (OffsetSpec.EARLIEST, OffsetSpec.LATEST)
    ]
    if isinstance(earliest, KafkaError):
        raise earliest
    if isinstance(latest, KafkaError):
        raise latest
    topic, number = partition
    steps = ("topics", topic, "partitions", number, "offset")
    return json_response(
        links.resource(
            "KafkaPartitionWithOffsets",
            links.to(*steps),
            f"/topic={topic}/partition={number}/offset",
            {
                "topic_name": topic,
                "partition_id": number,
                "earliest_offset": earliest.offset,
                "latest_offset": latest.offset,
            },
        )
    )


# --- replicas


async def list_replicas(kafka: Kafka, request: Request) -> Response:
    """List the replicas of a partition."""
    links = await links_of(kafka, request)
    partition, topic = await _required_partition(kafka, request), request.path["topic_name"]
    address = links.to("topics", topic, "partitions", partition.partition_index, "replicas")
    found = (_replica(links, topic, partition, broker) for broker in partition.replica_nodes)
    return listing("KafkaReplica", address, found)


async def get_replica(kafka: Kafka, request: Request) -> Response:
    """Get the replica of a partition on a broker."""
    links = await links_of(kafka, request)
    partition, topic = await _required_partition(kafka, request), request.path["topic_name"]
    broker_id = read_integer("broker_id", request.path["broker_id"], most=2**31 - 1)
    if broker_id not in partition.replica_nodes:
        raise not_found(
            f"Replica of partition {partition.partition_index} on broker {broker_id} cannot be found."
        )
    return json_response(_replica(links, topic, partition, broker_id))


async def list_replicas_of_broker(kafka: Kafka, request: Request) -> Response:
    """List the replicas that a broker has."""
    links = await links_of(kafka, request)
    broker = await required_broker(kafka, request)
    found = [
        _replica(links, topic.name or "", partition, broker.id)
        for topic in sorted(await described_topics(kafka), key=lambda topic: topic.name or "")
        for partition in sorted(topic.partitions, key=lambda each: each.partition_index)
        if broker.id in partition.replica_nodes
    ]
    return listing("KafkaReplica", links.to("brokers", broker.id, "partition-replicas"), found)


def _replica(links: Links, topic: str, partition: MetadataResponsePartition, broker: int) -> Resource:
    number = partition.partition_index
    return links.resource(
        "KafkaReplica",
        links.to("topics", topic, "partitions", number, "replicas", broker),
        f"/topic={topic}/partition={number}/replica={broker}",
        {
            "topic_name": topic,
            "partition_id": number,
            "broker_id": broker,
            "is_leader": partition.leader_id == broker,
            "is_in_sync": broker in partition.isr_nodes,
            "broker": links.related("brokers", broker),
        },
    )


# --- reassignments


async def list_reassignments(kafka: Kafka, request: Request) -> Response:
    """List the partitions of the cluster that are being moved."""
    links = await links_of(kafka, request)
    found = await list_partition_reassignments(kafka.cluster)
    address = links.to("topics", "-", "partitions", "-", "reassignment")
    return listing("KafkaReassignment", address, _reassignments(links, found))


async def list_topic_reassignments(kafka: Kafka, request: Request) -> Response:
    """List the partitions of a topic that are being moved."""
    links = await links_of(kafka, request)
    topic = await required_topic(kafka, request)
    name = topic.name or ""
    partitions = [TopicPartition(name, each.partition_index) for each in topic.partitions]
    found = await list_partition_reassignments(kafka.cluster, partitions)
    address = links.to("topics", name, "partitions", "-", "reassignment")
    return listing("KafkaReassignment", address, _reassignments(links, found))


async def get_reassignment(kafka: Kafka, request: Request) -> Response:
    """Get where a partition is being moved to."""
    links = await links_of(kafka, request)
    await _required_partition(kafka, request)
    partition = TopicPartition(request.path["topic_name"], partition_number(request))
    found = await list_partition_reassignments(kafka.cluster, [partition])
    if partition not in found:
        raise not_found(
            f"Partition {partition.partition} of topic {partition.topic} is not being reassigned."
        )
    return json_response(_reassignments(links, found)[0])


def _reassignments(links: Links, found: Mapping[TopicPartition, PartitionReassignment]) -> list[Resource]:
    return [_reassignment(links, partition, found[partition]) for partition in sorted(found)]


def _reassignment(links: Links, partition: TopicPartition, moving: PartitionReassignment) -> Resource:
    topic, number = partition
    steps = ("topics", topic, "partitions", number)
    return links.resource(
        "KafkaReassignment",
        links.to(*steps, "reassignment"),
        f"/topic={topic}/partition={number}/reassignment",
        {
            "topic_name": topic,
            "partition_id": number,
            "adding_replicas": list(moving.adding),
            "removing_replicas": list(moving.removing),
            "replicas": links.related(*steps, "replicas"),
        },
    )
