"""Metadata.

v0 takes an empty list of topics for all of them, later versions null; v1 returns the controller and racks; v2 the
cluster id; v4 lets the client forbid auto-creation; v5 returns offline replicas; v6 may answer LISTENER_NOT_FOUND; v7
returns leader epochs; v8 allowed operations; v9 is flexible; v10 has topic ids; v11 leaves the cluster's operations to
DescribeCluster; v12 takes topics by id, whatever their name is then: clients send null or nothing; v13 may answer
REBOOTSTRAP_REQUIRED.

A topic that is created on the way is answered with its leader at once, so that the client need not ask again.
"""

from collections.abc import Awaitable, Collection, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from penstock.broker.endpoints import SeenPartition, View
from penstock.broker.operations import CLUSTER_OPERATIONS, NOT_ASKED, TOPIC_OPERATIONS
from penstock.broker.parked import Large
from penstock.broker.router import RequestContext, handles
from penstock.broker.turns import Turns
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
PARTITIONS_AT_ONCE = 2_000
"""An answer of more is made in turns with others, and encoded in a thread."""
PARTITIONS_OF_A_STEP = 200


@handles(MetadataRequest, versions=(0, 13))
def handle_metadata(
    broker: "Broker", request: MetadataRequest, context: RequestContext
) -> MetadataResponse | Awaitable[MetadataResponse | Large]:
    may_create = request.allow_auto_topic_creation and broker.settings.auto_create_topics_enable
    missing = _missing_names(broker, request.topics or ()) if may_create else []
    if missing:
        return _create_and_answer(broker, request, context, missing)
    return _answer(broker, request, context, {})


def _missing_names(broker: "Broker", topics: Collection[MetadataRequestTopic]) -> list[str]:
    known = broker.image.topics
    named = [topic.name for topic in topics if not _is_by_id(topic) and topic.name is not None]
    return [name for name in dict.fromkeys(named) if name not in known]


def _is_by_id(topic: MetadataRequestTopic) -> bool:
    return topic.name is None or topic.topic_id != NO_TOPIC_ID


async def _create_and_answer(
    broker: "Broker", request: MetadataRequest, context: RequestContext, missing: list[str]
) -> MetadataResponse | Large:
    refused: dict[str, ErrorCode] = {}
    for name in missing:
        try:
            await broker.topic_creation.auto_create(name)
        except ApiError as error:
            refused[name] = error.code
    answer = _answer(broker, request, context, refused)
    return answer if isinstance(answer, MetadataResponse) else await answer


def _answer(
    broker: "Broker", request: MetadataRequest, context: RequestContext, refused: dict[str, ErrorCode]
) -> MetadataResponse | Awaitable[Large]:
    found = _asked(broker, request, context, refused)
    topics: list[MetadataResponseTopic] = []
    response = MetadataResponse(
        brokers=brokers_of(broker, context.connection.listener),
        cluster_id=broker.image.cluster_id,
        controller_id=broker.image.controller_id,
        topics=topics,
        cluster_authorized_operations=(
            CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else NOT_ASKED
        ),
    )
    steps = _describe_all(broker, found, topics, request, context)
    if sum(len(topic.partitions) for topic in found if isinstance(topic, TopicImage)) > PARTITIONS_AT_ONCE:
        return _answer_in_turns(steps, response)
    for _ in steps:
        pass
    return response


async def _answer_in_turns(steps: Iterator[None], response: MetadataResponse) -> Large:
    turns = Turns()
    for _ in steps:
        if turns.is_over:
            await turns.let_others()
    return Large(response)


def _asked(
    broker: "Broker", request: MetadataRequest, context: RequestContext, refused: dict[str, ErrorCode]
) -> list[TopicImage | MetadataResponseTopic]:
    """The topics that are there, and the answers for those that are not."""
    if request.topics is None or (context.version == 0 and not request.topics):
        return list(broker.image.topics.values())
    return [_find(broker, wanted, refused) for wanted in request.topics]


def _find(
    broker: "Broker", wanted: MetadataRequestTopic, refused: dict[str, ErrorCode]
) -> TopicImage | MetadataResponseTopic:
    if wanted.name is None or _is_by_id(wanted):
        topic = broker.image.topic_by_id(wanted.topic_id)
        return topic or MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, wanted.topic_id)
    topic = broker.image.topics.get(wanted.name)
    return topic or MetadataResponseTopic(_why_not(wanted.name, refused), wanted.name)


def brokers_of(broker: "Broker", listener: str) -> list[MetadataResponseBroker]:
    """The live brokers, under the addresses that belong to the listener the client came through."""
    return [
        MetadataResponseBroker(member.id, *member.endpoints[listener], member.rack)
        for member in broker.image.live_brokers()
        if listener in member.endpoints
    ]


def _why_not(name: str, refused: dict[str, ErrorCode]) -> ErrorCode:
    try:
        check_topic_name(name)
    except ApiError as error:
        return error.code
    return refused.get(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _describe_all(
    broker: "Broker",
    found: Iterable[TopicImage | MetadataResponseTopic],
    topics: list[MetadataResponseTopic],
    request: MetadataRequest,
    context: RequestContext,
) -> Iterator[None]:
    """Fills `topics` in small steps, between which others may be served."""
    tells_of_listeners = context.version >= FIRST_VERSION_WITH_LISTENER_ERROR
    no_listener = ErrorCode.LISTENER_NOT_FOUND if tells_of_listeners else ErrorCode.LEADER_NOT_AVAILABLE
    view = View(broker.image, context.connection.listener, broker.broker_id, no_listener)
    operations = TOPIC_OPERATIONS if request.include_topic_authorized_operations else NOT_ASKED
    for topic in found:
        if isinstance(topic, MetadataResponseTopic):
            topics.append(topic)
            continue
        partitions: list[MetadataResponsePartition] = []
        topics.append(
            MetadataResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                is_internal=topic.is_internal,
                partitions=partitions,
                topic_authorized_operations=operations,
            )
        )
        failed = broker.offline_partitions(topic.name)
        states = iter(topic.partitions.items())
        while some := list(islice(states, PARTITIONS_OF_A_STEP)):
            partitions += [
                _describe_partition(index, state, view.of(state, has_failed_here=index in failed))
                for index, state in some
            ]
            yield


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
