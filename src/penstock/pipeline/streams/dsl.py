"""Streams, tables and groups of them, as users see them: the words of Kafka Streams in snake_case.

They are in one module because each makes the others. What the methods do is in `steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar, cast

from penstock.pipeline.plan import operations as plan
from penstock.pipeline.plan.nodes import TopicChooser
from penstock.pipeline.plan.views import View
from penstock.pipeline.plan.windows import JoinWindows, Windowed
from penstock.pipeline.streams.configured import (
    Branched,
    EmitStrategy,
    Grouped,
    Joined,
    Materialized,
    Produced,
    Repartitioned,
    StreamJoined,
    Suppressed,
    TableJoined,
)
from penstock.pipeline.streams.graph import ProcessorNode
from penstock.pipeline.streams.handles import GroupHandle, StreamHandle, TableHandle
from penstock.pipeline.streams.processors import ProcessorSupplier
from penstock.pipeline.streams.steps import cogroups, grouped, streams, tables
from penstock.pipeline.streams.steps.aggregates import AnyWindows, refuse
from penstock.pipeline.streams.steps.foreign_keys import join_by_foreign_key
from penstock.pipeline.streams.steps.stream_joins import join_streams
from penstock.pipeline.streams.steps.table_joins import join_tables, suppress

K = TypeVar("K")
V = TypeVar("V")
KR = TypeVar("KR")
VR = TypeVar("VR")
VO = TypeVar("VO")
KO = TypeVar("KO")


class GlobalKTable(Generic[K, V]):
    """A table of which every task has all rows; for joins by any key that a record names."""

    def __init__(self, view: View, queryable_store_name: str | None) -> None:
        self._view = view
        self.queryable_store_name = queryable_store_name


class KStream(Generic[K, V]):
    """Records one after the other. Made by `StreamsBuilder.stream`, and by its own methods."""

    def __init__(self, handle: StreamHandle) -> None:
        self._handle = handle

    def _step(self, prefix: str, name: str | None, operation: plan.Operation) -> KStream[Any, Any]:
        handle = self._handle
        return KStream(handle.at(streams.step(handle, prefix, name, operation), handle.value_serde))

    def _rekeyed(self, prefix: str, name: str | None, operation: plan.Operation) -> KStream[Any, Any]:
        return KStream(self._handle.rekeyed(streams.step(self._handle, prefix, name, operation)))

    def _revalued(self, prefix: str, name: str | None, operation: plan.Operation) -> KStream[Any, Any]:
        return KStream(self._handle.at(streams.step(self._handle, prefix, name, operation)))

    def filter(self, predicate: Callable[[K, V], object], name: str | None = None) -> KStream[K, V]:
        """The records of which the predicate holds."""
        return self._step("KSTREAM-FILTER-", name, plan.FilterRecords(cast(Any, predicate)))

    def filter_not(self, predicate: Callable[[K, V], object], name: str | None = None) -> KStream[K, V]:
        return self._step("KSTREAM-FILTER-", name, plan.FilterRecords(cast(Any, predicate), keeps=False))

    def select_key(self, mapper: Callable[[K, V], KR], name: str | None = None) -> KStream[KR, V]:
        """With another key; what needs all of a key in one place repartitions the stream."""
        handle = self._handle
        node = streams.step(handle, "KSTREAM-KEY-SELECT-", name, plan.SelectKey(mapper))
        return KStream(handle.rekeyed(node, handle.value_serde))

    def map(self, mapper: Callable[[K, V], tuple[KR, VR]], name: str | None = None) -> KStream[KR, VR]:
        return self._rekeyed("KSTREAM-MAP-", name, plan.MapRecords(mapper))

    def map_values(
        self, mapper: Callable[..., VR], name: str | None = None, *, with_key: bool = False
    ) -> KStream[K, VR]:
        """The mapper gets the value, or, `with_key`, the key and the value."""
        return self._revalued("KSTREAM-MAPVALUES-", name, plan.MapValues(mapper, with_key))

    def flat_map(
        self, mapper: Callable[[K, V], Iterable[tuple[KR, VR]]], name: str | None = None
    ) -> KStream[KR, VR]:
        return self._rekeyed("KSTREAM-FLATMAP-", name, plan.FlatMap(mapper))

    def flat_map_values(
        self, mapper: Callable[..., Iterable[VR]], name: str | None = None, *, with_key: bool = False
    ) -> KStream[K, VR]:
        return self._revalued("KSTREAM-FLATMAPVALUES-", name, plan.FlatMapValues(mapper, with_key))

    def peek(self, action: Callable[[K, V], object], name: str | None = None) -> KStream[K, V]:
        return self._step("KSTREAM-PEEK-", name, plan.Peek(action))

    def for_each(self, action: Callable[[K, V], object], name: str | None = None) -> None:
        streams.step(self._handle, "KSTREAM-FOREACH-", name, plan.Peek(action, forwards=False))

    def split(self, name: str | None = None) -> BranchedKStream[K, V]:
        """Begins branches, each with a predicate; a record goes into the first that takes it."""
        return BranchedKStream(self._handle, name)

    def merge(self, other: KStream[K, V], name: str | None = None) -> KStream[K, V]:
        return KStream(streams.merge(self._handle, other._handle, name))

    def to(self, topic: str | TopicChooser, produced: Produced | None = None) -> None:
        """Writes into a topic, or into the one that a function of key and value names."""
        streams.write(self._handle, topic, produced)

    def repartition(self, repartitioned: Repartitioned | None = None) -> KStream[K, V]:
        """Through an internal topic, so that all records of a key are in one place."""
        return KStream(streams.through(self._handle, repartitioned))

    def to_table(self, materialized: Materialized | None = None, name: str | None = None) -> KTable[K, V]:
        """The latest value of each key; a record without a value deletes its row."""
        return KTable(streams.to_table(self._handle, materialized, name))

    def group_by_key(self, grouped: Grouped | None = None) -> KGroupedStream[K, V]:
        return KGroupedStream(streams.group_by_key(self._handle, grouped))

    def group_by(
        self, selector: Callable[[K, V], KR], grouped: Grouped | None = None
    ) -> KGroupedStream[KR, V]:
        """By another key, through a repartition topic."""
        return KGroupedStream(streams.group_by(self._handle, selector, grouped))

    def join(
        self,
        other: KStream[K, VO] | KTable[K, VO] | GlobalKTable[KO, VO],
        joiner: Callable[..., VR],
        windows: JoinWindows | None = None,
        joined: StreamJoined | Joined | None = None,
        *,
        key_selector: Callable[[K, V], KO] | None = None,
        name: str | None = None,
        with_key: bool = False,
    ) -> KStream[K, VR]:
        """With a stream, within windows; with a table; or with a global table, by the key that is selected.

        The joiner gets this value and the other one, or, `with_key`, the key before them.
        """
        return self._join(other, _keyed(joiner, with_key), windows, joined, key_selector, name, "inner")

    def left_join(
        self,
        other: KStream[K, VO] | KTable[K, VO] | GlobalKTable[KO, VO],
        joiner: Callable[..., VR],
        windows: JoinWindows | None = None,
        joined: StreamJoined | Joined | None = None,
        *,
        key_selector: Callable[[K, V], KO] | None = None,
        name: str | None = None,
        with_key: bool = False,
    ) -> KStream[K, VR]:
        """As `join`; what has no partner meets None."""
        return self._join(other, _keyed(joiner, with_key), windows, joined, key_selector, name, "left")

    def outer_join(
        self,
        other: KStream[K, VO],
        joiner: Callable[..., VR],
        windows: JoinWindows,
        joined: StreamJoined | None = None,
        *,
        with_key: bool = False,
    ) -> KStream[K, VR]:
        return self._join(other, _keyed(joiner, with_key), windows, joined, None, None, "outer")

    def _join(
        self,
        other: KStream[Any, Any] | KTable[Any, Any] | GlobalKTable[Any, Any],
        joiner: plan.KeyedJoiner,
        windows: JoinWindows | None,
        joined: StreamJoined | Joined | None,
        key_selector: Callable[[Any, Any], Any] | None,
        name: str | None,
        kind: str,
    ) -> KStream[Any, Any]:
        is_left = kind != "inner"
        if isinstance(other, GlobalKTable):
            if key_selector is None:
                raise refuse(
                    "a join with a global table: key_selector is missing, which makes the table's key"
                )
            handle = streams.join_global_table(self._handle, other._view, key_selector, joiner, is_left, name)
            return KStream(handle)
        if isinstance(other, KTable):
            options = joined if isinstance(joined, Joined) else Joined(name=name)
            return KStream(streams.join_table(self._handle, other._handle, joiner, options, is_left))
        if windows is None:
            raise refuse("a join of two streams: windows are missing, for instance JoinWindows")
        given = joined if isinstance(joined, StreamJoined) else StreamJoined(name=name)
        is_outer = kind == "outer"
        return KStream(join_streams(self._handle, other._handle, joiner, windows, given, is_left, is_outer))

    def process(
        self, supplier: ProcessorSupplier, stores: Sequence[str] = (), name: str | None = None
    ) -> KStream[Any, Any]:
        """Each record through a `Processor` of the user's, which may use the stores that are named."""
        node = streams.run_processor(self._handle, supplier, stores, name, keeps_key=False)
        return KStream(self._handle.rekeyed(node))

    def process_values(
        self, supplier: ProcessorSupplier, stores: Sequence[str] = (), name: str | None = None
    ) -> KStream[K, Any]:
        """The same for a processor that leaves keys as they are, so that nothing need be repartitioned."""
        return KStream(
            self._handle.at(streams.run_processor(self._handle, supplier, stores, name, keeps_key=True))
        )


def _keyed(joiner: Callable[..., Any], with_key: bool) -> plan.KeyedJoiner:
    return joiner if with_key else lambda key, this, other: joiner(this, other)


class BranchedKStream(Generic[K, V]):
    """Branches of a stream, by name: that of the split, and after it the branch's own or its number."""

    def __init__(self, handle: StreamHandle, name: str | None) -> None:
        self._handle = handle
        self._predicates: list[Callable[[Any, Any], bool]] = []
        self._children: list[str] = []
        self._branches: dict[str, KStream[K, V]] = {}
        self._node = ProcessorNode(handle.graph.name(name, "KSTREAM-BRANCH-"), operation=self._operation)
        handle.graph.add(handle.node, self._node)

    def _operation(self) -> plan.Operation:
        return plan.Branch(tuple(self._predicates), tuple(self._children))

    def branch(
        self, predicate: Callable[[K, V], object], branched: Branched | None = None
    ) -> BranchedKStream[K, V]:
        self._predicates.append(cast(Any, predicate))
        self._add(branched or Branched(), len(self._predicates))
        return self

    def default_branch(self, branched: Branched | None = None) -> dict[str, KStream[K, V]]:
        """For what no branch takes; without it such records are dropped."""
        self._add(branched or Branched(), 0)
        return self._branches

    def no_default_branch(self) -> dict[str, KStream[K, V]]:
        return self._branches

    def _add(self, branched: Branched, number: int) -> None:
        name = self._node.name + (branched.name if branched.name is not None else str(number))
        self._children.append(name)
        graph = self._handle.graph
        graph.new_name(name)
        node = ProcessorNode(name, operation=plan.PassThrough)
        graph.add(self._node, node)
        stream: KStream[K, V] = KStream(self._handle.at(node, self._handle.value_serde))
        if branched.function is not None:
            self._branches[name] = branched.function(stream)
        elif branched.consumer is not None:
            branched.consumer(stream)
        else:
            self._branches[name] = stream


class KTable(Generic[K, V]):
    """The current row of each key, as changes make it."""

    def __init__(self, handle: TableHandle) -> None:
        self._handle = handle

    @property
    def queryable_store_name(self) -> str | None:
        return self._handle.queryable

    def filter(
        self,
        predicate: Callable[[K, V], object],
        materialized: Materialized | None = None,
        name: str | None = None,
    ) -> KTable[K, V]:
        """A row of which the predicate does not hold is deleted below."""
        return KTable(tables.filter_table(self._handle, cast(Any, predicate), True, materialized, name))

    def filter_not(
        self,
        predicate: Callable[[K, V], object],
        materialized: Materialized | None = None,
        name: str | None = None,
    ) -> KTable[K, V]:
        return KTable(tables.filter_table(self._handle, cast(Any, predicate), False, materialized, name))

    def map_values(
        self,
        mapper: Callable[..., VR],
        materialized: Materialized | None = None,
        name: str | None = None,
        *,
        with_key: bool = False,
    ) -> KTable[K, VR]:
        keyed = mapper if with_key else lambda key, value: mapper(value)
        return KTable(tables.map_table(self._handle, keyed, materialized, name))

    def to_stream(
        self, mapper: Callable[[K, V], KR] | None = None, name: str | None = None
    ) -> KStream[Any, V]:
        """Each change as a record, with another key if a function of key and value is given."""
        stream: KStream[Any, V] = KStream(tables.to_stream(self._handle, name))
        return stream if mapper is None else stream.select_key(mapper)

    def suppress(self, suppressed: Suppressed) -> KTable[K, V]:
        return KTable(suppress(self._handle, suppressed))

    def group_by(
        self, selector: Callable[[K, V], tuple[KR, VR]], grouped: Grouped | None = None
    ) -> KGroupedTable[KR, VR]:
        """By another key, with another value: a changed row is taken out of one group and put into another."""
        return KGroupedTable(tables.regroup(self._handle, selector, grouped))

    def join(
        self,
        other: KTable[KO, VO],
        joiner: Callable[[V, VO], VR],
        materialized: Materialized | None = None,
        *,
        foreign_key: Callable[..., KO] | None = None,
        joined: TableJoined | None = None,
        name: str | None = None,
        with_key: bool = False,
    ) -> KTable[K, VR]:
        """By the same key, or by a foreign key that a function of the value, or `with_key` of key and value, names."""
        if foreign_key is None:
            return self._joined(other, joiner, materialized, name, left=False, right=False)
        return self._joined_by(other, foreign_key, joiner, joined, materialized, with_key, is_left=False)

    def left_join(
        self,
        other: KTable[KO, VO],
        joiner: Callable[[V, VO], VR],
        materialized: Materialized | None = None,
        *,
        foreign_key: Callable[..., KO] | None = None,
        joined: TableJoined | None = None,
        name: str | None = None,
        with_key: bool = False,
    ) -> KTable[K, VR]:
        if foreign_key is None:
            return self._joined(other, joiner, materialized, name, left=True, right=False)
        return self._joined_by(other, foreign_key, joiner, joined, materialized, with_key, is_left=True)

    def outer_join(
        self,
        other: KTable[K, VO],
        joiner: Callable[[V, VO], VR],
        materialized: Materialized | None = None,
        name: str | None = None,
    ) -> KTable[K, VR]:
        return self._joined(other, joiner, materialized, name, left=True, right=True)

    def _joined(
        self,
        other: KTable[Any, Any],
        joiner: Callable[[Any, Any], Any],
        materialized: Materialized | None,
        name: str | None,
        *,
        left: bool,
        right: bool,
    ) -> KTable[Any, Any]:
        handles = self._handle, other._handle
        return KTable(join_tables(*handles, joiner, materialized, name, left=left, right=right))

    def _joined_by(
        self,
        other: KTable[Any, Any],
        extractor: Callable[..., Any],
        joiner: Callable[[Any, Any], Any],
        joined: TableJoined | None,
        materialized: Materialized | None,
        with_key: bool,
        *,
        is_left: bool,
    ) -> KTable[Any, Any]:
        keyed = extractor if with_key else lambda key, value: extractor(value)
        handles = self._handle, other._handle
        return KTable(join_by_foreign_key(*handles, keyed, joiner, joined, materialized, is_left))


class KGroupedStream(Generic[K, V]):
    """Records of a key together, on their way into an aggregate."""

    def __init__(self, handle: GroupHandle) -> None:
        self._handle = handle

    def count(self, materialized: Materialized | None = None, name: str | None = None) -> KTable[K, int]:
        return KTable(grouped.count(self._handle, materialized, name))

    def reduce(
        self,
        reducer: Callable[[V, V], V | None],
        materialized: Materialized | None = None,
        name: str | None = None,
    ) -> KTable[K, V]:
        """The reducer gets what there is and the new value; None deletes the row."""
        return KTable(grouped.reduce(self._handle, reducer, materialized, name))

    def aggregate(
        self,
        initializer: Callable[[], VR],
        aggregator: Callable[[K, V, VR], VR | None],
        materialized: Materialized | None = None,
        name: str | None = None,
    ) -> KTable[K, VR]:
        return KTable(grouped.aggregate(self._handle, initializer, aggregator, materialized, name))

    def windowed_by(self, windows: AnyWindows) -> WindowedKStream[K, V]:
        return WindowedKStream(grouped.Windowed(self._handle, windows))

    def cogroup(self, aggregator: Callable[[K, V, VR], VR | None]) -> CogroupedKStream[K, VR]:
        """The first of several streams that are aggregated together."""
        return CogroupedKStream(cogroups.Cogroup([(self._handle, aggregator)]))


class WindowedKStream(Generic[K, V]):
    """Records of a key and a window together; tables of them have `Windowed` keys."""

    def __init__(self, windowed: grouped.Windowed) -> None:
        self._windowed = windowed

    def emit_strategy(self, strategy: EmitStrategy) -> WindowedKStream[K, V]:
        windowed = self._windowed
        return WindowedKStream(grouped.Windowed(windowed.group, windowed.windows, strategy.on_close))

    def count(
        self, materialized: Materialized | None = None, name: str | None = None
    ) -> KTable[Windowed[K], int]:
        return KTable(self._windowed.count(materialized, name))

    def reduce(
        self,
        reducer: Callable[[V, V], V | None],
        materialized: Materialized | None = None,
        name: str | None = None,
    ) -> KTable[Windowed[K], V]:
        return KTable(self._windowed.reduce(reducer, materialized, name))

    def aggregate(
        self,
        initializer: Callable[[], VR],
        aggregator: Callable[[K, V, VR], VR | None],
        materialized: Materialized | None = None,
        name: str | None = None,
        *,
        merger: Callable[[K, VR, VR], VR] | None = None,
    ) -> KTable[Windowed[K], VR]:
        """Sessions need a merger too, for two that a record joins into one."""
        return KTable(self._windowed.aggregate(initializer, aggregator, materialized, name, merger))


class CogroupedKStream(Generic[K, V]):
    """Several streams on their way into one aggregate."""

    def __init__(self, cogroup: cogroups.Cogroup, windows: AnyWindows | None = None) -> None:
        self._cogroup, self._windows = cogroup, windows

    def cogroup(
        self, grouped: KGroupedStream[K, VO], aggregator: Callable[[K, VO, V], V | None]
    ) -> CogroupedKStream[K, V]:
        self._cogroup.parts.append((grouped._handle, aggregator))
        return self

    def windowed_by(self, windows: AnyWindows) -> CogroupedKStream[Windowed[K], V]:
        return CogroupedKStream(self._cogroup, windows)

    def aggregate(
        self,
        initializer: Callable[[], V],
        materialized: Materialized | None = None,
        name: str | None = None,
        *,
        merger: Callable[[Any, V, V], V] | None = None,
    ) -> KTable[K, V]:
        grouped.check_merger(self._windows, merger)
        return KTable(
            cogroups.aggregate(self._cogroup, initializer, materialized, name, self._windows, merger)
        )


class KGroupedTable(Generic[K, V]):
    """Rows of a table under other keys; aggregates take out what a row was and put in what it is."""

    def __init__(self, handle: GroupHandle) -> None:
        self._handle = handle

    def count(self, materialized: Materialized | None = None, name: str | None = None) -> KTable[K, int]:
        return KTable(grouped.count_table(self._handle, materialized, name))

    def reduce(
        self,
        adder: Callable[[V, V], V | None],
        subtractor: Callable[[V, V], V | None],
        materialized: Materialized | None = None,
        name: str | None = None,
    ) -> KTable[K, V]:
        return KTable(grouped.reduce_table(self._handle, adder, subtractor, materialized, name))

    def aggregate(
        self,
        initializer: Callable[[], VR],
        adder: Callable[[K, V, VR], VR | None],
        subtractor: Callable[[K, V, VR], VR | None],
        materialized: Materialized | None = None,
        name: str | None = None,
    ) -> KTable[K, VR]:
        functions = initializer, adder, subtractor
        return KTable(grouped.aggregate_table(self._handle, *functions, materialized, name))
