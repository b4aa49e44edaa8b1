"""The records in flight of one share partition: which member has which records, how often each was delivered, and
what has become of it.

The window reaches from `start_offset`, below which everything is done with, to `next_offset`, from which on nothing
was delivered yet. In between, every offset belongs to a run:

    AVAILABLE -- acquire --> ACQUIRED -- accept --> ACKNOWLEDGED
        ^                    |  |  |
        +-- release, expiry -+  |  +-- reject, gap --> ARCHIVED
                                +-- the last delivery failed --^

An acknowledgement is a transition: the runs have their new state at once, so that nobody else touches them, but the
window moves and released records come back only when it is durable. If it can't be stored it is rolled back, and the
member has its records again as long as its lock lasts.

What is stored are the states of runs that left ACQUIRED; a lock is not stored. So after a restart, offsets inside the
window that nothing is known of were acquired by somebody who is unknown now: they are available, and their delivery
doesn't count. (Kafka tracks them as "gaps"; here they are runs like any other.)

A record that was delivered half as often as the limit allows, or more, is suspect: then fewer and fewer records are
delivered with it, in the end it alone, so that one bad record doesn't take its neighbours along.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from penstock.errors import ApiError, ErrorCode
from penstock.share.acknowledgements import (
    NEW_STATES,
    Acknowledgement,
    AcknowledgeType,
    pieces_of,
)
from penstock.share.runs import RecordState, Run, Runs, StateBatch, Transition

LEAST_SUSPECT_DELIVERIES = 2
LEAST_LIMIT_THAT_ISOLATES = 3


class Limits(NamedTuple):
    """What the group's configs say."""

    max_delivery_count: int
    max_in_flight: int
    lock_duration_ms: int


class Span(NamedTuple):
    first: int
    last: int


class Fetched(NamedTuple):
    """What the log has from an offset on."""

    offset: int
    batches: Sequence[Span]
    """The first may begin below the offset."""
    aborted: Sequence[Span] = ()
    """Batches of aborted transactions, which nobody shall get."""


class Wanted(NamedTuple):
    max_records: int
    """Exceeded to the end of a batch, unless the limit is strict."""
    batch_size: int = 0
    """New records are handed out in pieces of about this size, cut between batches of the log."""
    is_strict: bool = False


class Acquired(NamedTuple):
    first_offset: int
    last_offset: int
    delivery_count: int


_first = attrgetter("first")


class InFlight:
    def __init__(self, start_offset: int, stored: Iterable[StateBatch] = ()) -> None:
        self.start_offset = start_offset
        self.next_offset = start_offset
        self._runs = Runs()
        self._has_available = True
        """False if a look at all runs has found none available, and none has become so since."""
        for batch in sorted(stored):
            self._add_stored(batch)
        self._advance()

    def _add_stored(self, batch: StateBatch) -> None:
        first = max(batch.first_offset, self.next_offset)
        if batch.last_offset < first:
            return
        self._add_run(first - 1, RecordState.AVAILABLE, 0)
        self._add_run(batch.last_offset, RecordState(batch.state), batch.delivery_count)

    def _add_run(self, last: int, state: RecordState, delivery_count: int) -> Run | None:
        if last < self.next_offset:
            return None
        run = Run(self.next_offset, last, state, delivery_count)
        self._runs.append(run)
        self.next_offset = last + 1
        return run

    # looking

    @property
    def size(self) -> int:
        return self.next_offset - self.start_offset

    @property
    def finished_count(self) -> int:
        """The records of the window that are done with."""
        return sum(run.size for run in self._runs if run.is_finished)

    def runs(self) -> list[Run]:
        return list(self._runs)

    def next_fetch_offset(self) -> int:
        if self._has_available:
            for run in self._runs:
                if run.is_available:
                    return run.first
            self._has_available = False
        return self.next_offset

    def can_acquire(self, limits: Limits) -> bool:
        return self.size < limits.max_in_flight or self.next_fetch_offset() < self.next_offset

    def next_deadline_ms(self) -> int | None:
        """When the first lock ends."""
        return min((run.deadline_ms for run in self._locked()), default=None)

    def _locked(self) -> Iterable[Run]:
        return (run for run in self._runs if run.is_acquired)

    # acquiring

    def acquire(
        self, member_id: str, fetched: Fetched, wanted: Wanted, limits: Limits, now_ms: int
    ) -> list[Acquired]:
        """Gives records of what was fetched to a member."""
        if not fetched.batches:
            return []
        self._archive_missing(fetched)
        acquisition = _Acquisition(fetched, wanted, limits)
        self._acquire_again(acquisition)
        if not acquisition.is_full:
            self._acquire_new(acquisition)
        self._lock(acquisition.runs, member_id, now_ms + limits.lock_duration_ms)
        spans = [Span(run.first, run.last) for run in acquisition.runs]
        self._archive_aborted(fetched.aborted, acquisition.runs)
        return [
            Acquired(run.first, run.last, run.delivery_count)
            for span in spans
            for run in self._runs.overlapping(*span)
            if run.is_acquired
        ]

    def _archive_missing(self, fetched: Fetched) -> None:
        """The log has nothing (any more) between the offset asked for and its first batch."""
        last = min(fetched.batches[0].first, self.next_offset) - 1
        if last < fetched.offset:
            return
        for run in self._runs.within(fetched.offset, last):
            if run.is_available:
                run.state = RecordState.ARCHIVED
        self._advance()

    def _acquire_again(self, acquisition: "_Acquisition") -> None:
        for run in self._runs.overlapping(acquisition.first, acquisition.last):
            if acquisition.is_full:
                return
            if run.is_available:
                run = self._runs.cut(run, acquisition.first, acquisition.last)
                last = acquisition.last_to_take(run)
                if last >= run.first:
                    acquisition.take(self._runs.cut(run, run.first, last))

    def _acquire_new(self, acquisition: "_Acquisition") -> None:
        room = acquisition.limits.max_in_flight - self.size
        first = max(self.next_offset, acquisition.first)
        last = acquisition.last_within(first, min(room, acquisition.left))
        if min(room, acquisition.left) <= 0 or last < first:
            return
        self._add_run(first - 1, RecordState.ARCHIVED, 0)
        for piece in acquisition.pieces(first, last):
            run = self._add_run(piece.last, RecordState.AVAILABLE, 0)
            assert run is not None
            acquisition.take(run)

    def _lock(self, runs: Iterable[Run], member_id: str, deadline_ms: int) -> None:
        for run in runs:
            run.state = RecordState.ACQUIRED
            run.delivery_count += 1
            run.member_id = member_id
            run.deadline_ms = deadline_ms

    def _archive_aborted(self, aborted: Sequence[Span], acquired: Sequence[Run]) -> None:
        if not aborted or not acquired:
            return
        first, last = acquired[0].first, acquired[-1].last
        mine = acquired[0].member_id
        for span in aborted:
            for run in self._runs.within(max(span.first, first), min(span.last, last)):
                if run.is_acquired and run.member_id == mine:
                    run.state = RecordState.ARCHIVED
                    run.member_id = ""
        self._advance()

    # acknowledging

    def acknowledge(
        self, member_id: str, batches: Iterable[Acknowledgement], limits: Limits, now_ms: int
    ) -> Transition:
        """Begins what a member says of its records: all of it, or nothing and an ApiError."""
        transition = Transition()
        try:
            for batch in batches:
                if batch.last_offset >= self.start_offset:
                    self._acknowledge(member_id, batch, limits, now_ms, transition)
        except ApiError:
            self.roll_back(transition, limits, now_ms)
            raise
        transition.batches = _joined(run.to_batch() for run in transition.runs)
        return transition

    def _acknowledge(
        self, member_id: str, batch: Acknowledgement, limits: Limits, now_ms: int, transition: Transition
    ) -> None:
        self._check_in_window(batch)
        for first, last, kind in pieces_of(batch):
            for run in self._runs.within(max(first, self.start_offset), last):
                if run.is_gap:
                    continue
                _check_may_acknowledge(run, member_id)
                if kind == AcknowledgeType.RENEW:
                    run.deadline_ms = now_ms + limits.lock_duration_ms
                else:
                    _begin(run, NEW_STATES[kind], limits, transition)

    def _check_in_window(self, batch: Acknowledgement) -> None:
        not_found = "Batch record not found. The "
        if not len(self._runs):
            raise ApiError(
                ErrorCode.INVALID_RECORD_STATE,
                not_found + "request batch offsets are not found in the cache.",
            )
        if batch.first_offset >= self.next_offset:
            raise ApiError(
                ErrorCode.INVALID_REQUEST, not_found + "first offset in request is past acquired records."
            )
        if batch.last_offset >= self.next_offset:
            raise ApiError(
                ErrorCode.INVALID_REQUEST, not_found + "last offset in request is past acquired records."
            )

    def release(self, member_id: str, limits: Limits) -> Transition:
        """Begins to take back what a member has."""
        transition = Transition()
        for run in self._runs:
            if run.is_acquired and run.member_id == member_id:
                _begin(run, RecordState.AVAILABLE, limits, transition)
        transition.batches = _joined(run.to_batch() for run in transition.runs)
        return transition

    def commit(self, transition: Transition) -> None:
        """The transition is durable."""
        for run in transition.runs:
            run.transition = None
            run.member_id = ""
        self._has_available = True
        self._runs.join_finished()
        self._advance()

    def roll_back(self, transition: Transition, limits: Limits, now_ms: int) -> None:
        """The transition could not be made durable."""
        for run in transition.runs:
            run.transition = None
            if run.deadline_ms > now_ms:
                run.state = RecordState.ACQUIRED
            else:
                run.state = _state_after_failure(run, limits)
                run.member_id = ""
        self._has_available = True
        self._advance()

    # time, and the log

    def expire_locks(self, limits: Limits, now_ms: int) -> list[StateBatch]:
        """Takes back what was held for too long; returns what is to be stored, which nobody waits for."""
        expired = [run for run in self._locked() if run.deadline_ms <= now_ms]
        for run in expired:
            run.state = _state_after_failure(run, limits)
            run.member_id = ""
        changed = _joined(run.to_batch() for run in expired)
        self._has_available = True
        self._advance()
        return changed

    def on_log_start(self, offset: int) -> None:
        """The log begins at this offset now. What was below is gone, whoever has it."""
        if offset <= self.start_offset:
            return
        self._runs.drop_before(offset)
        self.start_offset = offset
        self.next_offset = max(self.next_offset, offset)
        self._advance()

    def _advance(self) -> None:
        self._runs.drop_finished()
        self.start_offset = next((run.first for run in self._runs), self.next_offset)


class _Acquisition:
    """What one acquisition has taken so far, and how much it still may."""

    def __init__(self, fetched: Fetched, wanted: Wanted, limits: Limits) -> None:
        self.limits = limits
        self.first = fetched.batches[0].first
        self.last = fetched.batches[-1].last
        self.left = wanted.max_records
        self.runs: list[Run] = []
        self._batches = fetched.batches
        self._wanted = wanted
        self._suspect_from = max(LEAST_SUSPECT_DELIVERIES, -(-limits.max_delivery_count // 2))
        self._is_closed = False

    @property
    def is_full(self) -> bool:
        return self.left <= 0 or self._is_closed

    def take(self, run: Run) -> None:
        self.runs.append(run)
        self.left -= run.size

    def last_to_take(self, run: Run) -> int:
        """The last offset of a run that may be delivered now; below its first if none may."""
        if run.delivery_count < self._suspect_from:
            return min(run.last, self.last_within(run.first, self.left))
        self._is_closed = True  # nothing follows a suspect
        if self.runs:
            return run.first - 1
        return min(run.last, run.first + min(self._suspects_at_once(run), self.left) - 1)

    def _suspects_at_once(self, run: Run) -> int:
        most = self.limits.max_delivery_count
        if most >= LEAST_LIMIT_THAT_ISOLATES and run.delivery_count >= most - 1:
            return 1
        return max(1, run.batch_size >> (run.delivery_count - self._suspect_from + 1))

    def last_within(self, first: int, count: int) -> int:
        """The last offset when so many records are taken from an offset on."""
        last = first + count - 1
        if not self._wanted.is_strict:
            last = max(last, self._end_of_batch(last))
        return min(last, self.last)

    def _end_of_batch(self, offset: int) -> int:
        index = bisect_right(self._batches, offset, key=_first) - 1
        return self._batches[index].last if index >= 0 else offset

    def pieces(self, first: int, last: int) -> Iterable[Span]:
        """A span in pieces of about the wanted size."""
        if not self._wanted.is_strict and self._wanted.batch_size > 0:
            for batch in self._batches:
                if batch.first > last:
                    break
                if batch.first - first >= self._wanted.batch_size:
                    yield Span(first, batch.first - 1)
                    first = batch.first
        yield Span(first, last)


def _begin(run: Run, state: RecordState, limits: Limits, transition: Transition) -> None:
    run.state = _state_after_failure(run, limits) if state == RecordState.AVAILABLE else state
    run.transition = transition
    transition.runs.append(run)


def _state_after_failure(run: Run, limits: Limits) -> RecordState:
    """Of records that were delivered, and came back."""
    if run.delivery_count >= limits.max_delivery_count:
        return RecordState.ARCHIVED
    return RecordState.AVAILABLE


def _check_may_acknowledge(run: Run, member_id: str) -> None:
    code = ErrorCode.INVALID_RECORD_STATE
    if run.transition is not None:
        message = "The record state is invalid. The acknowledgement of delivery could not be completed."
        raise ApiError(code, message)
    if not run.is_acquired:
        raise ApiError(code, "The batch cannot be acknowledged. The batch is not in the acquired state.")
    if run.member_id != member_id:
        raise ApiError(code, "Member is not the owner of batch record")


def _joined(batches: Iterable[StateBatch]) -> list[StateBatch]:
    """With neighbours of one state made one."""
    joined: list[StateBatch] = []
    for batch in sorted(batches):
        if joined and joined[-1].last_offset + 1 == batch.first_offset and joined[-1][2:] == batch[2:]:
            joined[-1] = joined[-1]._replace(last_offset=batch.last_offset)
        else:
            joined.append(batch)
    return joined
