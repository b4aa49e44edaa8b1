"""Topics, partitions and brokers, as v2 tells of them."""

from __future__ import annotations

from typing import Any

from penstock.client.admin.configs import ConfigResource, ResourceType, describe_configs
from penstock.client.admin.list_offsets import OffsetSpec, list_offsets
from penstock.errors import ErrorCode
from penstock.rest.errors import partition_not_found, topic_not_found
from penstock.rest.fields import read_integer
from penstock.rest.kafka import Kafka
from penstock.rest.v3.clusters import brokers_of
from penstock.rest.v3.topics import described_topics
from penstock.types import TopicPartition
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.wire.messages.metadata import MetadataResponsePartition, MetadataResponseTopic
from penstock.wire_client.errors import KafkaError, error_for


async def get_root(kafka: Kafka, request: Request) -> Response:
    """Say that the proxy is there: an empty object."""
    return json_response({})


async def list_brokers(kafka: Kafka, request: Request) -> Response:
    """List the numbers of the brokers."""
    return json_response({"brokers": [node.id for node in await brokers_of(kafka)]})


async def list_topics(kafka: Kafka, request: Request) -> Response:
    """List the names of the topics."""
    return json_response(sorted(topic.name or "" for topic in await described_topics(kafka)))


async def get_topic(kafka: Kafka, request: Request) -> Response:
    """Get a topic: its configuration, and its partitions."""
    topic = await _required_topic(kafka, request)
    return json_response(
        {
            "name": topic.name,
            "configs": await _configs(kafka, topic.name or ""),
            "partitions": _partitions(topic),
        }
    )


async def _configs(kafka: Kafka, topic: str) -> dict[str, str | None]:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    found = (await describe_configs(kafka.cluster, [resource]))[resource]
    if isinstance(found, KafkaError):
        raise found
    return {name: found[name].value for name in sorted(found)}


async def list_partitions(kafka: Kafka, request: Request) -> Response:
    """List the partitions of a topic."""
    return json_response(_partitions(await _required_topic(kafka, request)))


async def get_partition(kafka: Kafka, request: Request) -> Response:
    """Get a partition of a topic."""
    return json_response(_partition(await _required_partition(kafka, request)))


async def get_offsets(kafka: Kafka, request: Request) -> Response:
    """Get the first and the next offset of a partition."""
    number = (await _required_partition(kafka, request)).partition_index
    partition = TopicPartition(request.path["topic_name"], number)
    found: dict[str, int] = {}
    for name, spec in (("beginning_offset", OffsetSpec.EARLIEST), ("end_offset", OffsetSpec.LATEST)):
        listed = (await list_offsets(kafka.cluster, {partition: spec}))[partition]
        if isinstance(listed, KafkaError):
            raise listed
        found[name] = listed.offset
    return json_response(found)


async def _required_topic(kafka: Kafka, request: Request) -> MetadataResponseTopic:
    [topic] = await described_topics(kafka, [request.path["topic_name"]])
    if topic.error_code in (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION):
        raise topic_not_found()
    if topic.error_code and topic.error_code != ErrorCode.LEADER_NOT_AVAILABLE:
        raise error_for(topic.error_code)
    return topic


async def _required_partition(kafka: Kafka, request: Request) -> MetadataResponsePartition:
    number = read_integer("partition_id", request.path["partition_id"], most=2**31 - 1)
    topic = await _required_topic(kafka, request)
    for each in topic.partitions:
        if each.partition_index == number:
            return each
    raise partition_not_found()


def _partitions(topic: MetadataResponseTopic) -> list[dict[str, Any]]:
    return [_partition(each) for each in sorted(topic.partitions, key=lambda each: each.partition_index)]


def _partition(partition: MetadataResponsePartition) -> dict[str, Any]:
    leader = partition.leader_id
    return {
        "partition": partition.partition_index,
        "leader": leader,
        "replicas": [
            {"broker": broker, "leader": broker == leader, "in_sync": broker in partition.isr_nodes}
            for broker in partition.replica_nodes
        ],
    }
