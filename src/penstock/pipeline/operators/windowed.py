"""Aggregates in windows of a size. A window takes records until the operator's own stream time is past end and grace.

With `emits_on_close` nothing comes out before that; then windows come out in the order of their starts and keys, at
most once in an interval of wall-clock time, as in Kafka Streams, and carried by the record that moved time on.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from penstock.pipeline.operators.base import NO_TIME, OperationT, Operator, Raw, Slice
from penstock.pipeline.operators.processor_api import Headers
from penstock.pipeline.operators.stores.window import WindowStore
from penstock.pipeline.plan import operations as plan
from penstock.pipeline.plan.windows import Window, Windowed

_windowed: Final[Callable[[Iterable[Any]], Windowed[Any]]] = partial(tuple.__new__, Windowed)
"""In half the time that its own constructor takes."""


class EmitsOnClose(Operator[OperationT]):
    """When final results are due, and from where on."""

    one_record_at_a_time = True
    observed = NO_TIME
    closed = NO_TIME
    next_emit_ms = 0

    def note(self) -> list[int]:
        return [self.observed, self.closed]

    def recall(self, note: list[int]) -> None:
        self.observed, self.closed = note

    def is_due(self, close_time: int) -> bool:
        now = self.context.now_ms
        if now < self.next_emit_ms:
            return False
        self.next_emit_ms = now + self.context.emit_interval_ms
        return self.closed == NO_TIME or self.closed < close_time


class WindowAggregate(EmitsOnClose[Any]):
    """What tumbling, hopping and sliding windows share."""

    span_ms: int
    """From the start of a window to its end."""

    def prepare(self) -> None:
        self.store: WindowStore = self.context.stores[self.operation.store]
        self.aggregator = self.operation.aggregator

    def change(self, key: Any, window: Window, new: Any, old: Any, timestamp: int, headers: Headers) -> None:
        if not self.operation.emits_on_close:
            old = old if self.operation.sends_old else None
            self.emit(Windowed(key, window), (new, old), timestamp, headers)

    def bounds(self, close_time: int) -> tuple[int, int] | None:
        """Starts of the windows that are to come out, if there are any new ones."""
        raise NotImplementedError

    def maybe_emit_final(self, close_time: int, headers: Headers) -> None:
        if not self.operation.emits_on_close or not self.is_due(close_time):
            return
        bounds = self.bounds(close_time)
        if bounds is None:
            return
        for windowed, (value, timestamp) in self.store.all_rows(*bounds):
            self.emit(windowed, (value, None), timestamp, headers)
        self.closed = close_time


class AggregateTimeWindows(WindowAggregate):
    operation: plan.AggregateTimeWindows

    def process(self, records: Slice) -> None:
        windows, store, aggregator = self.operation.windows, self.store, self.aggregator
        size, grace = windows.size_ms, windows.grace_ms
        for key, value, timestamp, headers in records:
            if key is None:
                self.drop()
                continue
            self.observed = max(self.observed, timestamp)
            close_time = self.observed - grace
            for start in windows.starts_for(timestamp):
                if start + size <= close_time:
                    self.drop()
                    continue
                row = store.row_at(key, start)
                if row is None:
                    old, new_time = self.operation.initializer(), timestamp
                else:
                    old, new_time = row[0], max(timestamp, row[1])
                new = aggregator(key, value, old)
                store.put_row_at(key, new, new_time, start)
                self.change(key, Window(start, start + size), new, old, new_time, headers)
            self.maybe_emit_final(close_time, headers)

    def bounds(self, close_time: int) -> tuple[int, int] | None:
        windows = self.operation.windows
        last = close_time - windows.size_ms
        if last < 0:
            return None
        if self.closed == NO_TIME:
            return 0, last
        first = max(0, self.closed - windows.size_ms) + 1
        return None if windows.starts_for(last) == windows.starts_for(first - 1) else (first, last)


class EagerTimeWindows(Operator[plan.AggregateTimeWindows]):
    """Windows whose every update comes out: a record of a tumbling window makes one, so that slices go through."""

    observed = NO_TIME

    def prepare(self) -> None:
        self.store: WindowStore = self.context.stores[self.operation.store]

    def note(self) -> list[int]:
        return [self.observed]

    def recall(self, note: list[int]) -> None:
        (self.observed,) = note

    def process(self, records: Slice) -> None:
        operation, store = self.operation, self.store
        windows, aggregator, sends_old = operation.windows, operation.aggregator, operation.sends_old
        size, grace = windows.size_ms, windows.grace_ms
        window = Window(0, size)
        key_bytes, entries_of, read, replace = store.key_bytes, store.entries_of, store.read, store.replace
        out: list[Raw] = []
        for key, value, timestamp, headers in records:
            if key is None:
                self.drop()
                continue
            if timestamp > self.observed:
                self.observed = timestamp
            start = max(0, timestamp) // size * size
            if start + size <= self.observed - grace:
                self.drop()
                continue
            encoded = key_bytes(key)
            entries = entries_of(encoded, start)
            if not entries:
                old = operation.initializer()
                new = aggregator(key, value, old)
                store.put_row_of(encoded, new, timestamp, start)
            else:
                old, before = read(entries)
                if before > timestamp:
                    timestamp = before
                new = aggregator(key, value, old)
                replace(entries, encoded, new, timestamp, start)
            if start != window.start_ms:
                window = Window(start, start + size)
            change = (new, old if sends_old else None)
            out.append((_windowed((key, window)), change, timestamp, headers))
        self.forward(out)
