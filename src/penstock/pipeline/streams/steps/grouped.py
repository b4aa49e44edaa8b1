"""What is counted, reduced and aggregated of groups: the store of each, and its operation."""

from penstock.pipeline.plan import operations as plan
from penstock.pipeline.plan.operations import Aggregator, Initializer, Reducer
from penstock.pipeline.plan.windows import SessionWindows, SlidingWindows
from penstock.pipeline.streams.configured import Materialized
from penstock.pipeline.streams.handles import GroupHandle, TableHandle
from penstock.pipeline.streams.steps import aggregates
from penstock.pipeline.streams.steps.aggregates import AnyWindows, count_initializer, count_one
from penstock.pipeline.streams.steps.materialized import Store, materialize

OF_STREAM, REDUCED, OF_TABLE = "KSTREAM-AGGREGATE-", "KSTREAM-REDUCE-", "KTABLE-AGGREGATE-"

# --- streams


def count(this: GroupHandle, materialized: Materialized | None, name: str | None) -> TableHandle:
    store = aggregates.count_store(this, materialized, OF_STREAM)

    def make(sends_old: bool) -> plan.Operation:
        return plan.AggregateStream(store.name, count_initializer, count_one, sends_old)

    return aggregates.aggregate_stream(this, store, OF_STREAM, make, name)


def reduce(
    this: GroupHandle, reducer: Reducer, materialized: Materialized | None, name: str | None
) -> TableHandle:
    store = materialize(this.graph, materialized, REDUCED, this.key_serde, this.value_serde)

    def make(sends_old: bool) -> plan.Operation:
        return plan.ReduceStream(store.name, reducer, sends_old)

    return aggregates.aggregate_stream(this, store, REDUCED, make, name)


def aggregate(
    this: GroupHandle,
    initializer: Initializer,
    aggregator: Aggregator,
    materialized: Materialized | None,
    name: str | None,
) -> TableHandle:
    store = materialize(this.graph, materialized, OF_STREAM, this.key_serde)

    def make(sends_old: bool) -> plan.Operation:
        return plan.AggregateStream(store.name, initializer, aggregator, sends_old)

    return aggregates.aggregate_stream(this, store, OF_STREAM, make, name)


# --- streams in windows


class Windowed:
    """A group of a stream, and what its windows are."""

    def __init__(self, group: GroupHandle, windows: AnyWindows, on_close: bool = False) -> None:
        self.group, self.windows, self.on_close = group, windows, on_close

    def count(self, materialized: Materialized | None, name: str | None) -> TableHandle:
        burns = not isinstance(self.windows, SlidingWindows)
        store = aggregates.count_store(self.group, materialized, OF_STREAM, burns)
        functions = count_initializer, count_one, aggregates.add_counts
        return self._made(store, OF_STREAM, name, *functions)

    def reduce(self, reducer: Reducer, materialized: Materialized | None, name: str | None) -> TableHandle:
        group = self.group
        store = materialize(group.graph, materialized, REDUCED, group.key_serde, group.value_serde)
        functions = aggregates.nothing, aggregates.reducing(reducer), aggregates.merging(reducer)
        return self._made(store, REDUCED, name, *functions)

    def aggregate(
        self,
        initializer: Initializer,
        aggregator: Aggregator,
        materialized: Materialized | None,
        name: str | None,
        merger: Aggregator | None,
    ) -> TableHandle:
        check_merger(self.windows, merger)
        store = materialize(self.group.graph, materialized, OF_STREAM, self.group.key_serde)
        return self._made(store, OF_STREAM, name, initializer, aggregator, merger)

    def _made(
        self,
        store: Store,
        prefix: str,
        name: str | None,
        initializer: Initializer,
        aggregator: Aggregator,
        merger: Aggregator | None,
    ) -> TableHandle:
        functions = initializer, aggregator, merger
        return aggregates.aggregate_windows(
            self.group, self.windows, store, prefix, name, *functions, self.on_close
        )


def check_merger(windows: AnyWindows | None, merger: Aggregator | None) -> None:
    if isinstance(windows, SessionWindows) and merger is None:
        raise aggregates.refuse(
            "an aggregate of sessions: merger is missing, a function of key and two aggregates"
        )


# --- tables


def count_table(this: GroupHandle, materialized: Materialized | None, name: str | None) -> TableHandle:
    store = aggregates.count_store(this, materialized, OF_TABLE, burns=False)
    functions = count_initializer, count_one, aggregates.uncount_one

    def make(sends_old: bool) -> plan.Operation:
        return plan.TableAggregate(store.name, *functions, sends_old)

    return aggregates.aggregate_table(this, store, OF_TABLE, make, name)


def reduce_table(
    this: GroupHandle,
    adder: Reducer,
    subtractor: Reducer,
    materialized: Materialized | None,
    name: str | None,
) -> TableHandle:
    store = materialize(this.graph, materialized, OF_TABLE, this.key_serde, this.value_serde)

    def make(sends_old: bool) -> plan.Operation:
        return plan.TableReduce(store.name, adder, subtractor, sends_old)

    return aggregates.aggregate_table(this, store, "KTABLE-REDUCE-", make, name)


def aggregate_table(
    this: GroupHandle,
    initializer: Initializer,
    adder: Aggregator,
    subtractor: Aggregator,
    materialized: Materialized | None,
    name: str | None,
) -> TableHandle:
    store = materialize(this.graph, materialized, OF_TABLE, this.key_serde)

    def make(sends_old: bool) -> plan.Operation:
        return plan.TableAggregate(store.name, initializer, adder, subtractor, sends_old)

    return aggregates.aggregate_table(this, store, OF_TABLE, make, name)
