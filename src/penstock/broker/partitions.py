"""The partitions that this broker hosts, by topic name and by topic id."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from penstock.broker.partition import Partition
from penstock.controller.image import ClusterImage, TopicImage
from penstock.errors import ApiError, ErrorCode
from penstock.replica.replica_set import ReplicaSet
from penstock.types import TopicPartition


@dataclass(slots=True)
class HostedTopic:
    name: str
    topic_id: bytes
    partitions: dict[int, Partition] = field(default_factory=dict)
    unavailable: set[int] = field(default_factory=set)
    """Partitions that belong here but could not be opened: their log directory is offline."""

    def offline(self) -> set[int]:
        """Partitions that can't be served for want of their log directory."""
        failed = {index for index, partition in self.partitions.items() if partition.directory.offline}
        return failed | self.unavailable


class LedElsewhere(ApiError):
    """The partition has no replica here."""

    def __init__(self, replica_set: ReplicaSet) -> None:
        super().__init__(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        self.replica_set = replica_set


class Partitions:
    def __init__(self, image: ClusterImage) -> None:
        self.image = image
        self.by_name: dict[str, HostedTopic] = {}
        self.by_id: dict[bytes, HostedTopic] = {}
        self.generation = 0  # counts the changes of this table

    def __iter__(self) -> Iterator[Partition]:
        for topic in self.by_name.values():
            yield from topic.partitions.values()

    def find(self, topic: str, index: int) -> Partition:
        """The partition, or an ApiError that says why it is not here."""
        hosted = self.by_name.get(topic)
        found = None if hosted is None else hosted.partitions.get(index)
        return found or self._refuse(
            hosted, self.image.topics.get(topic), index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        )

    def find_by_id(self, topic_id: bytes, index: int) -> Partition:
        hosted = self.by_id.get(topic_id)
        found = None if hosted is None else hosted.partitions.get(index)
        return found or self._refuse(
            hosted, self.image.topic_by_id(topic_id), index, ErrorCode.UNKNOWN_TOPIC_ID
        )

    def _refuse(
        self, hosted: HostedTopic | None, topic: TopicImage | None, index: int, unknown: ErrorCode
    ) -> NoReturn:
        """`unknown` if there is no such topic at all."""
        if hosted is not None and index in hosted.unavailable:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "The partition's log directory is offline.")
        if topic is not None and index in topic.partitions:
            raise LedElsewhere(topic.partitions[index])
        code = unknown if hosted is None and topic is None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        raise ApiError(code, "This server does not host this topic-partition.")

    def add(self, partition: Partition) -> None:
        topic, index = partition.topic_partition
        self._hosted(topic, partition.topic_id).partitions[index] = partition

    def add_unavailable(self, topic_partition: TopicPartition, topic_id: bytes) -> None:
        self._hosted(topic_partition.topic, topic_id).unavailable.add(topic_partition.partition)

    def _hosted(self, name: str, topic_id: bytes) -> HostedTopic:
        self.generation += 1
        hosted = self.by_name.get(name)
        if hosted is None:
            hosted = self.by_name[name] = self.by_id[topic_id] = HostedTopic(name, topic_id)
        return hosted

    def remove(self, partition: Partition) -> None:
        topic, index = partition.topic_partition
        self.generation += 1
        hosted = self.by_name[topic]
        del hosted.partitions[index]
        if not hosted.partitions and not hosted.unavailable:
            del self.by_name[topic], self.by_id[hosted.topic_id]

    def remove_topic(self, name: str) -> list[Partition]:
        self.generation += 1
        hosted = self.by_name.pop(name, None)
        if hosted is None:
            return []
        del self.by_id[hosted.topic_id]
        return list(hosted.partitions.values())
