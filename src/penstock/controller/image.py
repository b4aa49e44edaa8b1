"""The cluster as one broker sees it: brokers, topics, configs, who is controller.

Every broker builds the same image from the same znodes. It changes on the event loop only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from penstock.replica.replica_set import ReplicaSet
from penstock.types import FIRST_LIFE, TopicPartition

INTERNAL_TOPICS = frozenset(
    {"__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata"}
)


@dataclass(frozen=True, slots=True)
class BrokerImage:
    """A broker that is registered now; its endpoints by listener name."""

    id: int
    endpoints: Mapping[str, tuple[str, int]]
    rack: str | None = None
    epoch: int = -1
    """When it registered, in ZooKeeper's count; another one for each of its lives."""
    is_leaving: bool = False
    """Whether it shuts down, and waits for others to take over what it leads."""
    whole_since: int = FIRST_LIFE
    """The first of its lives of which nothing that was written is lost: a power cut, or another disk, begins anew."""


@dataclass(frozen=True, slots=True)
class TopicImage:
    name: str
    topic_id: bytes
    partitions: Mapping[int, ReplicaSet]
    version: int = -1
    """Of the topic's znode, which assignments are compared with before they are changed."""

    @property
    def is_internal(self) -> bool:
        return self.name in INTERNAL_TOPICS


@dataclass(slots=True)
class ClusterImage:
    cluster_id: str = ""
    controller_id: int = -1
    brokers: dict[int, BrokerImage] = field(default_factory=dict)
    topics: dict[str, TopicImage] = field(default_factory=dict)
    topic_names: dict[bytes, str] = field(default_factory=dict)
    topic_configs: dict[str, dict[str, str]] = field(default_factory=dict)
    broker_configs: dict[str, dict[str, str]] = field(default_factory=dict)
    """By broker id as text; `<default>` holds what applies to all brokers."""
    group_configs: dict[str, dict[str, str]] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)
    """The level of each feature that is switched on."""
    features_epoch: int = 0

    def put_topic(self, topic: TopicImage, configs: dict[str, str]) -> None:
        self.topics[topic.name] = topic
        self.topic_names[topic.topic_id] = topic.name
        self.topic_configs[topic.name] = configs

    def remove_topic(self, name: str) -> None:
        topic = self.topics.pop(name, None)
        if topic is not None:
            self.topic_names.pop(topic.topic_id, None)
        self.topic_configs.pop(name, None)

    def topic_by_id(self, topic_id: bytes) -> TopicImage | None:
        name = self.topic_names.get(topic_id)
        return None if name is None else self.topics[name]

    def has_partition(self, partition: TopicPartition) -> bool:
        topic = self.topics.get(partition.topic)
        return topic is not None and partition.partition in topic.partitions

    def live_brokers(self) -> Iterator[BrokerImage]:
        for broker_id in sorted(self.brokers):
            yield self.brokers[broker_id]
