"""ListOffsets.

v1 returns one offset with its timestamp; v2 has the isolation level; v4 leader epochs; v5 may answer
OFFSET_NOT_AVAILABLE; v6 is flexible; v7 has -3,
the record with the largest timestamp; v8 has -4, the earliest offset on this machine; v9 has -5, the latest in
tiered storage; v10 a timeout for tiered storage; v11 has -6, the earliest not yet uploaded.

There is no tiered storage here: the earliest local offset is the earliest one, and nothing is tiered.
"""

from collections import Counter
from typing import TYPE_CHECKING

from penstock.broker.partition import Partition
from penstock.broker.router import RequestContext, handles
from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -4, -5, -6
FIRST_VERSION_WITH_OFFSET_NOT_AVAILABLE = 5
FIRST_VERSION = {
    LATEST: 0,
    EARLIEST: 0,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}


@handles(ListOffsetsRequest, versions=(1, 11))
def handle_list_offsets(
    broker: "Broker", request: ListOffsetsRequest, context: RequestContext
) -> ListOffsetsResponse:
    topics = []
    for topic in request.topics:
        twice = _listed_twice([p.partition_index for p in topic.partitions])
        answers = [
            _refusal(wanted, ErrorCode.INVALID_REQUEST)
            if wanted.partition_index in twice
            else _look_up(broker, topic.name, wanted, request, context.version)
            for wanted in topic.partitions
        ]
        topics.append(ListOffsetsTopicResponse(topic.name, answers))
    return ListOffsetsResponse(topics=topics)


def _listed_twice(indexes: list[int]) -> set[int]:
    if len(set(indexes)) == len(indexes):
        return set()
    return {index for index, times in Counter(indexes).items() if times > 1}


def _refusal(wanted: ListOffsetsPartition, code: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(wanted.partition_index, code)


def _look_up(
    broker: "Broker", topic: str, wanted: ListOffsetsPartition, request: ListOffsetsRequest, version: int
) -> ListOffsetsPartitionResponse:
    if wanted.timestamp < 0 and version < FIRST_VERSION.get(wanted.timestamp, version + 1):
        return _refusal(wanted, ErrorCode.UNSUPPORTED_VERSION)
    try:
        partition = broker.partitions.find(topic, wanted.partition_index)
        partition.check_leader(wanted.current_leader_epoch)
        if wanted.timestamp == LATEST and request.replica_id < 0:
            _check_end_is_known(partition, version)
        end = partition.readable_end(request.replica_id, request.isolation_level)
        offset, timestamp, epoch = _offset(partition, wanted.timestamp, end)
    except ApiError as error:
        return _refusal(wanted, error.code)
    return ListOffsetsPartitionResponse(
        wanted.partition_index, timestamp=timestamp, offset=offset, leader_epoch=epoch
    )


def _check_end_is_known(partition: Partition, version: int) -> None:
    """A new leader may not know yet how far its predecessor had come: the end would seem to go back (KIP-207)."""
    if partition.leader is not None and not partition.leader.knows_its_high_watermark:
        is_told = version >= FIRST_VERSION_WITH_OFFSET_NOT_AVAILABLE
        raise ApiError(ErrorCode.OFFSET_NOT_AVAILABLE if is_told else ErrorCode.LEADER_NOT_AVAILABLE)


def _offset(partition: Partition, timestamp: int, end: int) -> tuple[int, int, int]:
    """Offset, timestamp and leader epoch; -1 where there is none."""
    log = partition.log
    if timestamp == LATEST:
        return (
            end,
            -1,
            log.epochs.epoch_for_offset(end - 1)
            if end > log.log_start_offset
            else partition.replica_set.leader_epoch,
        )
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        return log.log_start_offset, -1, log.epochs.epoch_for_offset(log.log_start_offset)
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return -1, -1, -1
    if timestamp == MAX_TIMESTAMP:
        return log.offset_of_max_timestamp(end) or (-1, -1, -1)
    return log.offset_for_timestamp(timestamp, end) or (-1, -1, -1)
