"""Joins of two streams: each keeps its records for the other's, for as long as windows are open."""

from penstock.pipeline.plan import operations as plan
from penstock.pipeline.plan.assembly import TopologyAssembly
from penstock.pipeline.plan.operations import KeyedJoiner
from penstock.pipeline.plan.serdes import Serde
from penstock.pipeline.plan.stores import OuterJoinStoreSpec, StoreSpec, WindowStoreSpec
from penstock.pipeline.plan.windows import JoinWindows
from penstock.pipeline.streams.configured import StreamJoined
from penstock.pipeline.streams.graph import GraphNode, ProcessorNode, StreamsGraph, add_processor
from penstock.pipeline.streams.handles import StreamHandle
from penstock.pipeline.streams.steps.streams import repartition_for_join


class _Names:
    def __init__(self, graph: StreamsGraph, joined: StreamJoined, left: bool, right: bool) -> None:
        given = joined.name
        suffixes = (
            "-outer-this-join" if right else "-this-join",
            "-outer-other-join" if left else "-other-join",
        )
        self.kept = (
            graph.suffixed(given, "-this-windowed", "KSTREAM-WINDOWED-"),
            graph.suffixed(given, "-other-windowed", "KSTREAM-WINDOWED-"),
        )
        generated = (
            graph.new_name("KSTREAM-OUTERTHIS-" if right else "KSTREAM-JOINTHIS-"),
            graph.new_name("KSTREAM-OUTEROTHER-" if left else "KSTREAM-JOINOTHER-"),
        )
        self.sides = tuple(
            name if given is None else given + suffix
            for name, suffix in zip(generated, suffixes, strict=True)
        )
        self.merge = graph.suffixed(given, "-merge", "KSTREAM-MERGE-")
        bases = (
            generated if joined.store_name is None else tuple(joined.store_name + each for each in suffixes)
        )
        self.stores = tuple(f"{base}-store" for base in bases)
        number = generated[0][-10:]
        shared = f"KSTREAM-OUTERSHARED-{number}"
        if joined.store_name is not None:
            shared = joined.store_name + ("-outer-shared-join" if right else "-left-shared-join")
        self.outer_store = f"{shared}-store" if left else None


class _StreamJoinNode(GraphNode):
    def __init__(
        self,
        names: _Names,
        windows: JoinWindows,
        joiner: KeyedJoiner,
        sides: tuple[bool, bool],
        stores: tuple[StoreSpec, StoreSpec],
        outer_store: StoreSpec | None,
    ) -> None:
        super().__init__(names.merge, takes_null_keys=any(sides))
        self.names, self.windows, self.joiner = names, windows, joiner
        self.is_outer, self.stores, self.outer_store = sides, stores, outer_store

    def write(self, assembly: TopologyAssembly) -> None:
        kept, sides = self.names.kept, self.names.sides
        outer = [self.outer_store] if self.outer_store else []
        for number, operation in enumerate((self._left(), self._right())):
            stores = [self.stores[1 - number], *outer]
            add_processor(assembly, self, sides[number], (kept[number],), operation, stores)
        add_processor(assembly, self, self.name, tuple(sides), plan.PassThrough())

    def _left(self) -> plan.JoinStreams:
        windows = self.windows
        return self._side("left", self.is_outer[0], windows.before_ms, windows.after_ms, self.joiner)

    def _right(self) -> plan.JoinStreams:
        windows, joiner = self.windows, self.joiner
        return self._side(
            "right",
            self.is_outer[1],
            windows.after_ms,
            windows.before_ms,
            lambda key, this, other: joiner(key, other, this),
        )

    def _side(
        self, side: str, is_outer: bool, before_ms: int, after_ms: int, joiner: KeyedJoiner
    ) -> plan.JoinStreams:
        return plan.JoinStreams(
            "left" if side == "left" else "right",
            self.stores[1 if side == "left" else 0].name,
            self.outer_store.name if self.outer_store else None,
            is_outer,
            before_ms,
            after_ms,
            self.windows.grace_ms,
            joiner,
            self.name,
        )


def join_streams(
    this: StreamHandle,
    other: StreamHandle,
    joiner: KeyedJoiner,
    windows: JoinWindows,
    joined: StreamJoined,
    left: bool,
    right: bool,
) -> StreamHandle:
    graph = this.graph
    key_serde, this_serde = this.serdes(joined.key_serde, joined.value_serde)
    _, other_serde = other.serdes(joined.key_serde, joined.other_value_serde)
    this = _repartitioned(this, joined, "-left", key_serde, this_serde)
    other = _repartitioned(other, joined, "-right", key_serde, other_serde)
    sources = graph.copartition(this.sources, other.sources)
    names = _Names(graph, joined, left, right)
    stores = (
        _window_store(graph, names.stores[0], this, joined, windows, key_serde, this_serde),
        _window_store(graph, names.stores[1], other, joined, windows, key_serde, other_serde),
    )
    for side, name, store in zip((this, other), names.kept, stores, strict=True):
        graph.add(side.node, _kept(name, store))
    outer_store = None
    if names.outer_store is not None:
        outer_store = OuterJoinStoreSpec(
            names.outer_store,
            joined.logging_enabled,
            stores[0].key_serde,
            stores[0].value_serde,
            stores[1].value_serde,
        )
    node = _StreamJoinNode(names, windows, joiner, (left, right), stores, outer_store)
    graph.add([this.node, other.node], node)
    return StreamHandle(
        graph, names.merge, node, sources, graph.serde(joined.key_serde, "key") or key_serde, None
    )


def _repartitioned(
    side: StreamHandle, joined: StreamJoined, suffix: str, key_serde: Serde | None, value_serde: Serde | None
) -> StreamHandle:
    if not side.needs_repartition:
        return side
    prefix = side.name if joined.name is None else joined.name + suffix
    return repartition_for_join(side, prefix, key_serde, value_serde)


def _kept(name: str, store: StoreSpec) -> ProcessorNode:
    return ProcessorNode(name, operation=lambda: plan.KeepForJoin(store.name), stores=lambda: (store,))


def _window_store(
    graph: StreamsGraph,
    name: str,
    side: StreamHandle,
    joined: StreamJoined,
    windows: JoinWindows,
    key_serde: Serde | None,
    value_serde: Serde | None,
) -> WindowStoreSpec:
    what = f"the store {name} of the join"
    return WindowStoreSpec(
        name,
        joined.logging_enabled,
        graph.known(key_serde, "key", side.node, what),
        graph.known(value_serde, "value", side.node, what),
        windows.size_ms,
        windows.size_ms + windows.grace_ms,
        retains_duplicates=True,
        is_timestamped=False,
    )
