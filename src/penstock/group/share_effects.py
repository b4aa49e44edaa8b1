"""What share groups have the share coordinator do, and when."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from penstock.controller.image import ClusterImage
from penstock.group.share_partitions import SharedTopic, SharedTopics, SharePartitions


class InitializeShareStates(NamedTuple):
    """Makes the states of share partitions; `ShareGroups.on_initialized` is told, or `on_not_initialized`."""

    group_id: str
    group_epoch: int
    topics: SharedTopics


class PartitionOffsets(NamedTuple):
    """Where share partitions shall begin: offsets by topic id and partition."""

    group_epoch: int
    offsets: Mapping[bytes, Mapping[int, int]]


def states_to_initialize(
    partitions: SharePartitions, image: ClusterImage, topics: Iterable[str], now_ms: int, retry_ms: int
) -> dict[bytes, SharedTopic]:
    """The partitions of these topics that have no state, and for which none is being made since not too long ago."""
    missing = {}
    for name in sorted(topics):
        topic = image.topics.get(name)
        if topic is None:
            continue
        known = partitions.known(topic.topic_id, begun_after_ms=now_ms - retry_ms)
        if len(known) < len(topic.partitions):
            missing[topic.topic_id] = SharedTopic(name, frozenset(topic.partitions) - known, now_ms)
    return missing
