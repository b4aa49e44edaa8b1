"""Steps of streams."""

from collections.abc import Callable, Sequence
from typing import Any

from penstock.pipeline.plan import operations as plan
from penstock.pipeline.plan.nodes import TopicChooser
from penstock.pipeline.plan.operations import Operation
from penstock.pipeline.plan.serdes import Serde
from penstock.pipeline.plan.views import View
from penstock.pipeline.streams.configured import Grouped, Joined, Materialized, Produced, Repartitioned
from penstock.pipeline.streams.graph import GraphNode, ProcessorNode
from penstock.pipeline.streams.handles import GroupHandle, StreamHandle, TableHandle
from penstock.pipeline.streams.nodes import SinkNode, repartition
from penstock.pipeline.streams.processors import ProcessorSupplier, stores_of
from penstock.pipeline.streams.steps.materialized import materialize
from penstock.pipeline.streams.steps.tables import source_table


def step(this: StreamHandle, prefix: str, name: str | None, operation: Operation) -> GraphNode:
    node = ProcessorNode(this.graph.name(name, prefix), operation=lambda: operation)
    this.graph.add(this.node, node)
    return node


def merge(this: StreamHandle, other: StreamHandle, name: str | None) -> StreamHandle:
    node = ProcessorNode(this.graph.name(name, "KSTREAM-MERGE-"), operation=plan.PassThrough)
    this.graph.add([this.node, other.node], node)
    needs_repartition = this.needs_repartition or other.needs_repartition
    return StreamHandle(
        this.graph, node.name, node, this.sources | other.sources, None, None, needs_repartition
    )


def write(this: StreamHandle, topic: str | TopicChooser, produced: Produced | None) -> None:
    given = produced or Produced()
    key_serde, value_serde = this.serdes(given.key_serde, given.value_serde)
    sink = SinkNode(
        this.graph.name(given.name, "KSTREAM-SINK-"),
        graph=this.graph,
        topic=topic,
        key_serde=key_serde,
        value_serde=value_serde,
        partitioner=given.partitioner,
    )
    this.graph.add(this.node, sink)


def through(this: StreamHandle, repartitioned: Repartitioned | None) -> StreamHandle:
    given = repartitioned or Repartitioned()
    key_serde, value_serde = this.serdes(given.key_serde, given.value_serde)
    prefix = given.name if given.name is not None else this.graph.new_name("KSTREAM-REPARTITION-")
    node = repartition(
        this.graph, prefix, key_serde, value_serde, given.number_of_partitions, given.partitioner
    )
    this.graph.add(this.node, node)
    return StreamHandle(this.graph, node.name, node, frozenset([node.name]), key_serde, value_serde)


def to_table(this: StreamHandle, materialized: Materialized | None, name: str | None) -> TableHandle:
    prefix = "KSTREAM-TOTABLE-"
    own = this.graph.name(name, prefix)
    store = materialize(this.graph, materialized, prefix, this.key_serde, this.value_serde)
    parent, sources = this.node, this.sources
    if this.needs_repartition:
        parent = repartition(this.graph, own, store.key_serde, store.value_serde)
        this.graph.add(this.node, parent)
        sources = frozenset([parent.name])
    return source_table(own, parent, sources, store)


# --- groups


def group_by_key(this: StreamHandle, grouped: Grouped | None) -> GroupHandle:
    given = grouped or Grouped()
    key_serde, value_serde = this.serdes(given.key_serde, given.value_serde)
    return GroupHandle(
        this.graph,
        this.name,
        this.node,
        this.sources,
        key_serde,
        value_serde,
        given.name,
        this.needs_repartition,
    )


def group_by(this: StreamHandle, selector: Callable[[Any, Any], Any], grouped: Grouped | None) -> GroupHandle:
    given = grouped or Grouped()
    node = step(this, "KSTREAM-KEY-SELECT-", given.name, plan.SelectKey(selector))
    key_serde = this.graph.serde(given.key_serde, "key")
    value_serde = this.graph.serde(given.value_serde, "value") or this.value_serde
    return GroupHandle(
        this.graph, node.name, node, this.sources, key_serde, value_serde, given.name, needs_repartition=True
    )


# --- joins with tables


def repartition_for_join(
    this: StreamHandle, prefix: str, key_serde: Serde | None, value_serde: Serde | None
) -> StreamHandle:
    """One topic for all joins that are named after this stream."""
    made = repartition(this.graph, prefix, key_serde, value_serde)
    if this.repartitioned is None or this.name != prefix:
        this.repartitioned = made
        this.graph.add(this.node, made)
    own = frozenset([made.name])
    return StreamHandle(this.graph, made.name, this.repartitioned, own, key_serde, value_serde)


def join_table(
    this: StreamHandle, table: TableHandle, joiner: plan.KeyedJoiner, joined: Joined, is_left: bool
) -> StreamHandle:
    graph = this.graph
    key_serde, value_serde = this.serdes(joined.key_serde, joined.value_serde)
    if this.needs_repartition:
        this = repartition_for_join(this, joined.name or this.name, key_serde, value_serde)
    sources = graph.copartition(this.sources, table.sources)
    own = graph.name(joined.name, "KSTREAM-LEFTJOIN-" if is_left else "KSTREAM-JOIN-")
    view = table.logic.view()
    node = ProcessorNode(
        own,
        operation=lambda: plan.JoinTable(view, joiner, is_left),
        connected=view.stores,
        takes_null_keys=is_left,
    )
    graph.add(this.node, node)
    return StreamHandle(graph, own, node, sources, key_serde, None)


def join_global_table(
    this: StreamHandle,
    view: View,
    selector: Callable[[Any, Any], Any],
    joiner: plan.KeyedJoiner,
    is_left: bool,
    name: str | None,
) -> StreamHandle:
    node = step(this, "KSTREAM-LEFTJOIN-", name, plan.JoinTable(view, joiner, is_left, selector))
    node.takes_null_keys = is_left
    return this.at(node)


# --- the user's processors


def run_processor(
    this: StreamHandle, supplier: ProcessorSupplier, stores: Sequence[str], name: str | None, keeps_key: bool
) -> GraphNode:
    prefix = "KSTREAM-PROCESSVALUES-" if keeps_key else "KSTREAM-PROCESSOR-"
    own = name if name is not None else this.graph.new_name(prefix)
    operation = plan.RunProcessor(supplier, keeps_key)
    node = ProcessorNode(own, operation=lambda: operation, connected=tuple(stores))
    node.stores = lambda: stores_of(supplier, this.graph, node)
    this.graph.add(this.node, node)
    return node
