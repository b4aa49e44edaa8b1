"""The user's own processors, and the punctuators that they schedule."""

import heapq
from collections.abc import Callable
from itertools import count
from typing import Any

from penstock.errors import PenstockError
from penstock.pipeline.operators.base import NO_TIME, Operator, Slice, TaskContext
from penstock.pipeline.operators.processor_api import PunctuationType, Record, RecordMetadata
from penstock.pipeline.plan import operations as plan


class ProcessorError(PenstockError):
    """A processor asked its context for what it can't have."""


class Punctuations:
    """Those of one kind of time, in the order in which they are due."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, Punctuation]] = []
        self._numbers = count()

    def add(self, punctuation: "Punctuation") -> None:
        heapq.heappush(self._waiting, (punctuation.due_ms, next(self._numbers), punctuation))

    def run_due(self, now: int) -> bool:
        """Each once, however much time has passed; whether there were any."""
        has_run = False
        while self._waiting and self._waiting[0][0] <= now:
            punctuation = heapq.heappop(self._waiting)[2]
            if punctuation.is_cancelled:
                continue
            punctuation.punctuator(now)
            has_run = True
            if not punctuation.is_cancelled:
                punctuation.move_on(now)
                self.add(punctuation)
        return has_run


class Punctuation:
    def __init__(self, due_ms: int, interval_ms: int, punctuator: Callable[[int], object]) -> None:
        self.due_ms, self.interval_ms, self.punctuator = due_ms, interval_ms, punctuator
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True

    def move_on(self, now: int) -> None:
        """To the next multiple of the interval that is not past."""
        missed = max(0, now - self.due_ms) // self.interval_ms
        self.due_ms += (missed + 1) * self.interval_ms


class RunProcessor(Operator[plan.RunProcessor]):
    one_record_at_a_time = True

    def prepare(self) -> None:
        self.processor = self.operation.supplier()
        self.stores: tuple[str, ...] = ()

    def start(self, stores: tuple[str, ...], punctuations: dict[PunctuationType, Punctuations]) -> None:
        """After all operators have been linked, since `init` may already forward."""
        self.processor.init(_Context(self, self.context, stores, punctuations))

    def process(self, records: Slice) -> None:
        process = self.processor.process
        for record in records:
            self.context.record_time = record[2]
            process(Record(*record))

    def close(self) -> None:
        self.processor.close()


class _Context:
    def __init__(
        self,
        operator: RunProcessor,
        task: TaskContext,
        stores: tuple[str, ...],
        punctuations: dict[PunctuationType, Punctuations],
    ) -> None:
        self._operator, self._task, self._stores, self._punctuations = operator, task, stores, punctuations

    def forward(self, record: Record, child: str | None = None) -> None:
        one = (tuple(record),)
        for each in self._operator.children:
            if child is None or each.name == child:
                each.process(one)

    def get_state_store(self, name: str) -> Any:
        if name not in self._stores:
            raise ProcessorError(
                f"{self._operator.name} has no store {name!r}; it has {', '.join(self._stores) or 'none'}: "
                f"name those that it uses in `process(..., stores=[...])`"
            )
        return self._task.stores[name]

    def schedule(
        self, interval_ms: int, kind: PunctuationType, punctuator: Callable[[int], object]
    ) -> Punctuation:
        if interval_ms < 1:
            raise ProcessorError(f"schedule: got an interval of {interval_ms} ms; takes at least 1")
        first = 0 if kind is PunctuationType.STREAM_TIME else self._task.now_ms + interval_ms
        punctuation = Punctuation(first, interval_ms, self._punctuate(punctuator))
        self._punctuations[kind].add(punctuation)
        return punctuation

    def _punctuate(self, punctuator: Callable[[int], object]) -> Callable[[int], None]:
        def punctuate(now: int) -> None:
            self._task.record_time = now
            punctuator(now)

        return punctuate

    @property
    def record_metadata(self) -> RecordMetadata | None:
        return self._task.metadata

    @property
    def current_stream_time_ms(self) -> int:
        return max(self._task.stream_time, NO_TIME)

    @property
    def current_system_time_ms(self) -> int:
        return self._task.now_ms

    @property
    def task_id(self) -> str:
        return self._task.task_id

    @property
    def application_id(self) -> str:
        return self._task.application_id
