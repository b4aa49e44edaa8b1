"""How far a Kafka Streams program has come in what it reads."""

from __future__ import annotations

from typing import NamedTuple

from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.group_offsets.partitions import end_offsets, start_offsets
from penstock.client.admin.group_offsets import CommittedOffset, list_group_offsets
from penstock.client.admin.streams_groups import StreamsGroupDescription
from penstock.types import TopicPartition
from penstock.wire_client import Cluster


class Position(NamedTuple):
    committed: CommittedOffset | None
    end_offset: int
    lag: int


async def positions_of(cluster: Cluster, group: StreamsGroupDescription) -> dict[TopicPartition, Position]:
    """In all partitions that active tasks read."""
    topics_read = {each.subtopology_id: each.topics_read for each in group.subtopologies}
    read = in_hash_order(
        TopicPartition(topic, partition)
        for member in group.members
        for subtopology, partitions in member.assignment.active
        for topic in topics_read[subtopology]
        for partition in partitions
    )
    starts, ends = await start_offsets(cluster, read), await end_offsets(cluster, read)
    committed = await list_group_offsets(cluster, group.group_id)
    positions = {}
    for partition in read:
        found = committed.get(partition)
        since = starts[partition] if found is None else found.offset
        positions[partition] = Position(found, ends[partition], ends[partition] - since)
    return positions
