"""Runs of offsets that share one fate, in order and without holes.

Kafka keeps a state per batch, and explodes a batch into states per offset when its records part ways. A run is both:
it begins as what was acquired together and is cut in two wherever the records of it go different ways.
"""

from bisect import bisect_right
from collections.abc import Iterator
from enum import IntEnum
from operator import attrgetter
from typing import NamedTuple


class RecordState(IntEnum):
    """With the numbers that are stored."""

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVED = 4


class StateBatch(NamedTuple):
    """What is stored of a run."""

    first_offset: int
    last_offset: int
    state: int
    delivery_count: int


class Transition:
    """A change of some runs that is not durable yet: it will be committed, or rolled back."""

    __slots__ = ("batches", "runs")

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.batches: list[StateBatch] = []
        """What has to be stored for it."""


class Run:
    __slots__ = (
        "batch_size",
        "deadline_ms",
        "delivery_count",
        "first",
        "last",
        "member_id",
        "state",
        "transition",
    )

    def __init__(self, first: int, last: int, state: RecordState, delivery_count: int) -> None:
        self.first = first
        self.last = last
        self.state = state
        self.delivery_count = delivery_count
        self.batch_size = last - first + 1
        """The records that were acquired together when this run was delivered first."""
        self.member_id = ""
        """Who has it, while it is acquired or on the way from there to another state."""
        self.deadline_ms = 0
        """When its lock ends; it means something together with a member."""
        self.transition: Transition | None = None

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    @property
    def is_available(self) -> bool:
        return self.state == RecordState.AVAILABLE and self.transition is None

    @property
    def is_acquired(self) -> bool:
        return self.state == RecordState.ACQUIRED

    @property
    def is_finished(self) -> bool:
        """Whether nobody will get these records any more, once the change is durable."""
        return self.state >= RecordState.ACKNOWLEDGED

    @property
    def is_gap(self) -> bool:
        """Offsets that no record was ever delivered from."""
        return self.state == RecordState.ARCHIVED and self.delivery_count == 0

    def to_batch(self) -> StateBatch:
        return StateBatch(self.first, self.last, int(self.state), self.delivery_count)

    def can_join(self, other: "Run") -> bool:
        return (
            self.is_finished
            and self.state == other.state
            and self.delivery_count == other.delivery_count
            and self.transition is None
            and other.transition is None
        )

    def __repr__(self) -> str:
        pending = "~" if self.transition else ""
        return f"{self.first}-{self.last}:{self.state.name}{pending}x{self.delivery_count}@{self.member_id}"


_first = attrgetter("first")


class Runs:
    """Covers the offsets from the first run's first to the last run's last."""

    def __init__(self) -> None:
        self._runs: list[Run] = []

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def append(self, run: Run) -> None:
        assert not self._runs or run.first == self._runs[-1].last + 1
        self._runs.append(run)

    def overlapping(self, first: int, last: int) -> list[Run]:
        """The runs that hold an offset of this span, whole."""
        begin = max(bisect_right(self._runs, first, key=_first) - 1, 0)
        end = bisect_right(self._runs, last, key=_first)
        found = self._runs[begin:end]
        return found[1:] if found and found[0].last < first else found

    def within(self, first: int, last: int) -> list[Run]:
        """The runs of exactly this span, which are cut at its ends."""
        if last < first:
            return []
        return [self.cut(run, first, last) for run in self.overlapping(first, last)]

    def cut(self, run: Run, first: int, last: int) -> Run:
        """The part of a run that lies in a span; the rest becomes runs of their own."""
        if run.first < first:
            run = self._split(run, first)
        if run.last > last:
            self._split(run, last + 1)
        return run

    def _split(self, run: Run, at: int) -> Run:
        """Cuts a run in two; returns the second, which begins at this offset."""
        second = Run(at, run.last, run.state, run.delivery_count)
        second.batch_size = run.batch_size
        second.member_id = run.member_id
        second.deadline_ms = run.deadline_ms
        second.transition = run.transition
        if run.transition is not None:
            run.transition.runs.append(second)
        run.last = at - 1
        self._runs.insert(bisect_right(self._runs, run.first, key=_first), second)
        return second

    def drop_before(self, offset: int) -> None:
        """Forgets what lies below an offset."""
        runs = self._runs
        keep = 0
        while keep < len(runs) and runs[keep].last < offset:
            keep += 1
        del runs[:keep]
        if runs and runs[0].first < offset:
            self._split(runs[0], offset)
            del runs[0]

    def drop_finished(self) -> None:
        """Forgets the runs at the front that are done with."""
        runs = self._runs
        keep = 0
        while keep < len(runs) and runs[keep].is_finished and runs[keep].transition is None:
            keep += 1
        del runs[:keep]

    def join_finished(self) -> None:
        """Makes one of neighbours that are done with alike."""
        if len(self._runs) < 2:
            return
        joined: list[Run] = []
        for run in self._runs:
            if joined and joined[-1].can_join(run):
                joined[-1].last = run.last
            else:
                joined.append(run)
        self._runs = joined
