"""The partitions that this broker hosts, by topic name and by topic id."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from penstock.broker.partition import Partition
from penstock.errors import ApiError, ErrorCode


@dataclass(slots=True)
class HostedTopic:
    name: str
    topic_id: bytes
    partitions: dict[int, Partition] = field(default_factory=dict)


class Partitions:
    def __init__(self) -> None:
        self.by_name: dict[str, HostedTopic] = {}
        self.by_id: dict[bytes, HostedTopic] = {}
        self.generation = 0  # counts the changes of this table

    def __iter__(self) -> Iterator[Partition]:
        for topic in self.by_name.values():
            yield from topic.partitions.values()

    def find(self, topic: str, index: int) -> Partition:
        hosted = self.by_name.get(topic)
        partition = None if hosted is None else hosted.partitions.get(index)
        if partition is None:
            raise ApiError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition."
            )
        return partition

    def add(self, partition: Partition) -> None:
        self.generation += 1
        name = partition.topic_partition.topic
        hosted = self.by_name.get(name)
        if hosted is None:
            hosted = self.by_name[name] = HostedTopic(name, partition.topic_id)
            self.by_id[partition.topic_id] = hosted
        hosted.partitions[partition.topic_partition.partition] = partition

    def remove_topic(self, name: str) -> list[Partition]:
        self.generation += 1
        hosted = self.by_name.pop(name, None)
        if hosted is None:
            return []
        del self.by_id[hosted.topic_id]
        return list(hosted.partitions.values())
