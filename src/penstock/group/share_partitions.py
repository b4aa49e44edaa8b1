"""Which share partitions of a group have their state: it is being made, it is there, or it is being removed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.wire.stored.share_group import (
    ShareGroupStatePartitionMetadataValue,
    TopicInfo,
    TopicPartitionsInfo,
)


class SharedTopic(NamedTuple):
    name: str
    partitions: frozenset[int]
    since_ms: int = 0


SharedTopics = Mapping[bytes, SharedTopic]


@dataclass(frozen=True, slots=True)
class SharePartitions:
    initializing: SharedTopics = field(default_factory=dict)
    initialized: SharedTopics = field(default_factory=dict)
    deleting: Mapping[bytes, str] = field(default_factory=dict)
    """Names by topic id."""

    @classmethod
    def of_record(cls, value: ShareGroupStatePartitionMetadataValue, now_ms: int) -> "SharePartitions":
        return cls(
            _topics(value.initializing_topics, now_ms),
            _topics(value.initialized_topics, now_ms),
            {topic.topic_id: topic.topic_name for topic in value.deleting_topics},
        )

    def to_record(self) -> ShareGroupStatePartitionMetadataValue:
        return ShareGroupStatePartitionMetadataValue(
            _infos(self.initializing),
            _infos(self.initialized),
            [TopicInfo(topic_id, name) for topic_id, name in self.deleting.items()],
        )

    def begin(self, topics: SharedTopics) -> "SharePartitions":
        """With the state of these being made."""
        initializing = merged(self.initializing, topics)
        deleting = {
            topic_id: name for topic_id, name in self.deleting.items() if topic_id not in initializing
        }
        return SharePartitions(initializing, self.initialized, deleting)

    def finish(self, topics: SharedTopics) -> "SharePartitions":
        """With the state of these there."""
        return SharePartitions(
            without(self.initializing, topics), merged(self.initialized, topics), self.deleting
        )

    def give_up(self, topics: SharedTopics) -> "SharePartitions":
        """With the state of these not being made any more."""
        return SharePartitions(without(self.initializing, topics), self.initialized, self.deleting)

    def begin_delete(self, topics: Mapping[bytes, str]) -> "SharePartitions":
        kept = {topic_id: topic for topic_id, topic in self.initialized.items() if topic_id not in topics}
        return SharePartitions(self.initializing, kept, {**self.deleting, **topics})

    def finish_delete(self, topic_ids: Iterable[bytes]) -> "SharePartitions":
        gone = set(topic_ids)
        deleting = {topic_id: name for topic_id, name in self.deleting.items() if topic_id not in gone}
        return SharePartitions(self.initializing, self.initialized, deleting)

    def without_topics(self, topic_ids: Iterable[bytes]) -> "SharePartitions":
        gone = set(topic_ids)
        return SharePartitions(
            {topic_id: topic for topic_id, topic in self.initializing.items() if topic_id not in gone},
            {topic_id: topic for topic_id, topic in self.initialized.items() if topic_id not in gone},
            {topic_id: name for topic_id, name in self.deleting.items() if topic_id not in gone},
        )

    def topic_ids(self) -> set[bytes]:
        return {*self.initializing, *self.initialized, *self.deleting}

    def known(self, topic_id: bytes, *, begun_after_ms: int) -> frozenset[int]:
        """The partitions of a topic that have their state, or will soon."""
        partitions: frozenset[int] = frozenset()
        if topic_id in self.initialized:
            partitions = self.initialized[topic_id].partitions
        begun = self.initializing.get(topic_id)
        if begun is not None and begun.since_ms > begun_after_ms:
            partitions |= begun.partitions
        return partitions


def merged(left: SharedTopics, right: SharedTopics) -> dict[bytes, SharedTopic]:
    both = dict(left)
    for topic_id, topic in right.items():
        known = both.get(topic_id)
        partitions = topic.partitions if known is None else known.partitions | topic.partitions
        both[topic_id] = topic._replace(partitions=partitions)
    return both


def without(left: SharedTopics, right: SharedTopics) -> dict[bytes, SharedTopic]:
    rest = {}
    for topic_id, topic in left.items():
        partitions = topic.partitions - right[topic_id].partitions if topic_id in right else topic.partitions
        if partitions:
            rest[topic_id] = topic._replace(partitions=partitions)
    return rest


def _topics(infos: Iterable[TopicPartitionsInfo], now_ms: int) -> dict[bytes, SharedTopic]:
    return {info.topic_id: SharedTopic(info.topic_name, frozenset(info.partitions), now_ms) for info in infos}


def _infos(topics: SharedTopics) -> list[TopicPartitionsInfo]:
    return [
        TopicPartitionsInfo(topic_id, topic.name, sorted(topic.partitions))
        for topic_id, topic in topics.items()
    ]
