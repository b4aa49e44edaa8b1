"""OffsetForLeaderEpoch: where an epoch ended in our log, so that a client sees whether its own log diverged.

v3 has the replica id; v4 is flexible.
"""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.errors import ApiError
from penstock.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(OffsetForLeaderEpochRequest, versions=(2, 4))
def handle_offset_for_leader_epoch(
    broker: "Broker", request: OffsetForLeaderEpochRequest, context: RequestContext
) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic.topic, [_end_of(broker, topic.topic, p) for p in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def _end_of(broker: "Broker", topic: str, wanted: OffsetForLeaderPartition) -> EpochEndOffset:
    try:
        partition = broker.partitions.find(topic, wanted.partition)
        partition.check_leader(wanted.current_leader_epoch)
    except ApiError as error:
        return EpochEndOffset(error.code, wanted.partition)
    epoch, end_offset = partition.end_offset_for_epoch(wanted.leader_epoch)
    return EpochEndOffset(partition=wanted.partition, leader_epoch=epoch, end_offset=end_offset)
