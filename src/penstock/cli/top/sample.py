"""How much is in each topic and how far each group has come, at one moment; two of these give rates."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from penstock.cli.output.view import Record
from penstock.client.admin.consumer_groups import ConsumerGroupDescription, describe_consumer_groups
from penstock.client.admin.group_offsets import list_group_offsets
from penstock.client.admin.groups import list_consumer_groups
from penstock.client.admin.list_offsets import ListedOffset, OffsetSpec, list_offsets
from penstock.client.admin.log_dirs import describe_log_dirs
from penstock.types import TopicPartition
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError

Offsets = dict[TopicPartition, int]


@dataclass(frozen=True)
class GroupSample:
    state: str
    members: int
    committed: Offsets


@dataclass(frozen=True)
class Sample:
    taken_at: float
    cluster_id: str | None
    brokers: int
    begins: Offsets
    ends: Offsets
    sizes: Offsets
    """Of the largest replica of each partition: they hold the same."""
    groups: dict[str, GroupSample]


async def take_sample(cluster: Cluster, *, include_internal: bool) -> Sample:
    metadata = await cluster.metadata(None)
    partitions = [
        TopicPartition(topic.name or "", each.partition_index)
        for topic in metadata.topics
        if include_internal or not topic.is_internal
        for each in topic.partitions
    ]
    view = await cluster.describe()
    return Sample(
        time.monotonic(),
        view.cluster_id,
        len(view.nodes),
        await _offsets(cluster, partitions, OffsetSpec.EARLIEST),
        await _offsets(cluster, partitions, OffsetSpec.LATEST),
        await _sizes(cluster, (node.id for node in view.nodes)),
        await _groups(cluster),
    )


async def _offsets(cluster: Cluster, partitions: list[TopicPartition], spec: OffsetSpec) -> Offsets:
    listed = await list_offsets(cluster, dict.fromkeys(partitions, spec)) if partitions else {}
    return {each: found.offset for each, found in listed.items() if isinstance(found, ListedOffset)}


async def _sizes(cluster: Cluster, nodes: Iterable[int]) -> Offsets:
    sizes: Offsets = {}
    for directories in (await describe_log_dirs(cluster, nodes)).values():
        for directory in directories.values():
            for partition, replica in directory.replicas.items():
                sizes[partition] = max(sizes.get(partition, 0), replica.size)
    return sizes


async def _groups(cluster: Cluster) -> dict[str, GroupSample]:
    ids = [group.group_id for group in await list_consumer_groups(cluster)]
    described = await describe_consumer_groups(cluster, ids) if ids else {}
    return {group_id: await _group(cluster, each) for group_id, each in described.items()}


async def _group(cluster: Cluster, group: ConsumerGroupDescription) -> GroupSample:
    try:
        committed = await list_group_offsets(cluster, group.group_id)
    except KafkaError:
        committed = {}  # it was deleted meanwhile
    offsets = {partition: each.offset for partition, each in committed.items() if each is not None}
    return GroupSample(group.state.value, len(group.members), offsets)


# two samples


def topic_rows(now: Sample, before: Sample | None) -> list[Record]:
    """The busiest topics first."""
    names = sorted({partition.topic for partition in now.ends})
    rows = [_topic_row(name, now, before) for name in names]
    return sorted(rows, key=lambda row: (-_amount(row["in_per_s"]), -_amount(row["out_per_s"])))


def _topic_row(name: str, now: Sample, before: Sample | None) -> Record:
    def of_topic(offsets: Offsets) -> Offsets:
        return {each: offset for each, offset in offsets.items() if each.topic == name}

    ends = of_topic(now.ends)
    out = (
        None
        if before is None
        else sum(
            _rate(of_topic(group.committed), of_topic(_committed(before, group_id)), now, before) or 0.0
            for group_id, group in now.groups.items()
        )
    )
    return {
        "topic": name,
        "partitions": len(ends),
        "records": sum(end - now.begins.get(each, 0) for each, end in ends.items()),
        "bytes": sum(of_topic(now.sizes).values()),
        "in_per_s": None if before is None else _rate(ends, of_topic(before.ends), now, before),
        "in_bytes_per_s": None
        if before is None
        else _rate(of_topic(now.sizes), of_topic(before.sizes), now, before),
        "out_per_s": out,
    }


def group_rows(now: Sample, before: Sample | None) -> list[Record]:
    """Those that lag most first."""
    rows: list[Record] = [
        {
            "group": group_id,
            "state": group.state,
            "members": group.members,
            "topics": sorted({partition.topic for partition in group.committed}),
            "lag": sum(
                max(0, now.ends[each] - at) for each, at in group.committed.items() if each in now.ends
            ),
            "out_per_s": None
            if before is None
            else _rate(group.committed, _committed(before, group_id), now, before),
        }
        for group_id, group in sorted(now.groups.items())
    ]
    return sorted(rows, key=lambda row: -_amount(row["lag"]))


def _committed(sample: Sample, group_id: str) -> Offsets:
    group = sample.groups.get(group_id)
    return {} if group is None else group.committed


def _rate(now: Offsets, before: Offsets, later: Sample, earlier: Sample) -> float:
    """Per second; what went back, by deletion or a reset, counts as none, and so does what is new."""
    seconds = max(later.taken_at - earlier.taken_at, 1e-6)
    grown = sum(max(0, value - before[each]) for each, value in now.items() if each in before)
    return round(grown / seconds, 1)


def _amount(value: object) -> float:
    return value if isinstance(value, (int, float)) else 0.0
