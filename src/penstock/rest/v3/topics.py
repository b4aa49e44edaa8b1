"""Topics: listed, made, widened and deleted."""

from __future__ import annotations

from typing import Any

from penstock.client.admin.acls import AclOperation
from penstock.client.admin.topic_changes import (
    NewPartitions,
    NewTopic,
    create_partitions,
    create_topics,
    delete_topics,
)
from penstock.client.admin.topic_descriptions import describe_topics
from penstock.errors import ErrorCode
from penstock.rest.errors import bad_field
from penstock.rest.fields import Field, Fields, Parameter, coerced_integer, read_integer
from penstock.rest.kafka import Kafka
from penstock.rest.v3.resources import Links, Resource, links_of, listing
from penstock.web.errors import HttpError
from penstock.web.request import Request
from penstock.web.response import NO_CONTENT, Response, json_bytes, json_response
from penstock.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from penstock.wire_client.errors import KafkaError, error_for

CONFIG = Fields("Config", {"name": Field(str, required=True), "value": Field(str)})
NEW_TOPIC = Fields(
    "CreateTopicRequest",
    {
        "topic_name": Field(str, required=True),
        "partitions_count": Field(int, description="the broker's num.partitions if not given"),
        "replication_factor": Field(int, description="the broker's default.replication.factor if not given"),
        "replicas_assignments": Field(dict, description="of each partition the brokers, instead of the two"),
        "configs": Field(list, items=CONFIG),
        "validate_only": Field(bool),
    },
)
_MOST = {"partitions_count": 2**31 - 1, "replication_factor": 2**15 - 1}
MORE_PARTITIONS = Fields("UpdatePartitionCountRequest", {"partitions_count": Field(int, required=True)})
INCLUDE_OPERATIONS = Parameter(
    "include_authorized_operations", bool, "Also what the proxy may do with the topic."
)


async def list_topics(kafka: Kafka, request: Request) -> Response:
    """List the topics of the cluster."""
    links = await links_of(kafka, request)
    found = sorted(await described_topics(kafka), key=lambda topic: topic.name or "")
    return listing("KafkaTopic", links.to("topics"), (_described(links, topic) for topic in found))


async def get_topic(kafka: Kafka, request: Request) -> Response:
    """Get a topic."""
    links = await links_of(kafka, request)
    topic = await required_topic(kafka, request, include_operations=request.flag(INCLUDE_OPERATIONS.name))
    return json_response(_described(links, topic))


async def described_topics(
    kafka: Kafka, names: list[str] | None = None, *, include_operations: bool = False
) -> list[MetadataResponseTopic]:
    """Those of the names, or all."""
    wanted = None if names is None else [MetadataRequestTopic(name=name) for name in names]
    question = MetadataRequest(
        wanted, allow_auto_topic_creation=False, include_topic_authorized_operations=include_operations
    )
    return list((await kafka.cluster.ask_any(question, MetadataResponse)).topics)


async def required_topic(
    kafka: Kafka, request: Request, *, include_operations: bool = False
) -> MetadataResponseTopic:
    """The topic that the path names."""
    name = request.path["topic_name"]
    [topic] = await described_topics(kafka, [name], include_operations=include_operations)
    if topic.error_code and topic.error_code != ErrorCode.LEADER_NOT_AVAILABLE:
        raise error_for(topic.error_code)
    return topic


def _described(links: Links, topic: MetadataResponseTopic) -> Resource:
    partitions = topic.partitions
    factor = len(partitions[0].replica_nodes) if partitions else 0
    operations = _operation_names(topic.topic_authorized_operations)
    return _topic(links, topic.name or "", topic.is_internal, factor, len(partitions), operations)


def _operation_names(bits: int) -> list[str]:
    return [each.name for each in AclOperation if bits > 0 and bits >> each.value & 1]


def _topic(
    links: Links, name: str, is_internal: bool, factor: int, partitions: int, operations: list[str]
) -> Resource:
    return links.resource(
        "KafkaTopic",
        links.to("topics", name),
        f"/topic={name}",
        {
            "topic_name": name,
            "is_internal": is_internal,
            "replication_factor": factor,
            "partitions_count": partitions,
            "partitions": links.related("topics", name, "partitions"),
            "configs": links.related("topics", name, "configs"),
            "partition_reassignments": links.related("topics", name, "partitions", "-", "reassignment"),
            "authorized_operations": operations,
        },
    )


async def create_topic(kafka: Kafka, request: Request) -> Response:
    """Create a topic, or with `validate_only` say whether it could be created."""
    links = await links_of(kafka, request)
    given = await NEW_TOPIC.read(request)
    new = _new_topic(given)
    is_dry = given.get("validate_only", False)
    created = (await create_topics(kafka.cluster, [new], validate_only=is_dry))[new.name]
    if isinstance(created, KafkaError):
        raise created
    if not is_dry:
        await _until_seen(kafka, new.name)
    factor, partitions = created.replication_factor, created.num_partitions
    if new.replicas:
        factor, partitions = len(next(iter(new.replicas.values()))), len(new.replicas)
    body = json_bytes(_topic(links, new.name, False, factor, partitions, []))
    return Response(body, 200 if is_dry else 201, headers={"location": links.to("topics", new.name)})


async def _until_seen(kafka: Kafka, name: str) -> None:
    """The controller has made it; the broker that is asked of it next may hear so a moment later."""
    async for attempt in kafka.cluster.attempts(f"news of topic {name}"):
        found = (await describe_topics(kafka.cluster, [name]))[name]
        if not isinstance(found, KafkaError) or found.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return
        attempt.failed(found)


def _new_topic(given: dict[str, Any]) -> NewTopic:
    partitions, factor = given.get("partitions_count"), given.get("replication_factor")
    assigned = given.get("replicas_assignments")
    if assigned and (partitions is not None or factor is not None):
        raise HttpError(
            400, 400, "replicas_assignments: takes neither partitions_count nor replication_factor beside it"
        )
    for name, most in _MOST.items():
        if name in given and not -1 <= given[name] <= most:
            raise bad_field(name, given[name], f"a number from 1 to {most}")
    return NewTopic(
        given["topic_name"],
        partitions,
        factor,
        None if not assigned else _replicas(assigned),
        {each["name"]: each.get("value") for each in given.get("configs", ())},
    )


def _replicas(assigned: dict[str, Any]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for partition, brokers in assigned.items():
        field = f"replicas_assignments.{partition}"
        number = read_integer(field, partition, most=2**31 - 1)
        if isinstance(brokers, list):
            brokers = [coerced_integer(broker) if type(broker) is str else broker for broker in brokers]
        if not isinstance(brokers, list) or not all(type(broker) is int for broker in brokers):
            raise bad_field(field, brokers, "an array of the numbers of brokers")
        found[number] = brokers
    return found


async def update_partitions(kafka: Kafka, request: Request) -> Response:
    """Increase the number of partitions of a topic."""
    links = await links_of(kafka, request)
    count = (await MORE_PARTITIONS.read(request))["partitions_count"]
    if not 0 < count < 2**31:
        raise bad_field("partitions_count", count, "a number of at least 1")
    topic = await required_topic(kafka, request)
    name = topic.name or ""
    error = (await create_partitions(kafka.cluster, {name: NewPartitions(count)}))[name]
    if error is not None:
        raise error
    factor = len(topic.partitions[0].replica_nodes)
    return json_response(_topic(links, name, topic.is_internal, factor, count, []))


async def delete_topic(kafka: Kafka, request: Request) -> Response:
    """Delete a topic."""
    await links_of(kafka, request)
    name = request.path["topic_name"]
    error = (await delete_topics(kafka.cluster, [name]))[name]
    if error is not None:
        raise error
    return NO_CONTENT
