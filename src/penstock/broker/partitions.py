"""The partitions that this broker hosts, by topic name and by topic id."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from penstock.broker.partition import Partition
from penstock.errors import ApiError, ErrorCode
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


def find_partition(
    hosted: HostedTopic | None, index: int, unknown: ErrorCode = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
) -> Partition:
    """The partition, or an ApiError that says why it is not there; `unknown` if the whole topic is not."""
    if hosted is None:
        raise ApiError(unknown, "This server does not host this topic-partition.")
    partition = hosted.partitions.get(index)
    if partition is not None:
        return partition
    if index in hosted.unavailable:
        raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, "The partition's log directory is offline.")
    raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.")


class Partitions:
    def __init__(self) -> None:
        self.by_name: dict[str, HostedTopic] = {}
        self.by_id: dict[bytes, HostedTopic] = {}
        self.generation = 0  # counts the changes of this table

    def __iter__(self) -> Iterator[Partition]:
        for topic in self.by_name.values():
            yield from topic.partitions.values()

    def find(self, topic: str, index: int) -> Partition:
        return find_partition(self.by_name.get(topic), index)

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
