"""DescribeTopicPartitions (KIP-966): topics in order of their names, in pages, with eligible leaders.

No topics means all. A page ends at the limit of partitions, and the cursor says where the next one begins.
"""

from typing import TYPE_CHECKING

from penstock.broker.operations import TOPIC_OPERATIONS
from penstock.broker.router import RequestContext, handles
from penstock.controller.image import TopicImage
from penstock.errors import ErrorCode
from penstock.replica.replica_set import NO_LEADER, ReplicaSet
from penstock.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    ResponseCursor,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(DescribeTopicPartitionsRequest, versions=(0, 0))
def handle_describe_topic_partitions(
    broker: "Broker", request: DescribeTopicPartitionsRequest, context: RequestContext
) -> DescribeTopicPartitionsResponse:
    known = broker.image.topics
    asked = {topic.name for topic in request.topics}
    first = request.cursor.topic_name if request.cursor else ""
    names = sorted(name for name in (asked or known) if name >= first)
    left = max(1, min(request.response_partition_limit, broker.settings.max_request_partition_size_limit))
    response = DescribeTopicPartitionsResponse(topics=(topics := []))
    for name in names:
        if left == 0:
            response.next_cursor = ResponseCursor(name, 0)
            break
        topic = known.get(name)
        if topic is None:
            topics.append(DescribeTopicPartitionsResponseTopic(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name))
            continue
        start = request.cursor.partition_index if request.cursor and name == first else 0
        indexes = [index for index in topic.partitions if index >= start]
        topics.append(_describe(broker, topic, indexes[:left]))
        if len(indexes) > left:
            response.next_cursor = ResponseCursor(name, indexes[left])
            break
        left -= len(indexes)
    return response


def _describe(
    broker: "Broker", topic: TopicImage, indexes: list[int]
) -> DescribeTopicPartitionsResponseTopic:
    offline = broker.offline_partitions(topic.name)
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            _partition(index, topic.partitions[index])
            if index not in offline
            else _offline_partition(index, topic.partitions[index], broker.broker_id)
            for index in indexes
        ],
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def _partition(index: int, state: ReplicaSet) -> DescribeTopicPartitionsResponsePartition:
    return DescribeTopicPartitionsResponsePartition(
        error_code=ErrorCode.LEADER_NOT_AVAILABLE if state.leader == NO_LEADER else ErrorCode.NONE,
        partition_index=index,
        leader_id=state.leader,
        leader_epoch=state.leader_epoch,
        replica_nodes=state.replicas,
        isr_nodes=state.isr,
        eligible_leader_replicas=(),
        last_known_elr=(),
    )


def _offline_partition(
    index: int, state: ReplicaSet, broker_id: int
) -> DescribeTopicPartitionsResponsePartition:
    """A partition whose log directory failed has no leader until the directory is back."""
    described = _partition(index, state)
    if state.leader == broker_id:
        described.error_code, described.leader_id = ErrorCode.LEADER_NOT_AVAILABLE, NO_LEADER
    described.offline_replicas = [broker_id]
    return described
