"""One aggregate of several grouped streams, each with an aggregator of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from penstock.pipeline.plan import operations as plan
from penstock.pipeline.plan.operations import Aggregator, Initializer, Operation
from penstock.pipeline.plan.views import StoreView, View
from penstock.pipeline.streams.configured import Materialized
from penstock.pipeline.streams.graph import GraphNode
from penstock.pipeline.streams.handles import GroupHandle, TableHandle, TableLogic
from penstock.pipeline.streams.nodes import repartition
from penstock.pipeline.streams.steps.aggregates import (
    AggregateLogic,
    AnyWindows,
    MakeOperation,
    grace_of,
    windowed_key,
    windowed_operation,
    windowed_spec,
)
from penstock.pipeline.streams.steps.materialized import Store, materialize
from penstock.pipeline.streams.steps.tables import table_node

AGGREGATE = "COGROUPKSTREAM-AGGREGATE-"


@dataclass(eq=False)
class Cogroup:
    parts: list[tuple[GroupHandle, Aggregator]]
    parents: dict[int, GraphNode] = field(default_factory=dict)
    """Of each group, where its records come from, after repartitioning."""


class _MergedLogic(TableLogic):
    def __init__(self, parts: Sequence[AggregateLogic], store: Store) -> None:
        self.parts, self.store = parts, store

    def operation(self) -> Operation:
        return plan.PassThrough()

    def view(self) -> View:
        return StoreView(self.store.name)

    def enable_sending_old(self, force: bool) -> bool:
        for part in self.parts:
            part.enable_sending_old(force)
        return True


def aggregate(
    cogroup: Cogroup,
    initializer: Initializer,
    materialized: Materialized | None,
    name: str | None,
    windows: AnyWindows | None = None,
    merger: Aggregator | None = None,
) -> TableHandle:
    first = cogroup.parts[0][0]
    graph = first.graph
    given = materialized.key_serde if materialized else None
    key_serde = graph.serde(given, "key") or first.key_serde
    store = materialize(graph, materialized, AGGREGATE, key_serde)
    _repartition(cogroup, store.name)
    logics, nodes = [], []
    for number, (group, aggregator) in enumerate(cogroup.parts):
        own = graph.suffixed(name, f"-cogroup-agg-{number}", AGGREGATE)
        logic = _part(store, initializer, aggregator, windows, merger)
        logic.node = node = table_node(own, logic)
        node.grace_ms = grace_of(windows) if windows else None
        graph.add(cogroup.parents[id(group)], node)
        logics.append(logic)
        nodes.append(node)
    merged = _MergedLogic(logics, store)
    own = graph.suffixed(name, "-cogroup-merge", "COGROUPKSTREAM-MERGE-")
    merge_node = table_node(own, merged)
    graph.add(nodes, merge_node)
    sources = frozenset[str]().union(*(group.sources for group, _ in cogroup.parts))
    key = windowed_key(windows, store) if windows else store.key_serde
    return TableHandle(graph, own, merge_node, sources, key, store.value_serde, merged, store.queryable)


def _part(
    store: Store,
    initializer: Initializer,
    aggregator: Aggregator,
    windows: AnyWindows | None,
    merger: Aggregator | None,
) -> AggregateLogic:
    if windows is None:
        return AggregateLogic(store, _plain(store, initializer, aggregator), Store.key_value)
    make = windowed_operation(windows, store, initializer, aggregator, merger, on_close=False)
    spec = windowed_spec(windows, on_close=False)
    return AggregateLogic(store, make, spec)


def _plain(store: Store, initializer: Initializer, aggregator: Aggregator) -> MakeOperation:
    def make(sends_old: bool) -> Operation:
        return plan.AggregateStream(store.name, initializer, aggregator, sends_old)

    return make


def _repartition(cogroup: Cogroup, store: str) -> None:
    for group, _ in cogroup.parts:
        if not group.needs_repartition:
            cogroup.parents[id(group)] = group.node
            continue
        prefix = group.repartition_name if group.repartition_name is not None else store
        made = repartition(group.graph, prefix, group.key_serde, group.value_serde)
        if id(group) not in cogroup.parents:
            group.graph.add(group.node, made)
            cogroup.parents[id(group)] = made
    first = cogroup.parts[0][0]
    first.graph.copartition(*(group.sources for group, _ in cogroup.parts))
