"""Partitions of topics, and where their logs begin and end."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.cli.tools.common.failures import CommandFailure
from penstock.client.admin.list_offsets import UNKNOWN_OFFSET, OffsetSpec, list_offsets
from penstock.client.admin.topic_descriptions import TopicPartitionInfo, describe_topics
from penstock.types import TopicPartition
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError


async def partitions_of_topics(
    cluster: Cluster, topics: Iterable[str]
) -> dict[TopicPartition, TopicPartitionInfo]:
    """Of all these topics, in order; a topic that is not there is an error."""
    found: dict[TopicPartition, TopicPartitionInfo] = {}
    for topic, described in (await describe_topics(cluster, topics)).items():
        if isinstance(described, KafkaError):
            raise described
        found |= {TopicPartition(topic, each.partition): each for each in described.partitions}
    return found


async def end_offsets(cluster: Cluster, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    return await _offsets(cluster, partitions, OffsetSpec.LATEST)


async def start_offsets(cluster: Cluster, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    return await _offsets(cluster, partitions, OffsetSpec.EARLIEST)


async def offsets_from(
    cluster: Cluster, partitions: Iterable[TopicPartition], moment_ms: int
) -> dict[TopicPartition, int | None]:
    """Of the first record from a moment on; None where there is none."""
    found = await _offsets(cluster, partitions, moment_ms)
    return {each: None if offset == UNKNOWN_OFFSET else offset for each, offset in found.items()}


async def _offsets(
    cluster: Cluster, partitions: Iterable[TopicPartition], spec: int
) -> dict[TopicPartition, int]:
    listed = await list_offsets(cluster, dict.fromkeys(partitions, spec))
    found: dict[TopicPartition, int] = {}
    for partition, result in listed.items():
        if isinstance(result, KafkaError):
            raise result
        found[partition] = result.offset
    return found


async def check_partitions(cluster: Cluster, partitions: list[TopicPartition]) -> None:
    """That they are there, and that each has a leader to ask."""
    known = await partitions_of_topics(cluster, [partition.topic for partition in partitions])
    missing = [partition for partition in partitions if partition not in known]
    if missing:
        raise CommandFailure(f'The partitions "{",".join(map(str, missing))}" do not exist')
    leaderless = [each for each in known if each in set(partitions) and known[each].leader is None]
    if leaderless:
        raise CommandFailure(f'The partitions "{",".join(map(str, leaderless))}" have no leader')
