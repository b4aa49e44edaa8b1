"""Joins of a table with another one by a foreign key that is among its values.

Each row of this table subscribes, through a topic, to its foreign key at the other one, which keeps the subscription
and answers through a second topic, then and whenever its row changes. An answer counts only if this row is still what
it was when it asked, which a hash that goes there and back tells.
"""

from collections.abc import Callable
from typing import Any

from penstock.pipeline.formats.internal import answer_serde, subscription_serde
from penstock.pipeline.plan import operations as plan
from penstock.pipeline.plan.nodes import InternalTopic
from penstock.pipeline.plan.stores import SubscriptionStoreSpec
from penstock.pipeline.plan.views import Joiner
from penstock.pipeline.streams.configured import Materialized, TableJoined
from penstock.pipeline.streams.graph import GraphNode, ProcessorNode
from penstock.pipeline.streams.handles import TableHandle
from penstock.pipeline.streams.nodes import InternalSourceNode, SinkNode
from penstock.pipeline.streams.steps.materialized import materialize
from penstock.pipeline.streams.steps.tables import source_table

PREFIX = "KTABLE-FK-JOIN-"


def join_by_foreign_key(
    this: TableHandle,
    other: TableHandle,
    extractor: Callable[[Any, Any], Any],
    joiner: Joiner,
    joined: TableJoined | None,
    materialized: Materialized | None,
    is_left: bool,
) -> TableHandle:
    other.enable_sending_old(force=True)
    this.enable_sending_old(force=True)
    return _ForeignKeyJoin(this, other, extractor, joiner, joined or TableJoined(), is_left).made(
        materialized
    )


class _ForeignKeyJoin:
    def __init__(
        self,
        this: TableHandle,
        other: TableHandle,
        extractor: Callable[[Any, Any], Any],
        joiner: Joiner,
        joined: TableJoined,
        is_left: bool,
    ) -> None:
        self.this, self.other, self.extractor, self.joiner = this, other, extractor, joiner
        self.graph, self.given, self.is_left = this.graph, joined.name, is_left
        self.key_serde = self.graph.known(this.key_serde, "key", this.node)
        self.value_serde = self.graph.known(this.value_serde, "value", this.node)
        self.foreign_key_serde = self.graph.known(other.key_serde, "key", other.node)
        self.hash_topic = ""
        self.foreign_value_serde = self.graph.known(other.value_serde, "value", other.node)

    def name(self, suffix: str, prefix: str) -> str:
        return self.graph.suffixed(self.given, suffix, prefix)

    def made(self, materialized: Materialized | None) -> TableHandle:
        receive = self._subscriptions()
        answers = self._answers(receive)
        view = self.this.logic.view()
        operation = plan.ResolveAnswer(view, self.joiner, self.is_left, self.value_serde, self.hash_topic)
        resolve = ProcessorNode(
            self.name(
                "-subscription-response-resolver", f"{PREFIX}SUBSCRIPTION-RESPONSE-RESOLVER-PROCESSOR-"
            ),
            operation=lambda: operation,
            connected=view.stores,
        )
        self.graph.add(answers, resolve)
        own = self.name("-result", f"{PREFIX}OUTPUT-")
        store = materialize(self.graph, materialized, f"{PREFIX}OUTPUT-", self.key_serde)
        table = source_table(own, resolve, self.this.sources | {answers.name}, store)
        table.queryable = store.name
        return table

    def _subscriptions(self) -> GraphNode:
        """From this table to the place of the other; the last node keeps them."""
        topic = self.name("-subscription-registration", f"{PREFIX}SUBSCRIPTION-REGISTRATION-") + "-topic"
        self.hash_topic = f"{topic}-vh"
        serdes = self.foreign_key_serde, self.value_serde
        operation = plan.Subscribe(self.extractor, self.is_left, *serdes, self.hash_topic)
        send = ProcessorNode(
            self.name("-subscription-registration-processor", f"{PREFIX}SUBSCRIPTION-REGISTRATION-"),
            operation=lambda: operation,
        )
        self.graph.add(self.this.node, send)
        value_serde = subscription_serde(self.key_serde)
        sink = SinkNode(
            self.name("-subscription-registration-sink", "KTABLE-SINK-"),
            graph=self.graph,
            topic=topic,
            key_serde=self.foreign_key_serde,
            value_serde=value_serde,
        )
        self.graph.add(send, sink)
        source = InternalSourceNode(
            self.name("-subscription-registration-source", "KTABLE-SOURCE-"),
            topic=InternalTopic(topic),
            key_serde=self.foreign_key_serde,
            value_serde=value_serde,
        )
        self.graph.add(sink, source)
        self.graph.copartition(self.other.sources, [source.name])
        return source

    def _answers(self, subscriptions: GraphNode) -> GraphNode:
        """From the other table back to the place of this one."""
        store = SubscriptionStoreSpec(
            self.name("-subscription-store", f"{PREFIX}SUBSCRIPTION-STATE-STORE-"),
            foreign_key_serde=self.foreign_key_serde,
            key_serde=self.key_serde,
            value_serde=subscription_serde(self.key_serde),
        )
        processor = f"{PREFIX}SUBSCRIPTION-PROCESSOR-"
        receive = ProcessorNode(
            self.name("-subscription-receive", processor),
            operation=lambda: plan.ReceiveSubscription(store.name),
            stores=lambda: (store,),
        )
        self.graph.add(subscriptions, receive)
        view = self.other.logic.view()
        join = ProcessorNode(
            self.name("-subscription-join-foreign", processor),
            operation=lambda: plan.JoinSubscription(view),
            connected=view.stores,
        )
        self.graph.add(receive, join)
        changed = ProcessorNode(
            self.name("-foreign-join-subscription", processor),
            operation=lambda: plan.AnswerSubscribers(store.name),
            stores=lambda: (store,),
        )
        self.graph.add(self.other.node, changed)
        return self._answer_topic([join, changed])

    def _answer_topic(self, parents: list[ProcessorNode]) -> GraphNode:
        topic = self.name("-subscription-response", f"{PREFIX}SUBSCRIPTION-RESPONSE-") + "-topic"
        value_serde = answer_serde(self.foreign_value_serde)
        sink = SinkNode(
            self.name("-subscription-response-sink", "KTABLE-SINK-"),
            graph=self.graph,
            topic=topic,
            key_serde=self.key_serde,
            value_serde=value_serde,
            partitioner=_partition_of_answer,
        )
        self.graph.add(parents, sink)
        source = InternalSourceNode(
            self.name("-subscription-response-source", "KTABLE-SOURCE-"),
            topic=InternalTopic(topic),
            key_serde=self.key_serde,
            value_serde=value_serde,
        )
        self.graph.add(sink, source)
        self.graph.copartition(self.this.sources, [source.name])
        return source


def _partition_of_answer(topic: str, key: Any, answer: Any, partitions: int) -> int | None:
    partition: int | None = answer.partition
    return partition
