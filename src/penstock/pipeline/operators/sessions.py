"""Sessions: a record joins all sessions that lie within the gap around it, so that two may become one."""

from typing import Any

from penstock.pipeline.operators.base import Slice
from penstock.pipeline.operators.processor_api import Headers
from penstock.pipeline.operators.stores.session import SessionStore
from penstock.pipeline.operators.windowed import EmitsOnClose
from penstock.pipeline.plan import operations as plan
from penstock.pipeline.plan.windows import Window, Windowed


class AggregateSessions(EmitsOnClose[plan.AggregateSessions]):
    """What it makes has no headers, being of several records; final results have those of the one that closed them."""

    def prepare(self) -> None:
        self.store: SessionStore = self.context.stores[self.operation.store]

    def process(self, records: Slice) -> None:
        windows = self.operation.windows
        for key, value, timestamp, headers in records:
            if key is None:
                self.drop()
                continue
            self.observed = max(self.observed, timestamp)
            close_time = self.observed - windows.grace_ms - windows.inactivity_gap_ms
            self._add(key, value, timestamp, close_time)
            self._maybe_emit_final(close_time, headers)

    def _add(self, key: Any, value: Any, timestamp: int, close_time: int) -> None:
        gap, operation = self.operation.windows.inactivity_gap_ms, self.operation
        own = merged = Window(timestamp, timestamp)
        aggregate = operation.initializer()
        sessions = self.store.find_sessions(key, timestamp - gap, timestamp + gap)
        for session, other in sessions:
            aggregate = operation.merger(key, aggregate, other)
            start, end = session.window
            merged = Window(min(merged.start_ms, start), max(merged.end_ms, end))
        if merged.end_ms < close_time:
            self.drop()
            return
        if merged != own:
            for session, other in sessions:
                self.store.remove(session, timestamp)
                self._change(session, None, other)
        aggregate = operation.aggregator(key, value, aggregate)
        session = Windowed(key, merged)
        self.store.put(session, aggregate, timestamp)
        self._change(session, aggregate, None)

    def _change(self, session: Windowed[Any], new: Any, old: Any) -> None:
        if not self.operation.emits_on_close:
            old = old if self.operation.sends_old else None
            self.emit(session, (new, old), session.window.end_ms, ())

    def _maybe_emit_final(self, close_time: int, headers: Headers) -> None:
        if not self.operation.emits_on_close or not self.is_due(close_time):
            return
        first, last = max(0, self.closed), close_time - 1
        if last < 0 or last < first:
            return
        for session, aggregate in self.store.find_ended(first, last):
            self.emit(session, (aggregate, None), session.window.end_ms, headers)
        self.closed = close_time
