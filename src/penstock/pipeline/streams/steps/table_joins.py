"""Joins of tables by their keys, and what is held back of a table."""

from collections.abc import Sequence

from penstock.pipeline.plan import operations as plan
from penstock.pipeline.plan.assembly import TopologyAssembly
from penstock.pipeline.plan.operations import Operation
from penstock.pipeline.plan.stores import StoreSpec, SuppressionBufferSpec
from penstock.pipeline.plan.views import Joiner, JoinKind, JoinView, StoreView, SuppressedView, View
from penstock.pipeline.streams.configured import Materialized, Suppressed
from penstock.pipeline.streams.graph import GraphNode, add_processor
from penstock.pipeline.streams.handles import TableHandle, TableLogic
from penstock.pipeline.streams.steps.materialized import Store, materialize
from penstock.pipeline.streams.steps.tables import table_node


class _Side:
    """What changes of one table go through to meet the other's rows."""

    def __init__(self, kind: JoinKind, this: TableHandle, other: TableHandle, joiner: Joiner) -> None:
        self.kind, self.this, self.other, self.joiner = kind, this, other, joiner
        self.this_view, self.other_view = this.logic.view(), other.logic.view()
        self.sends_old = False

    def operation(self) -> plan.JoinTables:
        return plan.JoinTables(self.kind, self.other_view, self.joiner, self.sends_old)

    def view(self) -> View:
        return JoinView(self.kind, self.this_view, self.other_view, self.joiner)

    def enable_sending_old(self) -> None:
        self.this.enable_sending_old(force=True)
        self.other.enable_sending_old(force=True)
        self.sends_old = True


class _JoinedLogic(TableLogic):
    def __init__(self, this: _Side, other: _Side, store: Store | None) -> None:
        self.sides, self.store = (this, other), store
        self.node: GraphNode | None = None

    def operation(self) -> Operation:
        return plan.MergeJoined(self.store.name if self.store else None, self.sends_old)

    def stores(self) -> Sequence[StoreSpec]:
        assert self.node is not None
        return (self.store.key_value(self.node),) if self.store else ()

    def view(self) -> View:
        return StoreView(self.store.name) if self.store else self.sides[0].view()

    def enable_sending_old(self, force: bool) -> bool:
        for side in self.sides:
            side.enable_sending_old()
        return super().enable_sending_old(force)


class _JoinNode(GraphNode):
    """Both sides and what brings them together, which the step is called by."""

    def __init__(
        self, name: str, logic: _JoinedLogic, sides: tuple[str, str], tables: tuple[str, str]
    ) -> None:
        super().__init__(name)
        self.logic, self.sides, self.tables = logic, sides, tables
        self.lookups = tuple(side.other_view.stores for side in logic.sides)

    def write(self, assembly: TopologyAssembly) -> None:
        for name, side, table in zip(self.sides, self.logic.sides, self.tables, strict=True):
            add_processor(assembly, self, name, (table,), side.operation())
        add_processor(assembly, self, self.name, self.sides, self.logic.operation(), self.logic.stores())
        for name, stores in zip(self.sides, self.lookups, strict=True):
            assembly.connect(name, stores)


def join_tables(
    this: TableHandle,
    other: TableHandle,
    joiner: Joiner,
    materialized: Materialized | None,
    name: str | None,
    *,
    left: bool,
    right: bool,
) -> TableHandle:
    graph = this.graph
    store = None
    if materialized is not None:
        store = materialize(graph, materialized, "KTABLE-MERGE-", this.key_serde)
    own = graph.name(name, "KTABLE-MERGE-")
    sources = graph.copartition(this.sources, other.sources)
    if left:
        this.enable_sending_old(force=True)
    if right:
        other.enable_sending_old(force=True)
    kinds: tuple[JoinKind, JoinKind] = (
        ("outer", "outer") if right else ("left", "right") if left else ("inner", "inner")
    )
    sides = (
        _Side(kinds[0], this, other, joiner),
        _Side(kinds[1], other, this, lambda that, own_row: joiner(own_row, that)),
    )
    side_names = (
        graph.suffixed(name, "-join-this", "KTABLE-JOINTHIS-"),
        graph.suffixed(name, "-join-other", "KTABLE-JOINOTHER-"),
    )
    logic = _JoinedLogic(*sides, store)
    logic.node = node = _JoinNode(own, logic, side_names, (this.name, other.name))
    graph.add([this.node, other.node], node)
    key_serde = store.key_serde if store else this.key_serde
    value_serde = store.value_serde if store else None
    queryable = store.name if store else None
    return TableHandle(graph, own, node, sources, key_serde, value_serde, logic, queryable)


# --- held back


class _SuppressLogic(TableLogic):
    def __init__(self, parent: TableHandle, suppressed: Suppressed, buffer: str, wait_ms: int) -> None:
        self.parent, self.suppressed, self.buffer, self.wait_ms = parent, suppressed, buffer, wait_ms
        self.node: GraphNode | None = None
        parent.enable_sending_old(force=True)

    def operation(self) -> Operation:
        config = self.suppressed.buffer
        is_final = self.suppressed.wait_ms is None
        return plan.Suppress(
            self.buffer,
            self.wait_ms,
            is_final,
            config.max_records,
            config.max_bytes,
            config.emits_early,
            is_final,
        )

    def stores(self) -> Sequence[StoreSpec]:
        assert self.node is not None
        graph = self.parent.graph
        what = f"the buffer {self.buffer}"
        key = graph.known(self.parent.key_serde, "key", self.node, what)
        value = graph.known(self.parent.value_serde, "value", self.node, what)
        is_logged = self.suppressed.buffer.logging_enabled
        return (SuppressionBufferSpec(self.buffer, is_logged, key, value),)

    def view(self) -> View:
        return SuppressedView(self.buffer, self.parent.logic.view())

    def enable_sending_old(self, force: bool) -> bool:
        return self.parent.enable_sending_old(force)


def suppress(this: TableHandle, suppressed: Suppressed) -> TableHandle:
    graph = this.graph
    own = suppressed.name if suppressed.name is not None else graph.new_name("KTABLE-SUPPRESS-")
    wait_ms = this.node.window_grace() if suppressed.wait_ms is None else suppressed.wait_ms
    buffer = (
        f"{suppressed.name}-store"
        if suppressed.name is not None
        else graph.new_store_name("KTABLE-SUPPRESS-")
    )
    logic = _SuppressLogic(this, suppressed, buffer, wait_ms)
    logic.node = node = table_node(own, logic)
    graph.add(this.node, node)
    return TableHandle(graph, own, node, this.sources, this.key_serde, this.value_serde, logic)
