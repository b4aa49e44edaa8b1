"""Metadata.

v0 takes an empty list of topics for all of them, later versions null; v1 returns the controller and racks; v2 the
cluster id; v4 lets the client forbid auto-creation; v5 returns offline replicas; v6 may answer LISTENER_NOT_FOUND; v7
returns leader epochs; v8 allowed operations; v9 is flexible; v10 has topic ids; v11 leaves the cluster's operations to
DescribeCluster; v12 takes topics by id, whatever their name is then: clients send null or nothing; v13 may answer
REBOOTSTRAP_REQUIRED.

A topic that is created on the way is answered with its leader at once, so that the client need not ask again.
"""

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING

from penstock.broker.endpoints import SeenPartition, View
from penstock.broker.operations import CLUSTER_OPERATIONS, NOT_ASKED, TOPIC_OPERATIONS
from penstock.broker.router import RequestContext, handles
from penstock.controller.image import TopicImage
from penstock.controller.topics import check_topic_name
from penstock.errors import ApiError, ErrorCode
from penstock.replica.replica_set import ReplicaSet
from penstock.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

NO_TOPIC_ID = bytes(16)
FIRST_VERSION_WITH_LISTENER_ERROR = 6


@handles(MetadataRequest, versions=(0, 13))
def handle_metadata(
    broker: "Broker", request: MetadataRequest, context: RequestContext
) -> MetadataResponse | Awaitable[MetadataResponse]:
    may_create = request.allow_auto_topic_creation and broker.settings.auto_create_topics_enable
    missing = _missing_names(broker, request.topics or ()) if may_create else []
    if missing:
        return _create_and_answer(broker, request, context, missing)
    return _answer(broker, request, context, {})


def _missing_names(broker: "Broker", topics: Sequence[MetadataRequestTopic]) -> list[str]:
    known = broker.image.topics
    named = [topic.name for topic in topics if not _is_by_id(topic) and topic.name is not None]
    return [name for name in dict.fromkeys(named) if name not in known]


def _is_by_id(topic: MetadataRequestTopic) -> bool:
    return topic.name is None or topic.topic_id != NO_TOPIC_ID


async def _create_and_answer(
    broker: "Broker", request: MetadataRequest, context: RequestContext, missing: list[str]
) -> MetadataResponse:
    refused: dict[str, ErrorCode] = {}
    for name in missing:
        try:
            await broker.topic_creation.auto_create(name)
        except ApiError as error:
            refused[name] = error.code
    return _answer(broker, request, context, refused)


def _answer(
    broker: "Broker", request: MetadataRequest, context: RequestContext, refused: dict[str, ErrorCode]
) -> MetadataResponse:
    image = broker.image
    listener = context.connection.listener
    tells_of_listeners = context.version >= FIRST_VERSION_WITH_LISTENER_ERROR
    no_listener = ErrorCode.LISTENER_NOT_FOUND if tells_of_listeners else ErrorCode.LEADER_NOT_AVAILABLE
    view = View(image, listener, broker.broker_id, no_listener)
    operations = TOPIC_OPERATIONS if request.include_topic_authorized_operations else NOT_ASKED
    if request.topics is None or (context.version == 0 and not request.topics):
        topics = [_describe(broker, topic, operations, view) for topic in image.topics.values()]
    else:
        asked = {(topic.name, topic.topic_id): topic for topic in request.topics}  # each is answered once
        topics = [_find(broker, wanted, operations, refused, view) for wanted in asked.values()]
    return MetadataResponse(
        brokers=brokers_of(broker, listener),
        cluster_id=image.cluster_id,
        controller_id=image.controller_id,
        topics=topics,
        cluster_authorized_operations=(
            CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else NOT_ASKED
        ),
    )


def brokers_of(broker: "Broker", listener: str) -> list[MetadataResponseBroker]:
    """The live brokers, under the addresses that belong to the listener the client came through."""
    return [
        MetadataResponseBroker(member.id, *member.endpoints[listener], member.rack)
        for member in broker.image.live_brokers()
        if listener in member.endpoints
    ]


def _find(
    broker: "Broker",
    wanted: MetadataRequestTopic,
    operations: int,
    refused: dict[str, ErrorCode],
    view: View,
) -> MetadataResponseTopic:
    if wanted.name is None or _is_by_id(wanted):
        topic = broker.image.topic_by_id(wanted.topic_id)
        if topic is None:
            return MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, wanted.topic_id)
        return _describe(broker, topic, operations, view)
    topic = broker.image.topics.get(wanted.name)
    if topic is not None:
        return _describe(broker, topic, operations, view)
    return MetadataResponseTopic(_why_not(wanted.name, refused), wanted.name)


def _why_not(name: str, refused: dict[str, ErrorCode]) -> ErrorCode:
    try:
        check_topic_name(name)
    except ApiError as error:
        return error.code
    return refused.get(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _describe(broker: "Broker", topic: TopicImage, operations: int, view: View) -> MetadataResponseTopic:
    failed = broker.offline_partitions(topic.name)
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            _describe_partition(index, state, view.of(state, has_failed_here=index in failed))
            for index, state in topic.partitions.items()
        ],
        topic_authorized_operations=operations,
    )


def _describe_partition(index: int, state: ReplicaSet, seen: SeenPartition) -> MetadataResponsePartition:
    return MetadataResponsePartition(
        error_code=seen.error_code,
        partition_index=index,
        leader_id=seen.leader_id,
        leader_epoch=state.leader_epoch,
        replica_nodes=state.replicas,
        isr_nodes=state.isr,
        offline_replicas=seen.offline_replicas,
    )
