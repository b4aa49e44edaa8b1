"""What all operators are, and what a task offers them.

An operator takes a slice of records and forwards what becomes of them. How far a slice may go at once depends on the
graph. Where each operator has one parent and its stores to itself, slices go through whole. Where paths meet again, or
an operator looks into another's store, it matters that a record has gone all the way down before the next one starts:
there a slice is one record, and what an operator makes of it goes down one by one, depth first, as in Kafka Streams.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

from penstock.pipeline.operators.processor_api import Headers, RecordMetadata
from penstock.pipeline.plan.operations import Operation

Raw: TypeAlias = tuple[Any, Any, int, Headers]
"""Key, value, timestamp, headers: a plain tuple, which is made four times as fast as a named one."""
Slice: TypeAlias = Sequence[Raw]
NO_TIME = -1
LATEST_TIME = (1 << 63) - 1

OperationT = TypeVar("OperationT", bound=Operation)


class SharedClock:
    """What both sides of a join of streams know of time."""

    def __init__(self) -> None:
        self.stream_time = NO_TIME
        self.earliest_waiting = LATEST_TIME
        self.next_emit_ms = 0

    def note(self) -> list[int]:
        return [self.stream_time, self.earliest_waiting]

    def recall(self, note: list[int]) -> None:
        self.stream_time, self.earliest_waiting = note


class Lookup(Protocol):
    """The current row of a table, with its timestamp."""

    def __call__(self, key: Any) -> tuple[Any, int] | None: ...


@dataclass
class TaskContext:
    """What operators know of the task that they are in."""

    application_id: str
    task_id: str
    stores: dict[str, Any]
    partition: int = 0
    now_ms: int = 0
    stream_time: int = NO_TIME
    emit_interval_ms: int = 1_000
    """Of wall-clock time that passes between two checks for what closed windows let out."""
    metadata: RecordMetadata | None = None
    record_time: int = 0
    """Of the record, or the punctuation, that a processor of the user's is at."""
    dropped: dict[str, int] = field(default_factory=dict)
    """How many records were dropped, by the operator that did."""
    clocks: dict[str, SharedClock] = field(default_factory=dict)

    def drop(self, operator: str) -> None:
        self.dropped[operator] = self.dropped.get(operator, 0) + 1

    def clock(self, name: str) -> SharedClock:
        return self.clocks.setdefault(name, SharedClock())


class Operator(Generic[OperationT]):
    """Subclasses are in `table.OPERATORS`, by the operation that they do."""

    one_record_at_a_time: ClassVar[bool] = False
    """Whether it makes several records of one between changes of its store."""

    def __init__(self, name: str, operation: OperationT, context: TaskContext) -> None:
        self.name = name
        self.operation = operation
        self.context = context
        self.children: list[Operator[Any]] = []
        self.forward: Callable[[Slice], None] = self._forward_slice
        self.prepare()

    def prepare(self) -> None:
        """Finds its stores."""

    def process(self, records: Slice) -> None:
        raise NotImplementedError

    def close(self) -> None:
        pass

    def note(self) -> list[int]:
        """What it remembers besides its stores; a task that is made anew has it `recall` that."""
        return []

    def recall(self, note: list[int]) -> None:
        """Takes what `note` of the same operator has said."""

    def forward_depth_first(self) -> None:
        self.forward = self._forward_each

    def _forward_slice(self, records: Slice) -> None:
        if records:
            for child in self.children:
                child.process(records)

    def _forward_each(self, records: Slice) -> None:
        for record in records:
            one = (record,)
            for child in self.children:
                child.process(one)

    def emit(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        one = ((key, value, timestamp, headers),)
        for child in self.children:
            child.process(one)

    def drop(self) -> None:
        self.context.drop(self.name)
