"""ListPartitionReassignments: the partitions that move from some brokers to others, of those asked for or of all.

A replica that an earlier reassignment was adding, and that a later one does not keep, is told as one that goes.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.controller.image import TopicImage
from penstock.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(ListPartitionReassignmentsRequest, versions=(0, 0), at_controller=ListPartitionReassignmentsResponse)
def handle_list_partition_reassignments(
    broker: "Broker", request: ListPartitionReassignmentsRequest, context: RequestContext
) -> ListPartitionReassignmentsResponse:
    known = broker.image.topics
    if request.topics is None:
        found = [_under_way(topic, topic.partitions) for topic in known.values()]
    else:
        found = [
            _under_way(known[topic.name], topic.partition_indexes)
            for topic in request.topics
            if topic.name in known
        ]
    return ListPartitionReassignmentsResponse(topics=[topic for topic in found if topic.partitions])


def _under_way(topic: TopicImage, indexes: Iterable[int]) -> OngoingTopicReassignment:
    states = ((index, topic.partitions.get(index)) for index in indexes)
    return OngoingTopicReassignment(
        topic.name,
        [
            OngoingPartitionReassignment(
                index,
                state.replicas,
                [one for one in state.adding if one not in state.removing],
                state.removing,
            )
            for index, state in states
            if state is not None and state.is_being_reassigned
        ],
    )
