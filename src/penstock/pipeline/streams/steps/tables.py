"""Steps of tables.

A table is only as materialised as it must be. One that is read from a topic gets a store when someone looks its rows
up, or needs old rows; one that is filtered or mapped is computed anew from the table above, unless the user names a
store for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.pipeline.plan import operations as plan
from penstock.pipeline.plan.stores import StoreSpec
from penstock.pipeline.plan.views import FilterView, MapView, StoreView, View
from penstock.pipeline.streams.configured import Grouped, Materialized
from penstock.pipeline.streams.graph import GraphNode, ProcessorNode, StreamsGraph
from penstock.pipeline.streams.handles import GroupHandle, StreamHandle, TableHandle, TableLogic
from penstock.pipeline.streams.nodes import SourceNode
from penstock.pipeline.streams.steps.materialized import Store, materialize


def table_node(name: str, logic: TableLogic, connected: Sequence[str] = ()) -> ProcessorNode:
    return ProcessorNode(name, operation=logic.operation, stores=logic.stores, connected=connected)


# --- sources


class SourceLogic(TableLogic):
    """Rows as they come: of a topic, of a stream, of the end of a join by a foreign key."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.node: GraphNode | None = None
        self.is_materialized = store.is_queryable

    def operation(self) -> plan.TableSource:
        return plan.TableSource(self.store.name if self.is_materialized else None, self.sends_old)

    def stores(self) -> Sequence[StoreSpec]:
        assert self.node is not None
        return (self.store.key_value(self.node),) if self.is_materialized else ()

    def view(self) -> View:
        self.is_materialized = True
        return StoreView(self.store.name)

    def enable_sending_old(self, force: bool) -> bool:
        if not force and not self.is_materialized:
            return False
        self.is_materialized = self.sends_old = True
        return True


def source_table(name: str, parent: GraphNode, sources: frozenset[str], store: Store) -> TableHandle:
    logic = SourceLogic(store)
    logic.node = node = table_node(name, logic)
    store.graph.add(parent, node)
    return TableHandle(
        store.graph, name, node, sources, store.key_serde, store.value_serde, logic, store.queryable
    )


def topic_table(graph: StreamsGraph, source: SourceNode, table_name: str, store: Store) -> TableHandle:
    """The source and its table are one step of the graph, as Kafka Streams numbers them."""
    logic = SourceLogic(store)
    logic.node = node = _TopicTableNode(
        table_name, operation=logic.operation, stores=logic.stores, source=source
    )
    graph.add(graph.root, node)
    sources = frozenset([source.name])
    return TableHandle(
        graph, table_name, node, sources, source.key_serde, source.value_serde, logic, store.queryable
    )


@dataclass(eq=False)
class _TopicTableNode(ProcessorNode):
    source: SourceNode | None = None

    @property
    def parent_names(self) -> tuple[str, ...]:
        assert self.source is not None
        return (self.source.name,)

    def write(self, assembly: Any) -> None:
        assert self.source is not None
        self.source.write(assembly)
        super().write(assembly)


# --- filters and maps


class _Derived(TableLogic):
    def __init__(self, parent: TableHandle, store: Store | None) -> None:
        self.parent = parent
        self.store = store if store is not None and store.is_queryable else None
        self.node: GraphNode | None = None

    @property
    def store_name(self) -> str | None:
        return self.store.name if self.store else None

    def stores(self) -> Sequence[StoreSpec]:
        assert self.node is not None
        return (self.store.key_value(self.node),) if self.store else ()

    def enable_sending_old(self, force: bool) -> bool:
        if self.store or self.parent.enable_sending_old(force):
            self.sends_old = True
        return self.sends_old


class _FilterLogic(_Derived):
    def __init__(
        self, parent: TableHandle, store: Store | None, predicate: Callable[[Any, Any], bool], keeps: bool
    ) -> None:
        super().__init__(parent, store)
        self.predicate, self.keeps = predicate, keeps
        self.sends_old = parent.enable_sending_old(force=False)

    def operation(self) -> plan.TableFilter:
        return plan.TableFilter(self.predicate, self.keeps, self.store_name, self.sends_old)

    def view(self) -> View:
        if self.store:
            return StoreView(self.store.name)
        return FilterView(self.parent.logic.view(), self.predicate, self.keeps)


class _MapLogic(_Derived):
    def __init__(self, parent: TableHandle, store: Store | None, mapper: Callable[[Any, Any], Any]) -> None:
        super().__init__(parent, store)
        self.mapper = mapper

    def operation(self) -> plan.TableMapValues:
        return plan.TableMapValues(self.mapper, self.store_name, self.sends_old)

    def view(self) -> View:
        if self.store:
            return StoreView(self.store.name)
        return MapView(self.parent.logic.view(), self.mapper)


def filter_table(
    this: TableHandle,
    predicate: Callable[[Any, Any], bool],
    keeps: bool,
    materialized: Materialized | None,
    name: str | None,
) -> TableHandle:
    prefix = "KTABLE-FILTER-"
    store = _derived_store(this, materialized, prefix, keeps_rows=True)
    own = this.graph.name(name, prefix)
    value_serde = store.value_serde if store else this.value_serde
    return _derived(this, own, _FilterLogic(this, store, predicate, keeps), store, value_serde)


def map_table(
    this: TableHandle,
    mapper: Callable[[Any, Any], Any],
    materialized: Materialized | None,
    name: str | None,
) -> TableHandle:
    prefix = "KTABLE-MAPVALUES-"
    store = _derived_store(this, materialized, prefix, keeps_rows=False)
    own = this.graph.name(name, prefix)
    return _derived(this, own, _MapLogic(this, store, mapper), store, store.value_serde if store else None)


def _derived_store(
    this: TableHandle, materialized: Materialized | None, prefix: str, keeps_rows: bool
) -> Store | None:
    if materialized is None:
        return None
    value_serde = this.value_serde if keeps_rows else None
    return materialize(this.graph, materialized, prefix, this.key_serde, value_serde)


def _derived(
    this: TableHandle, name: str, logic: _Derived, store: Store | None, value_serde: Any
) -> TableHandle:
    logic.node = node = table_node(name, logic)
    this.graph.add(this.node, node)
    key_serde = store.key_serde if store else this.key_serde
    return TableHandle(
        this.graph,
        name,
        node,
        this.sources,
        key_serde,
        value_serde,
        logic,
        store.queryable if store else None,
    )


# --- out of the table


def to_stream(this: TableHandle, name: str | None) -> StreamHandle:
    node = ProcessorNode(this.graph.name(name, "KTABLE-TOSTREAM-"), operation=plan.TableToStream)
    this.graph.add(this.node, node)
    return StreamHandle(this.graph, node.name, node, this.sources, this.key_serde, this.value_serde)


def regroup(
    this: TableHandle, selector: Callable[[Any, Any], tuple[Any, Any]], grouped: Grouped | None
) -> GroupHandle:
    given = grouped or Grouped()
    operation = plan.RegroupTable(selector)
    node = ProcessorNode(this.graph.name(given.name, "KTABLE-SELECT-"), operation=lambda: operation)
    this.graph.add(this.node, node)
    this.enable_sending_old(force=True)
    key_serde = this.graph.serde(given.key_serde, "key")
    value_serde = this.graph.serde(given.value_serde, "value")
    return GroupHandle(
        this.graph, node.name, node, this.sources, key_serde, value_serde, given.name, needs_repartition=True
    )
