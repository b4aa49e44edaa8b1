"""The coordinators of a broker: the shards of each internal topic, and what moves between them and the cluster."""

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from penstock.broker.internal_topics import (
    CONSUMER_OFFSETS,
    SHARE_GROUP_STATE,
    TRANSACTION_STATE,
    InternalTopic,
)
from penstock.broker.partition import Partition
from penstock.broker.shards import Shards
from penstock.broker.share_groups import Sharing
from penstock.broker.share_states import ShareStates
from penstock.broker.streams_topics import StreamsTopics
from penstock.broker.transaction_markers import MarkerWriter, OwnMarkers
from penstock.broker.transaction_membership import Operation, Question, ToCoordinators, is_asked
from penstock.controller.features import GROUP_VERSION, STREAMS_VERSION
from penstock.controller.image import TopicImage
from penstock.group.groups import CONSUMER, STREAMS
from penstock.group.shard import GroupShard
from penstock.group.share_state import ShareStateShard
from penstock.machine import Producer
from penstock.txn.shard import TransactionShard
from penstock.types import TopicPartition

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


class Coordinators:
    def __init__(self, broker: "Broker") -> None:
        self.broker = broker
        self.groups = Shards(
            broker.clock,
            broker.image,
            CONSUMER_OFFSETS,
            self._create_topic,
            self._make_group_shard,
            lambda shard, effect: self.sharing.begin_effect(shard, effect),
        )
        self.own_markers = OwnMarkers(broker.clock, broker.partitions, self.groups)
        self.markers = MarkerWriter(self.own_markers, broker.image, broker.registration, broker.peers)
        self.transactions = Shards(
            broker.clock,
            broker.image,
            TRANSACTION_STATE,
            self._create_topic,
            self._make_transaction_shard,
            self.markers.begin,
        )
        self.to_transactions = ToCoordinators(
            self.transactions, broker.registration, broker.peers, lambda: broker.settings
        )
        self.share_states = Shards(
            broker.clock,
            broker.image,
            SHARE_GROUP_STATE,
            self._create_topic,
            lambda index: ShareStateShard(broker.image, lambda: broker.settings),
            lambda shard, effect: self.sharing.states.begin_effect(shard, effect),
        )
        states = ShareStates(lambda: broker.settings, broker.registration, broker.peers, self.share_states)
        self.sharing = Sharing(broker, states)
        self.streams_topics = StreamsTopics(
            broker.loop, broker.clock, lambda *topic: broker.topic_creation.create(*topic)
        )
        self._is_started = False
        self._to_load: list[Partition] = []

    async def _create_topic(self, topic: InternalTopic) -> None:
        broker = self.broker
        await topic.create(broker.settings, broker.image.brokers, broker.topic_creation)

    def _make_group_shard(self, index: int) -> GroupShard:
        return GroupShard(self.broker.image, lambda: self.broker.settings, lambda: str(uuid.uuid4()))

    def _make_transaction_shard(self, index: int) -> TransactionShard:
        return TransactionShard(
            lambda: self.broker.settings,
            self.broker.producer_ids.take,
            lambda: self.broker.features.level("transaction.version"),
        )

    @property
    def serves_consumer_groups(self) -> bool:
        """Whether the protocol of KIP-848 is switched on."""
        is_wanted = CONSUMER in self.broker.settings.group_coordinator_rebalance_protocols
        return is_wanted and self.broker.features.level(GROUP_VERSION) >= 1

    @property
    def serves_streams_groups(self) -> bool:
        """Whether the protocol of KIP-1071 is switched on."""
        is_wanted = STREAMS in self.broker.settings.group_coordinator_rebalance_protocols
        return is_wanted and self.broker.features.level(STREAMS_VERSION) >= 1

    def all(self) -> Iterator[Shards[Any]]:
        yield self.groups
        yield self.transactions
        yield self.share_states

    def start(self) -> None:
        """Loads what is there; the image is whole by now, which the machines rely on."""
        self._is_started = True
        for partition in self._to_load:
            self.on_partition(partition)
        self._to_load.clear()

    # transactions

    async def verify_transaction(
        self, transactional_id: str, producer: Producer, partition: TopicPartition, operation: Operation
    ) -> None:
        """Makes sure that a transaction includes a partition that it is about to write to, or raises the ApiError
        that refuses the write."""
        if not is_asked(self.broker.settings, operation):
            return
        question = Question(self.to_transactions, transactional_id, producer, [partition], operation)
        refusals = question.ask_at_once()
        if refusals is None:
            refusals = await question.answer()
        if refusals:
            raise refusals[partition]

    # the cluster's news

    def on_partition(self, partition: Partition) -> None:
        """A partition has come to be led here."""
        if not self._is_started:
            self._to_load.append(partition)
            return
        for shards in self.all():
            if shards.topic.name == partition.topic_partition.topic:
                shards.on_partition(partition)

    def on_partition_lost(self, partition: Partition) -> None:
        """Another broker leads it from now on."""
        if partition in self._to_load:
            self._to_load.remove(partition)
        for shards in self.all():
            if shards.topic.name == partition.topic_partition.topic:
                shards.on_partition_lost(partition)

    def on_topic(self, topic: TopicImage) -> None:
        """A topic was created, or has grown."""
        if not self._is_started:
            return
        for shards in self.all():
            shards.on_topics_changed(frozenset({topic.name}))

    def on_topic_removed(self, topic: TopicImage) -> None:
        self.sharing.on_topic_removed(topic)
        for shards in self.all():
            shards.on_topic_removed(topic)

    def close(self) -> None:
        self.sharing.close()
        self.streams_topics.close()
        self.markers.close()
        for shards in self.all():
            shards.close()
