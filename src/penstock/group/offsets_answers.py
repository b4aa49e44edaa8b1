"""Which topics a request about offsets means, and the answers that refuse one as a whole.

Newer versions name topics by id; a topic that the cluster does not have is refused for itself, whatever becomes of the
rest of the request.
"""

from collections.abc import Sequence
from typing import Protocol

from penstock.controller.image import ClusterImage, TopicImage
from penstock.errors import ErrorCode
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

FIRST_COMMIT_BY_ID = 10
FIRST_FETCH_BY_ID = 10
FIRST_FETCH_WITH_GROUP_ERROR = 2
NO_OFFSET = -1


class NamedTopic(Protocol):
    name: str
    topic_id: bytes


class PartitionOf(Protocol):
    partition_index: int


def find_topic(image: ClusterImage, topic: NamedTopic, *, by_id: bool) -> TopicImage | None:
    return image.topic_by_id(topic.topic_id) if by_id else image.topics.get(topic.name)


def unknown_topic(*, by_id: bool) -> ErrorCode:
    return ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def error_of(topic: TopicImage | None, partition: int, *, by_id: bool) -> ErrorCode:
    """What is wrong with a partition in itself."""
    if topic is None:
        return unknown_topic(by_id=by_id)
    return ErrorCode.NONE if partition in topic.partitions else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def refuse_commit(
    request: OffsetCommitRequest, version: int, image: ClusterImage, code: ErrorCode
) -> OffsetCommitResponse:
    by_id = version >= FIRST_COMMIT_BY_ID
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                topic.name,
                topic.topic_id,
                [
                    OffsetCommitResponsePartition(index, error)
                    for index, error in _errors(
                        find_topic(image, topic, by_id=by_id), topic.partitions, code, by_id=by_id
                    )
                ],
            )
            for topic in request.topics
        ]
    )


def names_existing_partitions(request: TxnOffsetCommitRequest, image: ClusterImage) -> bool:
    """Whether a commit has anything that can be written."""
    return any(
        not error_of(image.topics.get(topic.name), partition.partition_index, by_id=False)
        for topic in request.topics
        for partition in topic.partitions
    )


def refuse_transactional_commit(
    request: TxnOffsetCommitRequest, image: ClusterImage, code: ErrorCode
) -> TxnOffsetCommitResponse:
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                topic.name,
                [
                    TxnOffsetCommitResponsePartition(index, error)
                    for index, error in _errors(
                        image.topics.get(topic.name), topic.partitions, code, by_id=False
                    )
                ],
            )
            for topic in request.topics
        ]
    )


def _errors(
    topic: TopicImage | None, partitions: Sequence[PartitionOf], code: ErrorCode, *, by_id: bool
) -> list[tuple[int, ErrorCode]]:
    indexes = [partition.partition_index for partition in partitions]
    return [(index, error_of(topic, index, by_id=by_id) or code) for index in indexes]


def refuse_fetch(wanted: OffsetFetchRequestGroup, version: int, code: ErrorCode) -> OffsetFetchResponseGroup:
    """The first version has no place for an error but the partitions."""
    if version >= FIRST_FETCH_WITH_GROUP_ERROR:
        return OffsetFetchResponseGroup(wanted.group_id, error_code=code)
    return OffsetFetchResponseGroup(
        wanted.group_id, [refuse_topic(topic, code) for topic in wanted.topics or ()]
    )


def refuse_topic(topic: OffsetFetchRequestTopics, code: ErrorCode) -> OffsetFetchResponseTopics:
    return OffsetFetchResponseTopics(
        topic.name, topic.topic_id, [no_offset(index, code) for index in topic.partition_indexes]
    )


def no_offset(partition: int, code: ErrorCode = ErrorCode.NONE) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(partition, NO_OFFSET, -1, "", code)
