"""Offsets of a group, and of partitions: what was committed, committing, and where a partition is to be begun."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from penstock.client.admin.group_offsets import (
    NEWEST_VERSION_WITH_TOPIC_NAMES,
    by_topic,
    list_group_offsets,
)
from penstock.client.admin.list_offsets import IsolationLevel, OffsetSpec, list_offsets
from penstock.client.config import ConsumerConfig
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, error_for

_RESETS = {"earliest": OffsetSpec.EARLIEST, "latest": OffsetSpec.LATEST}


class OffsetToCommit(NamedTuple):
    offset: int
    metadata: str = ""


async def commit(
    cluster: Cluster,
    group: str,
    offsets: Mapping[TopicPartition, OffsetToCommit],
    member_id: str = "",
    generation: int = -1,
) -> None:
    """As a member of the group, or beside it if it has none. Raises what the coordinator has against it."""
    topics = [
        OffsetCommitRequestTopic(
            topic,
            partitions=[
                OffsetCommitRequestPartition(
                    number,
                    (chosen := offsets[TopicPartition(topic, number)]).offset,
                    committed_metadata=chosen.metadata,
                )
                for number in numbers
            ],
        )
        for topic, numbers in by_topic(offsets).items()
    ]
    answer = await cluster.ask_coordinator(
        group,
        OffsetCommitRequest(group, generation, member_id, topics=topics),
        OffsetCommitResponse,
        at_most=NEWEST_VERSION_WITH_TOPIC_NAMES,
        error_of=lambda answer: _first_error(answer)[1],
    )
    partition, code = _first_error(answer)
    if code:
        raise error_for(code, f"offset of {partition}: {error_for(code).message}")


def _first_error(answer: OffsetCommitResponse) -> tuple[str, int]:
    for topic in answer.topics:
        for each in topic.partitions:
            if each.error_code:
                return f"{topic.name}-{each.partition_index}", each.error_code
    return "", ErrorCode.NONE


async def starting_offsets(
    cluster: Cluster, config: ConsumerConfig, partitions: Mapping[TopicPartition, bool]
) -> dict[TopicPartition, int]:
    """Where each is to be begun: where the group was, if that counts, or where `auto.offset.reset` says."""
    with_committed = [partition for partition, counts in partitions.items() if counts]
    listed = await list_group_offsets(cluster, str(config.group_id), with_committed) if with_committed else {}
    found = {partition: each.offset for partition, each in listed.items() if each is not None}
    fresh = [partition for partition in partitions if partition not in found]
    return found | (await _reset_offsets(cluster, config, fresh) if fresh else {})


async def _reset_offsets(
    cluster: Cluster, config: ConsumerConfig, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, int]:
    reset = _RESETS.get(str(config.auto_offset_reset))
    if reset is None:
        words = ", ".join(map(str, sorted(partitions)))
        raise error_for(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"auto.offset.reset is none, and there is no valid committed offset of {words}",
        )
    return await offsets_at(cluster, config, dict.fromkeys(partitions, int(reset)))


async def offsets_at(
    cluster: Cluster, config: ConsumerConfig, wanted: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """The offsets of an `OffsetSpec` or a time; the end where no record is that young."""
    level = IsolationLevel[str(config.isolation_level).upper()]
    found: dict[TopicPartition, int] = {}
    for partition, listed in (await list_offsets(cluster, wanted, isolation_level=level)).items():
        if isinstance(listed, KafkaError):
            raise listed
        found[partition] = listed.offset
    late = [partition for partition, offset in found.items() if offset < 0]
    if late:
        found |= await offsets_at(cluster, config, dict.fromkeys(late, int(OffsetSpec.LATEST)))
    return found
