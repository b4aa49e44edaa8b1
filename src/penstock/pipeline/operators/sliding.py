"""Sliding windows: one for each set of records of a key that lie within the time difference of each other.

Each record at t has a window that ends with it, [t - difference, t], its left window, and one that begins right after
it, [t + 1, t + 1 + difference], its right window, which exists only once there is a record in it. So a new record

- goes into all windows that span it,
- makes its left window, from what lies within the difference before it,
- makes the right window of the record before it, if it is the first one in there,
- makes its own right window, if it is late and records after it lie within the difference.

Records earlier than the difference itself would have left windows that start before time; they share [0, difference].
A window's timestamp is that of its latest record, which tells whether it reaches to the left or the right of t.
"""

from typing import Any

from penstock.pipeline.operators.base import NO_TIME, Slice
from penstock.pipeline.operators.processor_api import Headers
from penstock.pipeline.operators.stores.key_value import Row
from penstock.pipeline.operators.windowed import WindowAggregate
from penstock.pipeline.plan import operations as plan
from penstock.pipeline.plan.windows import Window


class _Found:
    """What there is around a new record."""

    def __init__(self) -> None:
        self.starts: set[int] = set()
        self.left: Row | None = None
        """The aggregate of what is before the record."""
        self.right: Row | None = None
        """The aggregate of a window that has records after it."""
        self.has_left = self.has_right = False
        self.previous: int | None = None
        """When the record before it was."""


class AggregateSlidingWindows(WindowAggregate):
    operation: plan.AggregateSlidingWindows

    def prepare(self) -> None:
        super().prepare()
        self.difference = self.operation.windows.time_difference_ms

    def process(self, records: Slice) -> None:
        for key, value, timestamp, headers in records:
            if key is None or value is None:
                self.drop()
                continue
            self.observed = max(self.observed, timestamp)
            close_time = self.observed - self.operation.windows.grace_ms
            if timestamp + self.difference < close_time:
                self.drop()
                continue
            step = _Step(self, key, value, timestamp, headers, close_time)
            if timestamp < self.difference:
                step.run_early()
                continue
            step.run()
            self.maybe_emit_final(close_time, headers)

    def bounds(self, close_time: int) -> tuple[int, int] | None:
        last = close_time - self.difference - 1
        if last < 0:
            return None
        return (0 if self.closed == NO_TIME else max(0, self.closed - self.difference)), last


class _Step:
    """One record."""

    def __init__(
        self, owner: AggregateSlidingWindows, key: Any, value: Any, at: int, headers: Headers, close_time: int
    ) -> None:
        self.owner, self.key, self.value, self.at = owner, key, value, at
        self.headers, self.close_time, self.difference = headers, close_time, owner.difference

    def run(self) -> None:
        found = self._look_around()
        if found is None:
            return
        if found.previous is not None:
            after_previous = found.previous + 1
            reaches_here = after_previous + self.difference >= self.at
            if after_previous not in found.starts and reaches_here:
                self._make_right_of_previous(after_previous)
        if not found.has_left:
            near = found.previous is not None and self.at - self.difference <= found.previous
            base = found.left[0] if near and found.left is not None else self.owner.operation.initializer()
            self._update(self.at - self.difference, (base, self.at))
        if not found.has_right and found.right is not None and found.right[1] > self.at:
            self._make_right(found.right)

    def _look_around(self) -> _Found | None:
        """From late to early; None if nothing is left to do."""
        found, at = _Found(), self.at
        rows = self.owner.store.rows_of(self.key, max(0, at - 2 * self.difference), at + 1)
        for start, row in reversed(rows):
            found.starts.add(start)
            end = start + self.difference
            if start == at + 1:
                found.has_right = True
            elif end > at:
                if found.right is None:
                    found.right = row
                self._update(start, row)
            elif end == at:
                found.has_left = True
                self._update(start, row)
                if row[1] >= at:
                    return None
                found.previous = row[1]
            else:
                found.left, found.previous = row, row[1]
                break
        return found

    def run_early(self) -> None:
        found, at = _Found(), self.at
        combined: Row | None = None
        for start, row in self.owner.store.rows_of(self.key, 0, at + 1):
            found.starts.add(start)
            if start == 0:
                combined = row
                if row[1] < at:
                    found.previous = row[1]
            elif start <= at:
                found.right = row
                self._update(start, row)
            else:
                found.has_right = True
        if found.right is None and combined is not None and combined[1] > at:
            found.right = combined
        if not found.has_right and found.right is not None and found.right[1] > at:
            self._make_right(found.right)
        if found.previous is not None and found.previous + 1 not in found.starts:
            self._make_right_of_previous(found.previous + 1)
        self._update(0, combined or (self.owner.operation.initializer(), at))

    def _make_right_of_previous(self, start: int) -> None:
        self._update(start, (self.owner.operation.initializer(), self.at))

    def _make_right(self, row: Row) -> None:
        """What is after the record, without it."""
        start = self.at + 1
        self.owner.store.put_row_at(self.key, row[0], row[1], start)
        self.owner.change(self.key, self._window(start), row[0], None, row[1], self.headers)

    def _update(self, start: int, row: Row) -> None:
        window, (old, stored_at) = self._window(start), row
        if window.end_ms < self.close_time:
            self.owner.drop()
            return
        new = self.owner.aggregator(self.key, self.value, old)
        new_time = self.at if old is None else max(self.at, stored_at)
        self.owner.store.put_row_at(self.key, new, new_time, start)
        self.owner.change(self.key, window, new, old, new_time, self.headers)

    def _window(self, start: int) -> Window:
        return Window(start, start + self.difference)
