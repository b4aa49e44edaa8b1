"""What a processor does, as frozen values. `pipeline.operators.table` has the operator of each.

Records are (key, value, timestamp, headers). Where a table's changes travel, the value is a pair of the new and the old
row; the old one is None unless someone below needs it (`sends_old`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from penstock.pipeline.plan.serdes import Serde
from penstock.pipeline.plan.views import Joiner, JoinKind, View
from penstock.pipeline.plan.windows import SessionWindows, SlidingWindows, TimeWindows

KeyedFunction: TypeAlias = Callable[[Any, Any], Any]
KeyedJoiner: TypeAlias = Callable[[Any, Any, Any], Any]
Initializer: TypeAlias = Callable[[], Any]
Aggregator: TypeAlias = Callable[[Any, Any, Any], Any]
"""Of key, value and aggregate."""
Reducer: TypeAlias = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Operation:
    pass


# --- without state


@dataclass(frozen=True)
class FilterRecords(Operation):
    predicate: Callable[[Any, Any], bool]
    keeps: bool = True


@dataclass(frozen=True)
class KeepKeyed(Operation):
    """Before a repartition topic: records without a key have no place there, unless a join below wants them."""

    keeps_all: bool = False


@dataclass(frozen=True)
class MapRecords(Operation):
    mapper: Callable[[Any, Any], tuple[Any, Any]]


@dataclass(frozen=True)
class SelectKey(Operation):
    mapper: KeyedFunction


@dataclass(frozen=True)
class MapValues(Operation):
    mapper: Callable[..., Any]
    with_key: bool = False


@dataclass(frozen=True)
class FlatMap(Operation):
    mapper: Callable[[Any, Any], Iterable[tuple[Any, Any]]]


@dataclass(frozen=True)
class FlatMapValues(Operation):
    mapper: Callable[..., Iterable[Any]]
    with_key: bool = False


@dataclass(frozen=True)
class Peek(Operation):
    action: Callable[[Any, Any], object]
    forwards: bool = True


@dataclass(frozen=True)
class Branch(Operation):
    predicates: tuple[Callable[[Any, Any], bool], ...]
    children: tuple[str, ...]
    """One more than predicates, if there is a default branch."""


@dataclass(frozen=True)
class PassThrough(Operation):
    pass


# --- tables


@dataclass(frozen=True)
class TableSource(Operation):
    store: str | None = None
    sends_old: bool = False


@dataclass(frozen=True)
class TableFilter(Operation):
    predicate: Callable[[Any, Any], bool]
    keeps: bool
    store: str | None = None
    sends_old: bool = False


@dataclass(frozen=True)
class TableMapValues(Operation):
    mapper: KeyedFunction
    store: str | None = None
    sends_old: bool = False


@dataclass(frozen=True)
class TableToStream(Operation):
    pass


@dataclass(frozen=True)
class RegroupTable(Operation):
    mapper: Callable[[Any, Any], tuple[Any, Any]]


@dataclass(frozen=True)
class TableAggregate(Operation):
    store: str
    initializer: Initializer
    adder: Aggregator
    subtractor: Aggregator
    sends_old: bool = False


@dataclass(frozen=True)
class TableReduce(Operation):
    store: str
    adder: Reducer
    subtractor: Reducer
    sends_old: bool = False


@dataclass(frozen=True)
class JoinTables(Operation):
    """A change of one table meets the current row of the other."""

    kind: JoinKind
    other: View
    joiner: Joiner
    sends_old: bool = False


@dataclass(frozen=True)
class MergeJoined(Operation):
    store: str | None = None
    sends_old: bool = False


@dataclass(frozen=True)
class Suppress(Operation):
    buffer: str
    wait_ms: int
    by_window_end: bool
    max_records: int | None
    max_bytes: int | None
    emits_when_full: bool
    drops_tombstones: bool


# --- joins by a foreign key


@dataclass(frozen=True)
class Subscribe(Operation):
    extractor: KeyedFunction
    is_left: bool
    foreign_key_serde: Serde | None
    value_serde: Serde | None
    hash_topic: str
    """What serializers are told that rows are hashed for."""


@dataclass(frozen=True)
class ReceiveSubscription(Operation):
    store: str


@dataclass(frozen=True)
class JoinSubscription(Operation):
    other: View


@dataclass(frozen=True)
class AnswerSubscribers(Operation):
    store: str


@dataclass(frozen=True)
class ResolveAnswer(Operation):
    this: View
    joiner: Joiner
    is_left: bool
    value_serde: Serde | None
    hash_topic: str


# --- aggregates of streams


@dataclass(frozen=True)
class AggregateStream(Operation):
    store: str
    initializer: Initializer
    aggregator: Aggregator
    sends_old: bool = False


@dataclass(frozen=True)
class ReduceStream(Operation):
    store: str
    reducer: Reducer
    sends_old: bool = False


@dataclass(frozen=True)
class AggregateTimeWindows(Operation):
    store: str
    windows: TimeWindows
    initializer: Initializer
    aggregator: Aggregator
    emits_on_close: bool = False
    sends_old: bool = False


@dataclass(frozen=True)
class AggregateSlidingWindows(Operation):
    store: str
    windows: SlidingWindows
    initializer: Initializer
    aggregator: Aggregator
    emits_on_close: bool = False
    sends_old: bool = False


@dataclass(frozen=True)
class AggregateSessions(Operation):
    store: str
    windows: SessionWindows
    initializer: Initializer
    aggregator: Aggregator
    merger: Aggregator
    emits_on_close: bool = False
    sends_old: bool = False


# --- joins of streams


@dataclass(frozen=True)
class KeepForJoin(Operation):
    store: str


@dataclass(frozen=True)
class JoinStreams(Operation):
    """One side of a join: a record meets what the other side has kept."""

    side: Literal["left", "right"]
    other_store: str
    outer_store: str | None
    is_outer: bool
    """Whether records of this side come out without a partner too."""
    before_ms: int
    after_ms: int
    grace_ms: int
    joiner: KeyedJoiner
    """Of the key, this side's value and the other's."""
    clock: str
    """What both sides of one join share: how far time has come in it."""


@dataclass(frozen=True)
class JoinTable(Operation):
    """Of a stream with a table, or with a global one by a key that is mapped."""

    table: View
    joiner: KeyedJoiner
    is_left: bool
    key_mapper: KeyedFunction | None = None


# --- the user's own


@dataclass(frozen=True)
class RunProcessor(Operation):
    supplier: Callable[[], Any]
    keeps_key: bool = False
