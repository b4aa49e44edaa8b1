"""The offsets of partitions: the first, the last, or that of the first record from a time on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from penstock.client.admin.by_leader import PartitionResults, ask_by_leader, grouped_by_topic
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from penstock.wire_client import Cluster
from penstock.wire_client.errors import UnsupportedVersionError, error_for

CONSUMER = -1  # for a replica id
UNKNOWN_OFFSET = -1


class OffsetSpec(IntEnum):
    """What stands for a time in the request; any other number is a time in milliseconds since 1970.

    >>> from penstock.client import OffsetSpec
    >>> int(OffsetSpec.EARLIEST)
    -2
    """

    LATEST = -1
    EARLIEST = -2
    MAX_TIMESTAMP = -3
    EARLIEST_LOCAL = -4
    LATEST_TIERED = -5
    EARLIEST_PENDING_UPLOAD = -6


class IsolationLevel(IntEnum):
    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


@dataclass(frozen=True, slots=True)
class ListedOffset:
    """`offset` is -1 where there is no such record."""

    offset: int
    timestamp: int
    leader_epoch: int | None


# The first version of the request that knows each.
_FIRST_VERSION = {
    OffsetSpec.MAX_TIMESTAMP: 7,
    OffsetSpec.EARLIEST_LOCAL: 8,
    OffsetSpec.LATEST_TIERED: 9,
    OffsetSpec.EARLIEST_PENDING_UPLOAD: 11,
}


async def list_offsets(
    cluster: Cluster,
    wanted: Mapping[TopicPartition, int],
    *,
    isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> PartitionResults[ListedOffset]:
    """For each partition the offset that an `OffsetSpec` or a time asks for, or why there is none."""

    async def ask_node(node_id: int, part: dict[TopicPartition, int]) -> PartitionResults[ListedOffset]:
        newest = await cluster.newest_version_of_leader(node_id, ListOffsetsRequest)
        results: PartitionResults[ListedOffset] = {
            partition: _too_old(newest, spec)
            for partition, spec in part.items()
            if newest < _first_version(spec)
        }
        askable = {partition: spec for partition, spec in part.items() if partition not in results}
        if askable:
            request = _request(askable, isolation_level, cluster.config.default_api_timeout_ms)
            results |= _results(await cluster.ask_leader(node_id, request, ListOffsetsResponse))
        return results

    return await ask_by_leader(cluster, wanted, ask_node, "offsets")


def _first_version(spec: int) -> int:
    return max((version for known, version in _FIRST_VERSION.items() if known == spec), default=0)


def _too_old(newest: int, spec: int) -> UnsupportedVersionError:
    name = OffsetSpec(spec).name.lower().replace("_", "-")
    return UnsupportedVersionError(
        f"The node does not know {name}: it has ListOffsets up to version {newest}, "
        f"which came with version {_first_version(spec)}",
        ErrorCode.UNSUPPORTED_VERSION,
    )


def _request(
    part: Mapping[TopicPartition, int], isolation_level: IsolationLevel, timeout_ms: int
) -> ListOffsetsRequest:
    topics = grouped_by_topic(part, lambda partition, spec: ListOffsetsPartition(partition, timestamp=spec))
    return ListOffsetsRequest(
        CONSUMER,
        isolation_level,
        [ListOffsetsTopic(name, partitions) for name, partitions in topics.items()],
        timeout_ms,
    )


def _results(answer: ListOffsetsResponse) -> PartitionResults[ListedOffset]:
    return {
        TopicPartition(topic.name, each.partition_index): (
            error_for(each.error_code) if each.error_code else _listed(each)
        )
        for topic in answer.topics
        for each in topic.partitions
    }


def _listed(each: ListOffsetsPartitionResponse) -> ListedOffset:
    return ListedOffset(each.offset, each.timestamp, None if each.leader_epoch < 0 else each.leader_epoch)
