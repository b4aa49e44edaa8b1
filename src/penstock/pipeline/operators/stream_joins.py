"""Joins of two streams.

A record meets those that the other side has kept, and is kept itself after that, so that in a join of a stream with
itself it does not meet itself twice. Of an outer side, a record that has met none waits until no partner can come any
more: the join's window has closed, grace included. When records are let go is checked with each record that moves the
join's time on, but once in an interval of wall-clock time at most.
"""

from typing import Any

from penstock.pipeline.operators.base import LATEST_TIME, Operator, Slice
from penstock.pipeline.operators.processor_api import Headers
from penstock.pipeline.operators.stores.outer_join import LEFT, RIGHT, OuterJoinStore, Place
from penstock.pipeline.operators.stores.window import WindowStore
from penstock.pipeline.plan import operations as plan


class KeepForJoin(Operator[plan.KeepForJoin]):
    one_record_at_a_time = True

    def prepare(self) -> None:
        self.store: WindowStore = self.context.stores[self.operation.store]

    def process(self, records: Slice) -> None:
        for record in records:
            self.forward((record,))
            key, value, timestamp, _ = record
            if key is not None:
                self.store.put_row_at(key, value, timestamp, timestamp)


class JoinStreams(Operator[plan.JoinStreams]):
    one_record_at_a_time = True

    def prepare(self) -> None:
        operation, stores = self.operation, self.context.stores
        self.other: WindowStore = stores[operation.other_store]
        self.waiting: OuterJoinStore | None = (
            stores[operation.outer_store] if operation.outer_store is not None else None
        )
        self.clock = self.context.clock(operation.clock)
        self.own_side, self.other_side = (LEFT, RIGHT) if operation.side == "left" else (RIGHT, LEFT)
        is_left = operation.side == "left"
        windows = (operation.after_ms, operation.before_ms)
        self.left_waits_ms, self.right_waits_ms = windows if is_left else windows[::-1]

    def process(self, records: Slice) -> None:
        for key, value, timestamp, headers in records:
            self._join(key, value, timestamp, headers)

    def _join(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        operation, clock = self.operation, self.clock
        clock.stream_time = max(clock.stream_time, timestamp)
        if operation.is_outer and key is None and value is not None:
            self.emit(key, operation.joiner(key, value, None), timestamp, headers)
            return
        if key is None or value is None:
            self.drop()
            return
        if timestamp == clock.stream_time and self.waiting is not None:
            self._let_go(self.waiting, timestamp, headers)
        first = max(0, timestamp - operation.before_ms)
        last = max(0, timestamp + operation.after_ms)
        partners = self.other.rows_of(key, first, last)
        for other_time, (other, _) in partners:
            if self.waiting is not None:
                self.waiting.forget(key, other_time, self.other_side, timestamp)
            joined = operation.joiner(key, value, other)
            self.emit(key, joined, max(timestamp, other_time), headers)
        if operation.is_outer and not partners:
            self._wait_or_emit(key, value, timestamp, headers, last)

    def _wait_or_emit(self, key: Any, value: Any, timestamp: int, headers: Headers, last: int) -> None:
        if self.waiting is None or last < self.clock.stream_time:
            self.emit(key, self.operation.joiner(key, value, None), timestamp, headers)
            return
        self.clock.earliest_waiting = min(self.clock.earliest_waiting, timestamp)
        self.waiting.add(key, timestamp, self.own_side, value)

    def _let_go(self, waiting: OuterJoinStore, timestamp: int, headers: Headers) -> None:
        clock, now = self.clock, self.context.now_ms
        waits_ms = self.operation.after_ms + self.operation.grace_ms
        # While nothing waits, a check counts as made all the same: in Kafka Streams this sum wraps around.
        wraps = clock.earliest_waiting == LATEST_TIME and waits_ms > 0
        if not wraps and clock.earliest_waiting + waits_ms >= clock.stream_time:
            return
        if now < clock.next_emit_ms:
            return
        clock.next_emit_ms = now + self.context.emit_interval_ms
        clock.earliest_waiting = LATEST_TIME
        open_sides: set[int] = set()
        for place in waiting.places():
            clock.earliest_waiting = place[0]
            if len(open_sides) == 2:
                break
            if self._is_open(place):
                open_sides.add(place[1])
                continue
            for value in waiting.values_at(place):
                self._emit_alone(waiting.key_at(place), value, place, headers)
            waiting.remove(place, timestamp)

    def _is_open(self, place: Place) -> bool:
        waits_ms = self.left_waits_ms if place[1] == LEFT else self.right_waits_ms
        return self.clock.earliest_waiting + waits_ms + self.operation.grace_ms >= self.clock.stream_time

    def _emit_alone(self, key: Any, value: Any, place: Place, headers: Headers) -> None:
        is_own = place[1] == self.own_side
        this, other = (value, None) if is_own else (None, value)
        self.emit(key, self.operation.joiner(key, this, other), place[0], headers)
