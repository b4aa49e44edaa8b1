"""DescribeTopicPartitions (KIP-966): topics in order of their names, in pages. Replicas that could lead though
they are not in sync are not kept track of, so there are none, as in Kafka without `eligible.leader.replicas.version`.

No topics means all. A page ends at the limit of partitions, and the cursor says where the next one begins.
"""

from typing import TYPE_CHECKING

from penstock.broker.endpoints import View
from penstock.broker.operations import TOPIC_OPERATIONS
from penstock.broker.router import RequestContext, handles
from penstock.controller.image import TopicImage
from penstock.errors import ErrorCode
from penstock.replica.replica_set import ReplicaSet
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
    view = View(broker.image, context.connection.listener, broker.broker_id, ErrorCode.LISTENER_NOT_FOUND)
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
        topics.append(_describe(broker, topic, indexes[:left], view))
        if len(indexes) > left:
            response.next_cursor = ResponseCursor(name, indexes[left])
            break
        left -= len(indexes)
    return response


def _describe(
    broker: "Broker", topic: TopicImage, indexes: list[int], view: View
) -> DescribeTopicPartitionsResponseTopic:
    failed = broker.offline_partitions(topic.name)
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[_partition(index, topic.partitions[index], view, index in failed) for index in indexes],
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def _partition(
    index: int, state: ReplicaSet, view: View, has_failed_here: bool
) -> DescribeTopicPartitionsResponsePartition:
    seen = view.of(state, has_failed_here=has_failed_here)
    return DescribeTopicPartitionsResponsePartition(
        error_code=seen.error_code,
        partition_index=index,
        leader_id=seen.leader_id,
        leader_epoch=state.leader_epoch,
        replica_nodes=state.replicas,
        isr_nodes=state.isr,
        eligible_leader_replicas=(),
        last_known_elr=(),
        offline_replicas=seen.offline_replicas,
    )
