"""Random members, locks, failures and restarts against a model that knows each record for itself.

At every moment a record is with one member at most, and was delivered no more often than the limit says. In the end
every record was accepted, rejected, given up after its last delivery, or it is delivered once more: nothing is lost.
What a restart finds stored is what was acknowledged.
"""

from collections.abc import Iterable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from penstock.group.share_batches import merge_batches
from penstock.share.acknowledgements import NEW_STATES, Acknowledgement, AcknowledgeType
from penstock.share.in_flight import Fetched, InFlight, Limits, Span, Wanted
from penstock.share.runs import RecordState, StateBatch, Transition
from penstock.wire.stored import share_state as stored_records
from tests.support.examples import examples

LIMITS = Limits(max_delivery_count=4, max_in_flight=30, lock_duration_ms=100)
MEMBERS = ("alice", "bob", "carol")
SOME = st.integers(0, 2**16)


class Coordinator:
    """What the share coordinator would have stored."""

    def __init__(self) -> None:
        self.start_offset = 0
        self.batches: list[stored_records.StateBatch] = []

    def store(self, start_offset: int, batches: Iterable[StateBatch]) -> None:
        self.start_offset = start_offset
        news = [stored_records.StateBatch(*batch) for batch in batches]
        self.batches = merge_batches(self.batches, news, start_offset)

    def stored(self) -> list[StateBatch]:
        return [
            StateBatch(one.first_offset, one.last_offset, one.delivery_state, one.delivery_count)
            for one in self.batches
        ]


class Sharing(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 1000
        self.coordinator = Coordinator()
        self.in_flight = InFlight(0)
        self.log: list[Span] = []
        self.aborted: list[Span] = []
        self.end = 0
        self.log_start = 0
        self.holders: dict[int, tuple[str, int]] = {}
        """Member and deadline by offset."""
        self.counts: dict[int, int] = {}
        """Deliveries by offset."""
        self.finished: set[int] = set()
        self.pending: list[tuple[Transition, dict[int, tuple[str, int]], dict[int, RecordState]]] = []

    # the log

    @rule(
        size=st.integers(1, 6),
        gap=st.sampled_from([0, 0, 0, 1, 3]),
        is_aborted=st.sampled_from([False] * 4 + [True]),
    )
    def produce(self, size: int, gap: int, is_aborted: bool) -> None:
        first = self.end + gap
        batch = Span(first, first + size - 1)
        self.log.append(batch)
        if is_aborted:
            self.aborted.append(batch)
        self.end = batch.last + 1

    @precondition(lambda self: self.end > self.log_start)
    @rule(some=SOME)
    def delete_records(self, some: int) -> None:
        self.log_start += some % min(self.end - self.log_start, 8)
        self.log = [batch for batch in self.log if batch.last >= self.log_start]
        self.in_flight.on_log_start(self.log_start)
        for offset in [offset for offset in self.holders if offset < self.log_start]:
            del self.holders[offset]

    # members

    @rule(
        member=st.sampled_from(MEMBERS),
        batches=st.integers(1, 5),
        wanted=st.builds(Wanted, st.integers(1, 12), st.integers(0, 5), st.booleans()),
    )
    def fetch(self, member: str, batches: int, wanted: Wanted) -> None:
        if not self.in_flight.can_acquire(LIMITS):
            return
        offset = self.in_flight.next_fetch_offset()
        found = [batch for batch in self.log if batch.last >= offset][:batches]
        fetched = Fetched(offset, found, [batch for batch in self.aborted if batch in found])
        acquired = self.in_flight.acquire(member, fetched, wanted, LIMITS, self.now_ms)
        for run in acquired:
            for number in range(run.first_offset, run.last_offset + 1):
                self.deliver(number, member, run.delivery_count)
        if wanted.is_strict:
            assert sum(run.last_offset - run.first_offset + 1 for run in acquired) <= wanted.max_records

    def deliver(self, offset: int, member: str, delivery_count: int) -> None:
        assert offset not in self.holders, "with one member at a time"
        assert offset not in self.finished, "what is done with is not delivered"
        assert offset >= self.log_start
        assert not any(batch.first <= offset <= batch.last for batch in self.aborted)
        self.counts[offset] = self.counts.get(offset, 0) + 1
        assert delivery_count == self.counts[offset] <= LIMITS.max_delivery_count
        self.holders[offset] = member, self.now_ms + LIMITS.lock_duration_ms

    @rule(some=SOME, kinds=st.lists(st.sampled_from(list(AcknowledgeType)), min_size=1, max_size=8))
    def acknowledge(self, some: int, kinds: list[AcknowledgeType]) -> None:
        if not self.holders:
            return
        first = sorted(self.holders)[some % len(self.holders)]
        member = self.holders[first][0]
        offsets = [first]
        while len(offsets) < len(kinds) and self.holders.get(offsets[-1] + 1, ("",))[0] == member:
            offsets.append(offsets[-1] + 1)
        kinds = kinds[: len(offsets)]
        batch = Acknowledgement(first, offsets[-1], kinds if some % 2 else kinds[:1])
        said = dict(zip(offsets, kinds if some % 2 else kinds[:1] * len(offsets), strict=True))
        transition = self.in_flight.acknowledge(member, [batch], LIMITS, self.now_ms)
        renewed = {offset for offset, kind in said.items() if kind == AcknowledgeType.RENEW}
        for offset in renewed:
            self.holders[offset] = member, self.now_ms + LIMITS.lock_duration_ms
        self.await_storing(
            transition, {offset: NEW_STATES[kind] for offset, kind in said.items() if offset not in renewed}
        )

    @rule(member=st.sampled_from(MEMBERS))
    def leave(self, member: str) -> None:
        held = [offset for offset, (holder, _) in self.holders.items() if holder == member]
        transition = self.in_flight.release(member, LIMITS)
        self.await_storing(transition, dict.fromkeys(held, RecordState.AVAILABLE))

    def await_storing(self, transition: Transition, states: dict[int, RecordState]) -> None:
        before = {offset: self.holders.pop(offset) for offset in states}
        assert sorted(states) == sorted(_offsets(transition.batches))
        self.pending.append((transition, before, states))

    # storing

    @precondition(lambda self: self.pending)
    @rule(some=SOME)
    def store(self, some: int) -> None:
        transition, _, states = self.pending.pop(some % len(self.pending))
        self.coordinator.store(self.in_flight.start_offset, transition.batches)
        self.in_flight.commit(transition)
        self.finish(states)

    def finish(self, states: dict[int, RecordState]) -> None:
        for offset, state in states.items():
            is_last = self.counts[offset] >= LIMITS.max_delivery_count
            if state != RecordState.AVAILABLE or is_last:
                self.finished.add(offset)

    @precondition(lambda self: self.pending)
    @rule(some=SOME)
    def fail_to_store(self, some: int) -> None:
        transition, before, _ = self.pending.pop(some % len(self.pending))
        self.in_flight.roll_back(transition, LIMITS, self.now_ms)
        for offset, (member, deadline_ms) in before.items():
            if offset < self.log_start:
                continue
            if deadline_ms > self.now_ms:
                self.holders[offset] = member, deadline_ms
            elif self.counts[offset] >= LIMITS.max_delivery_count:
                self.finished.add(offset)

    # time

    @rule(duration_ms=st.sampled_from([10, 60, 120]))
    def let_time_pass(self, duration_ms: int) -> None:
        self.now_ms += duration_ms
        expired = {offset for offset, (_, deadline_ms) in self.holders.items() if deadline_ms <= self.now_ms}
        batches = self.in_flight.expire_locks(LIMITS, self.now_ms)
        assert sorted(_offsets(batches)) == sorted(expired)
        self.coordinator.store(self.in_flight.start_offset, batches)
        for offset in expired:
            del self.holders[offset]
        self.finish(dict.fromkeys(expired, RecordState.AVAILABLE))

    @rule(was_stored=st.booleans())
    def restart(self, was_stored: bool) -> None:
        """Whoever has records has them no more. What was not stored yet may have been, or not."""
        for transition, _, states in self.pending:
            if was_stored:
                self.coordinator.store(self.in_flight.start_offset, transition.batches)
                self.finish(states)
        self.pending.clear()
        self.holders.clear()
        stored = {offset: batch for batch in self.coordinator.stored() for offset in _offsets([batch])}
        self.in_flight = InFlight(self.coordinator.start_offset, self.coordinator.stored())
        self.in_flight.on_log_start(self.log_start)
        for offset in range(self.coordinator.start_offset, self.end):
            self.counts[offset] = stored[offset].delivery_count if offset in stored else 0
            is_finished = offset in stored and stored[offset].state >= RecordState.ACKNOWLEDGED
            if is_finished:
                self.finished.add(offset)
            else:
                self.finished.discard(offset)  # given up or aborted without a word to the coordinator

    # what always holds

    @invariant()
    def covers_its_window(self) -> None:
        offset = self.in_flight.start_offset
        for run in self.in_flight.runs():
            assert run.first == offset <= run.last
            offset = run.last + 1
        assert offset == self.in_flight.next_offset

    @invariant()
    def knows_who_has_what(self) -> None:
        held = {
            offset: run.member_id
            for run in self.in_flight.runs()
            if run.is_acquired
            for offset in range(run.first, run.last + 1)
        }
        assert held == {offset: member for offset, (member, _) in self.holders.items()}

    @invariant()
    def counts_what_is_done_with(self) -> None:
        finished = sum(run.size for run in self.in_flight.runs() if run.is_finished)
        assert self.in_flight.finished_count == finished <= self.in_flight.size

    def teardown(self) -> None:
        """When everybody gives back what they have, and one member takes and accepts all: then nothing is left."""
        while self.pending:
            self.store(0)
        self.now_ms += LIMITS.lock_duration_ms
        self.let_time_pass(10)
        for _ in range(2 * self.end + 1):
            self.fetch("dave", 3, Wanted(10))
            for offset in sorted(self.holders):
                said = [Acknowledgement(offset, offset, [AcknowledgeType.ACCEPT])]
                transition = self.in_flight.acknowledge("dave", said, LIMITS, self.now_ms)
                self.await_storing(transition, {offset: RecordState.ACKNOWLEDGED})
                self.store(0)
        for batch in self.log:
            if batch not in self.aborted:
                lost = set(range(max(batch.first, self.log_start), batch.last + 1)) - self.finished
                assert not lost
        assert self.in_flight.start_offset == self.in_flight.next_offset >= self.end - 1


def _offsets(batches: Iterable[StateBatch]) -> list[int]:
    return [offset for batch in batches for offset in range(batch.first_offset, batch.last_offset + 1)]


TestSharing = Sharing.TestCase
TestSharing.settings = settings(max_examples=examples(80), stateful_step_count=40)
