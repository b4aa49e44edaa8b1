"""The offsets that groups of consumers have committed: read, set, and deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from penstock.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, error_for, raise_for

NEWEST_VERSION_WITH_TOPIC_NAMES = 9
"""Of OffsetFetch and OffsetCommit. Later ones name topics by id, which a group's old offsets may have lost."""


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    offset: int
    leader_epoch: int | None = None
    metadata: str = ""


async def list_group_offsets(
    cluster: Cluster, group_id: str, partitions: Iterable[TopicPartition] | None = None
) -> dict[TopicPartition, CommittedOffset | None]:
    """Those of these partitions, None for one that has none; or all that the group has committed."""
    answer = await cluster.ask_coordinator(
        group_id,
        _fetch_request(group_id, None if partitions is None else by_topic(partitions)),
        OffsetFetchResponse,
        at_most=NEWEST_VERSION_WITH_TOPIC_NAMES,
        error_of=_fetch_error,
    )
    raise_for(_fetch_error(answer))
    topics = answer.groups[0].topics if answer.groups else answer.topics
    found: dict[TopicPartition, CommittedOffset | None] = {}
    for topic in topics:
        for partition in topic.partitions:
            if not partition.error_code:
                found[TopicPartition(topic.name, partition.partition_index)] = _committed(
                    partition.committed_offset, partition.committed_leader_epoch, partition.metadata
                )
    return found


def _fetch_request(group_id: str, topics: Mapping[str, list[int]] | None) -> OffsetFetchRequest:
    """In the form of old versions and that of new ones; each version takes its own."""
    named = None if topics is None else list(topics.items())
    return OffsetFetchRequest(
        group_id,
        [
            OffsetFetchRequestGroup(
                group_id,
                topics=None
                if named is None
                else [OffsetFetchRequestTopics(n, partition_indexes=p) for n, p in named],
            )
        ],
        None if named is None else [OffsetFetchRequestTopic(name, indexes) for name, indexes in named],
    )


def _fetch_error(answer: OffsetFetchResponse) -> int:
    return answer.groups[0].error_code if answer.groups else answer.error_code


def _committed(offset: int, leader_epoch: int, metadata: str | None) -> CommittedOffset | None:
    if offset < 0:
        return None
    return CommittedOffset(offset, leader_epoch if leader_epoch >= 0 else None, metadata or "")


async def alter_group_offsets(
    cluster: Cluster, group_id: str, offsets: Mapping[TopicPartition, CommittedOffset]
) -> dict[TopicPartition, KafkaError | None]:
    """Commits for a group that has no members; for each partition, why it could not be."""
    topics = [
        OffsetCommitRequestTopic(
            topic,
            partitions=[
                OffsetCommitRequestPartition(
                    partition,
                    (committed := offsets[TopicPartition(topic, partition)]).offset,
                    -1 if committed.leader_epoch is None else committed.leader_epoch,
                    committed.metadata,
                )
                for partition in partitions
            ],
        )
        for topic, partitions in by_topic(offsets).items()
    ]
    answer = await cluster.ask_coordinator(
        group_id,
        OffsetCommitRequest(group_id, topics=topics),
        OffsetCommitResponse,
        at_most=NEWEST_VERSION_WITH_TOPIC_NAMES,
        error_of=_first_commit_error,
    )
    return {
        TopicPartition(topic.name, each.partition_index): error_for(each.error_code)
        if each.error_code
        else None
        for topic in answer.topics
        for each in topic.partitions
    }


def _first_commit_error(answer: OffsetCommitResponse) -> int:
    codes = (each.error_code for topic in answer.topics for each in topic.partitions)
    return next((code for code in codes if code), ErrorCode.NONE)


async def delete_group_offsets(
    cluster: Cluster, group_id: str, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, KafkaError | None]:
    """Forgets offsets of topics that no member is subscribed to; for each partition, why it could not be."""
    topics = [
        OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(each) for each in indexes])
        for topic, indexes in by_topic(partitions).items()
    ]
    answer = await cluster.ask_coordinator(
        group_id, OffsetDeleteRequest(group_id, topics), OffsetDeleteResponse
    )
    raise_for(answer.error_code)
    return {
        TopicPartition(topic.name, each.partition_index): error_for(each.error_code)
        if each.error_code
        else None
        for topic in answer.topics
        for each in topic.partitions
    }


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for topic, partition in partitions:
        found.setdefault(topic, []).append(partition)
    return found
