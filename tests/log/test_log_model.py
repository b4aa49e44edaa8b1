"""The log against a list, with crashes.

A random story of appends, reads, rolls, truncations, retention and restarts runs on a file system in memory. At a
random change of the disk the process is killed or the machine loses power. After recovery the log must hold a prefix
of what the list holds: all of it after a kill, at least what was flushed after a power failure; and go on from there.
"""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import ApiError, ErrorCode
from penstock.log.partition_log import PartitionLog
from penstock.testing.memory_fs import Crash, MemoryFileSystem
from tests.log.support import NOW, append, open_log, read_batches, topic, values
from tests.support.examples import examples

SMALL = topic(internal_segment_bytes=600, index_interval_bytes=100, retention_ms=-1)


class Story:
    """A log and the list that it is compared with; `records[n]` is the value at offset n."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.fs = MemoryFileSystem()
        self.fs.make_directory("/logs")
        self.fs.sync_directory("/")
        self.records: list[bytes] = []
        self.start = 0
        self.checkpointed = 0  # the recovery point on stable storage
        self.before_truncation: list[list[bytes]] = []  # what an unsynced truncation may bring back
        self.producer_id = self.producer_sequence = 0
        self.log = open_log(self.fs, settings=SMALL)
        self.step_number = 0

    def step(self) -> None:
        self.step_number += 1
        weighted = [self.append] * 6 + [self.append_idempotent] * 2 + [self.check_reads] * 2
        others = [self.roll, self.truncate, self.flush, self.delete_records, self.retain, self.restart]
        self.random.choice(weighted + others)()
        assert self.log.log_end_offset == len(self.records)

    def new_values(self) -> list[bytes]:
        count = self.random.choice((1, 1, 2, 5))
        size = self.random.choice((1, 10, 40))
        return [b"%d.%d" % (self.step_number, n) + b"x" * size for n in range(count)]

    def append(self) -> None:
        new = self.new_values()
        epoch = self.step_number // 10
        self.records += new  # in flight: may be there after a crash, or not
        assert append(self.log, *new, leader_epoch=epoch) == len(self.records) - len(new)

    def append_idempotent(self) -> None:
        new = self.new_values()
        self.records += new
        sequence, self.producer_sequence = self.producer_sequence, self.producer_sequence + len(new)
        append(self.log, *new, producer_id=self.producer_id, producer_epoch=0, base_sequence=sequence)

    def go_on_as_producer(self) -> None:
        """After a loss: from where the log knows the producer, or as a new one."""
        known = self.log.producer_state.entries.get(self.producer_id)
        if known is None:
            self.producer_id += 1
        self.producer_sequence = known.last_sequence + 1 if known else 0

    def check_reads(self) -> None:
        assert values(self.log) == self.expected()
        if len(self.records) > self.start:
            offset = self.random.randrange(self.start, len(self.records))
            limit = self.random.randint(offset, len(self.records))
            for batch in read_batches(self.log, offset, limit):
                assert batch.base_offset < limit

    def expected(self) -> dict[int, bytes]:
        return {n: self.records[n] for n in range(self.start, len(self.records))}

    def roll(self) -> None:
        self.log.roll(NOW)

    def truncate(self) -> None:
        target = self.random.randint(self.start, len(self.records))
        self.before_truncation.append(list(self.records))
        self.log.truncate_to(target)
        del self.records[self.log.log_end_offset :]
        assert self.log.log_end_offset <= target
        self.start = self.log.log_start_offset
        self.checkpointed = min(self.checkpointed, self.log.recovery_point)
        self.go_on_as_producer()

    def flush(self) -> None:
        plan = self.log.plan_flush()
        plan.run()
        self.log.mark_flushed(plan)
        self.checkpointed = self.log.recovery_point
        self.before_truncation.clear()

    def delete_records(self) -> None:
        self.start = self.random.randint(self.start, len(self.records))
        self.log.delete_records_before(self.start)

    def retain(self) -> None:
        for path in self.log.delete_old_segments(NOW, self.log.log_end_offset):
            self.fs.remove(path)
        assert self.log.log_start_offset == self.start

    def restart(self) -> None:
        self.log.close()
        self.checkpointed = self.log.recovery_point
        self.before_truncation.clear()
        self.fs.sync_directory("/logs")
        self.open(clean=True)
        assert values(self.log) == self.expected()

    def open(self, clean: bool) -> None:
        self.log = open_log(
            self.fs,
            settings=SMALL,
            clean=clean,
            recovery_point=self.checkpointed,
            log_start_offset=self.start,
        )

    def recover_from_kill(self, acknowledged: int) -> None:
        self.fs.kill()
        self.open(clean=False)
        self.check_prefix(self.records, floor=acknowledged)

    def recover_from_power_failure(self) -> None:
        self.fs.lose_power(self.random)
        self.open(clean=False)
        self.check_prefix(self.records, floor=0 if self.before_truncation else self.checkpointed)

    def check_prefix(self, candidate: list[bytes], floor: int) -> None:
        end = self.log.log_end_offset
        assert end >= min(floor, len(candidate))
        found = values(self.log)
        histories = [candidate, *self.before_truncation]
        matching = [h for h in histories if found == {n: h[n] for n in range(self.start, min(end, len(h)))}]
        assert matching, f"{found} is no prefix of {candidate}"
        self.records = matching[0][:end]
        self.checkpointed = self.log.recovery_point
        if self.start > end:
            self.records = [b""] * self.start
        self.before_truncation.clear()
        self.go_on_as_producer()


@given(seed=st.integers(0, 2**32))
@settings(max_examples=examples(60))
def test_the_log_is_a_list(seed: int) -> None:
    story = Story(seed)
    for _ in range(40):
        story.step()
    story.check_reads()


def run_until_crash(story: Story, changes: int) -> int:
    """Run with a crash ahead; returns how many records were acknowledged before it."""
    story.fs.crash_after(changes)
    acknowledged = len(story.records)
    try:
        for _ in range(60):
            acknowledged = len(story.records)
            story.step()
            acknowledged = len(story.records)
    except Crash:
        acknowledged = min(acknowledged, len(story.records))
    return acknowledged


@given(seed=st.integers(0, 2**32), changes=st.integers(0, 150))
@settings(max_examples=examples(150))
def test_a_kill_loses_nothing_acknowledged(seed: int, changes: int) -> None:
    story = Story(seed)
    acknowledged = run_until_crash(story, changes)
    in_truncation = bool(story.before_truncation)
    story.recover_from_kill(0 if in_truncation else acknowledged)
    for _ in range(10):
        story.step()
    story.check_reads()


@given(seed=st.integers(0, 2**32), changes=st.integers(0, 150), again=st.integers(0, 60))
@settings(max_examples=examples(150))
def test_a_power_failure_loses_nothing_flushed(seed: int, changes: int, again: int) -> None:
    story = Story(seed)
    for budget in (changes, again):
        run_until_crash(story, budget)
        story.recover_from_power_failure()
    for _ in range(10):
        story.step()
    story.check_reads()


def test_a_crash_at_every_change_of_a_short_story() -> None:
    """Append, roll, flush, append, close: killed at each change in turn, with and without power."""

    def play(fs: MemoryFileSystem, done: list[int]) -> PartitionLog:
        log = open_log(fs, settings=SMALL)
        for n in range(12):
            append(log, b"v%d" % n * 20, producer_id=3, producer_epoch=0, base_sequence=n)
            done.append(n)
            if n == 5:
                log.flush()
                done_flushed.append(n + 1)
        log.close()
        return log

    done_flushed: list[int] = []
    counting = MemoryFileSystem()
    counting.make_directory("/logs")
    before = counting.changes
    play(counting, [])
    for crash_at in range(counting.changes - before):
        for seed in range(3):
            fs = MemoryFileSystem()
            fs.make_directory("/logs")
            fs.sync_directory("/")
            fs.crash_after(crash_at)
            done: list[int] = []
            done_flushed.clear()
            with pytest.raises(Crash):
                play(fs, done)
            flushed = done_flushed[0] if done_flushed else 0
            if seed == 0:
                fs.kill()
                floor = len(done)
            else:
                fs.lose_power(Random(seed))
                floor = flushed
            log = open_log(fs, settings=SMALL, clean=False, recovery_point=flushed)
            assert log.log_end_offset >= floor
            assert values(log) == {n: b"v%d" % n * 20 for n in range(log.log_end_offset)}
            _check_next_sequence(log)


def _check_next_sequence(log: PartitionLog) -> None:
    """The producer goes on where the log ends, and nowhere else."""
    end = log.log_end_offset
    if end:
        with pytest.raises(ApiError) as refused:
            append(log, b"x", producer_id=3, producer_epoch=0, base_sequence=end + 1)
        assert refused.value.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert append(log, b"x", producer_id=3, producer_epoch=0, base_sequence=end) == end
