"""Aggregates of grouped streams and tables, without windows and with them."""

from collections.abc import Callable, Sequence
from typing import Any

from penstock.pipeline.formats.serdes import long_serde
from penstock.pipeline.formats.windowed import session_windowed, time_windowed
from penstock.pipeline.plan import operations as plan
from penstock.pipeline.plan.errors import TopologyError
from penstock.pipeline.plan.nodes import InternalTopic
from penstock.pipeline.plan.operations import Aggregator, Initializer, Operation, Reducer
from penstock.pipeline.plan.serdes import Serde
from penstock.pipeline.plan.stores import StoreSpec
from penstock.pipeline.plan.views import StoreView, View
from penstock.pipeline.plan.windows import SessionWindows, SlidingWindows, TimeWindows
from penstock.pipeline.streams.configured import Materialized
from penstock.pipeline.streams.graph import GraphNode
from penstock.pipeline.streams.handles import GroupHandle, TableHandle, TableLogic
from penstock.pipeline.streams.nodes import RepartitionNode, repartition
from penstock.pipeline.streams.places import callers_place
from penstock.pipeline.streams.steps.materialized import Store, materialize
from penstock.pipeline.streams.steps.tables import table_node

AnyWindows = TimeWindows | SlidingWindows | SessionWindows
MakeOperation = Callable[[bool], Operation]
"""Of whether old rows are sent."""


class AggregateLogic(TableLogic):
    def __init__(
        self, store: Store, make: MakeOperation, spec: Callable[[Store, GraphNode], StoreSpec]
    ) -> None:
        self.store, self._make, self._spec = store, make, spec
        self.node: GraphNode | None = None

    def operation(self) -> Operation:
        return self._make(self.sends_old)

    def stores(self) -> Sequence[StoreSpec]:
        assert self.node is not None
        return (self._spec(self.store, self.node),)

    def view(self) -> View:
        return StoreView(self.store.name)


def count_initializer() -> int:
    return 0


def count_one(key: Any, value: Any, count: int) -> int:
    return count + 1


def uncount_one(key: Any, value: Any, count: int) -> int:
    return count - 1


def add_counts(key: Any, one: int, other: int) -> int:
    return one + other


def nothing() -> None:
    return None


def reducing(reducer: Reducer) -> Aggregator:
    def aggregate(key: Any, value: Any, aggregate: Any) -> Any:
        return value if aggregate is None else reducer(aggregate, value)

    return aggregate


def merging(reducer: Reducer) -> Aggregator:
    """Of two sessions, of which one or the other may have nothing yet."""

    def merge(key: Any, one: Any, other: Any) -> Any:
        return other if one is None else reducer(one, other)

    return merge


def count_store(
    this: GroupHandle, materialized: Materialized | None, prefix: str, burns: bool = True
) -> Store:
    """Kafka Streams takes a number more for a count whose store has serdes but no name."""
    if burns and materialized is not None and materialized.store_name is None:
        this.graph.new_store_name(prefix)
    return materialize(this.graph, materialized, prefix, this.key_serde, long_serde())


# --- of streams, without windows


def aggregate_stream(
    this: GroupHandle, store: Store, prefix: str, make: MakeOperation, name: str | None
) -> TableHandle:
    own = this.graph.name(name, prefix)
    logic = AggregateLogic(store, make, Store.key_value)
    return _aggregated(this, own, store, logic, store.key_serde)


def _aggregated(
    this: GroupHandle,
    name: str,
    store: Store,
    logic: AggregateLogic,
    key_serde: Serde | None,
    grace_ms: int | None = None,
) -> TableHandle:
    graph = this.graph
    parent, sources = this.node, this.sources
    if this.needs_repartition:
        parent = repartition_group(this, store.name)
        sources = frozenset([parent.name])
    logic.node = node = table_node(name, logic)
    node.grace_ms = grace_ms
    graph.add(parent, node)
    return TableHandle(graph, name, node, sources, key_serde, store.value_serde, logic, store.queryable)


def repartition_group(this: GroupHandle, store: str) -> GraphNode:
    """A named one is used again by all aggregates of the group."""
    prefix = this.repartition_name if this.repartition_name is not None else store
    made = repartition(this.graph, prefix, this.key_serde, this.value_serde)
    if this.repartitioned is None or this.repartition_name is None:
        this.repartitioned = made
    this.graph.add(this.node, this.repartitioned)
    return this.repartitioned


# --- of streams, with windows


def aggregate_windows(
    this: GroupHandle,
    windows: AnyWindows,
    store: Store,
    prefix: str,
    name: str | None,
    initializer: Initializer,
    aggregator: Aggregator,
    merger: Aggregator | None,
    on_close: bool,
) -> TableHandle:
    own = this.graph.name(name, prefix)
    logic = AggregateLogic(
        store,
        windowed_operation(windows, store, initializer, aggregator, merger, on_close),
        windowed_spec(windows, on_close),
    )
    key_serde = windowed_key(windows, store)
    return _aggregated(this, own, store, logic, key_serde, grace_of(windows))


def windowed_operation(
    windows: AnyWindows,
    store: Store,
    initializer: Initializer,
    aggregator: Aggregator,
    merger: Aggregator | None,
    on_close: bool,
) -> MakeOperation:
    def make(sends_old: bool) -> Operation:
        if isinstance(windows, TimeWindows):
            return plan.AggregateTimeWindows(
                store.name, windows, initializer, aggregator, on_close, sends_old
            )
        if isinstance(windows, SlidingWindows):
            return plan.AggregateSlidingWindows(
                store.name, windows, initializer, aggregator, on_close, sends_old
            )
        assert merger is not None
        return plan.AggregateSessions(
            store.name, windows, initializer, aggregator, merger, on_close, sends_old
        )

    return make


def windowed_spec(windows: AnyWindows, on_close: bool) -> Callable[[Store, GraphNode], StoreSpec]:
    def spec(store: Store, node: GraphNode) -> StoreSpec:
        size = span_of(windows)
        # A sliding window is made from one that begins twice the difference before it.
        least = (2 * size if isinstance(windows, SlidingWindows) else size) + windows.grace_ms
        retention = least if store.retention_ms is None else store.retention_ms
        if retention < least:
            raise TopologyError(
                f"the store {store.name}: got a retention of {retention} ms; takes at least {least}, "
                f"which is size and grace of its windows",
                node.place,
            )
        if isinstance(windows, SessionWindows):
            return store.session(node, retention)
        return store.window(node, size, retention, on_close)

    return spec


def span_of(windows: AnyWindows) -> int:
    match windows:
        case TimeWindows():
            return windows.size_ms
        case SlidingWindows():
            return windows.time_difference_ms
        case SessionWindows():
            return windows.inactivity_gap_ms


def grace_of(windows: AnyWindows) -> int:
    """After the end of a window, as Kafka Streams counts it for results that are final."""
    gap = windows.inactivity_gap_ms if isinstance(windows, SessionWindows) else 0
    return windows.grace_ms + gap


def windowed_key(windows: AnyWindows, store: Store) -> Serde | None:
    inner = store.key_serde or store.graph.default("key")
    if inner is None:
        return None
    if isinstance(windows, SessionWindows):
        return session_windowed(inner)
    return time_windowed(inner, span_of(windows))


# --- of tables


def aggregate_table(
    this: GroupHandle, store: Store, function_prefix: str, make: MakeOperation, name: str | None
) -> TableHandle:
    graph = this.graph
    sink = graph.suffixed(name, "-sink", "KSTREAM-SINK-")
    source = graph.suffixed(name, "-source", "KSTREAM-SOURCE-")
    own = graph.name(name, function_prefix)
    if this.repartitioned is None or this.repartition_name is None:
        prefix = this.repartition_name if this.repartition_name is not None else store.name
        this.repartitioned = RepartitionNode(
            source,
            graph=graph,
            topic=InternalTopic(f"{prefix}-repartition"),
            sink=sink,
            filter=None,
            key_serde=this.key_serde,
            value_serde=this.value_serde,
        )
    graph.add(this.node, this.repartitioned)
    logic = AggregateLogic(store, make, Store.key_value)
    logic.node = node = table_node(own, logic)
    graph.add(this.repartitioned, node)
    return TableHandle(
        graph,
        own,
        node,
        frozenset([this.repartitioned.name]),
        store.key_serde,
        store.value_serde,
        logic,
        store.queryable,
    )


def refuse(message: str) -> TopologyError:
    return TopologyError(message, callers_place())
