"""A partition that moves between two log directories, against a list, with crashes.

A random story of appends, cuts, deletions, retention, flushes and moves there and back runs on a file system in memory.
At a random change of the disk the process is killed or the machine loses power. At the next start the partition is in
one of the directories, with all that was acknowledged after a kill, and at least what was flushed after a power
failure; a move that was under way goes on, and what has moved is the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future as Result
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.broker.log_dir_moves import LogDirMoves
from penstock.broker.log_directories import LogDirectories
from penstock.broker.partition import Partition
from penstock.broker.partitions import Partitions
from penstock.clock import SystemClock
from penstock.controller.image import ClusterImage
from penstock.errors import ApiError
from penstock.replica.replica_set import ReplicaSet
from penstock.settings.broker import BrokerSettings
from penstock.testing.memory_fs import Crash, MemoryFileSystem
from penstock.types import TopicPartition
from tests.log.support import NOW, batch_of, topic, values
from tests.support.examples import examples

WHERE = TopicPartition("topic", 0)
TOPIC_ID = bytes(range(16))
BROKER = 1
PATHS = ("/a", "/b")
TURNS = 10_000
SMALL = topic(internal_segment_bytes=600, index_interval_bytes=100, retention_ms=-1)
SETTINGS = BrokerSettings.from_configs({"replica.fetch.max.bytes": "200"}, "the test")


class InTurn(ThreadPoolExecutor):
    """What runs in a thread otherwise runs at once, so that a seed always tells the same story."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Result[Any]:
        done: Result[Any] = Result()
        try:
            done.set_result(fn(*args, **kwargs))
        except BaseException as error:
            done.set_exception(error)
        return done


class Disks(MemoryFileSystem):
    is_dead = False
    """Somebody has met a crash, be it a task that nobody waits for."""

    def change(self, path: str, half: Callable[[], None] | None = None) -> None:
        try:
            super().change(path, half)
        except Crash:
            self.is_dead = True
            raise

    def kill(self) -> None:
        super().kill()
        self.is_dead = False


class NobodyWaits:
    def wake(self, partition: Partition) -> None: ...

    wake_followers = wake


class Story:
    def __init__(self, seed: int, *, cuts: bool) -> None:
        self.random = Random(seed)
        self.fs = Disks()
        self.records: list[bytes] = []
        self.start = 0
        self.flushed = 0
        self.epoch = 0
        self.number = 0
        self.has_begun = False
        steps: list[Callable[[], Awaitable[None] | None]] = [self.append] * 5 + [self.turn] * 6
        steps += [self.move, self.move, self.call_back, self.delete, self.retain, self.flush, self.checkpoint]
        self.steps = steps + ([self.cut] * 3 if cuts else [])

    def open(self) -> None:
        self.directories = LogDirectories(self.fs, PATHS, NobodyWaits())
        opened = self.directories.open_log(
            WHERE, TOPIC_ID, SMALL, is_new=not self.has_begun, now_ms=NOW, producer_expiration_ms=10**9
        )
        self.has_begun = True
        replicas = ReplicaSet((BROKER,), (BROKER,), BROKER, self.epoch)
        self.partition = Partition(
            WHERE, TOPIC_ID, BROKER, replicas, opened.log, opened.directory, opened.high_watermark
        )
        self.lead()
        partitions = Partitions(ClusterImage())
        partitions.add(self.partition)
        self.moves = LogDirMoves(lambda: SETTINGS, SETTINGS, SystemClock(), self.directories, partitions)
        self.moves.resume()

    def lead(self) -> None:
        self.epoch += 1
        self.partition.become_leader(ReplicaSet((BROKER, 2), (BROKER,), BROKER, self.epoch), NOW)

    # steps

    async def step(self) -> None:
        self.number += 1
        done = self.random.choice(self.steps)()
        if done is not None:
            await done

    def append(self) -> None:
        count, size = self.random.choice((1, 2, 5)), self.random.choice((1, 10, 40))
        new = [b"%d.%d" % (self.number, each) + b"x" * size for each in range(count)]
        self.records += new  # in flight: may be there after a crash, or not
        fields = {"producer_id": 7, "producer_epoch": 0, "base_sequence": len(self.records) - count}
        batch = batch_of(*new, **(fields if self.random.random() < 0.3 else {}))
        log = self.partition.log
        log.producer_state.entries.pop(7, None)
        assert log.append_as_leader([batch], leader_epoch=self.epoch, now_ms=NOW).last_offset + 1 == len(
            self.records
        )
        assert self.partition.leader is not None
        self.partition.leader.on_log_end_offset(log.log_end_offset)

    async def turn(self) -> None:
        """Others are at work, and nobody notices."""
        before = self.seen()
        for _ in range(self.random.randint(1, 12)):
            await asyncio.sleep(0)
        assert self.seen() == before

    def seen(self) -> object:
        log = self.partition.log
        producers = {entry.producer_id: entry.last_sequence for entry in log.producers()}
        return log.log_start_offset, log.log_end_offset, list(log.epochs.entries), producers

    def move(self) -> None:
        self.moves.alter(WHERE, self.random.choice(PATHS))

    def call_back(self) -> None:
        self.moves.alter(WHERE, self.partition.directory.path)

    async def delete(self) -> None:
        wanted = self.random.randint(self.start, len(self.records))
        await self.partition.delete_records_before(wanted)
        self.start = wanted

    def retain(self) -> None:
        for path in self.partition.log.delete_old_segments(NOW, len(self.records)):
            self.fs.remove(path)

    def cut(self) -> None:
        """It follows another broker for a moment, which does not have all."""
        end = self.random.randint(self.start, len(self.records))
        self.partition.become_follower(self.partition.replica_set)
        self.partition.truncate_to(end, NOW)
        del self.records[self.partition.log.log_end_offset :]
        self.start = self.partition.log.log_start_offset
        self.flushed = min(self.flushed, len(self.records))
        self.lead()

    async def flush(self) -> None:
        await self.partition.flush(include_active=True)
        self.flushed = len(self.records)

    async def checkpoint(self) -> None:
        for directory in self.directories.online:
            await directory.checkpoint_recovery_points()
            await directory.checkpoint_high_watermarks([self.partition])

    # checks

    def check(self) -> None:
        expected = {offset: self.records[offset] for offset in range(self.start, len(self.records))}
        assert values(self.partition.log) == expected
        assert self.partition.log.log_end_offset == len(self.records)

    def check_after_crash(self, floor: int) -> None:
        log = self.partition.log
        assert floor <= log.log_end_offset <= len(self.records)
        del self.records[log.log_end_offset :]
        self.flushed = min(self.flushed, len(self.records))
        assert log.log_start_offset >= self.start
        self.start = log.log_start_offset
        self.check()

    async def finish_moving(self) -> None:
        for _ in range(TURNS):
            if self.partition.future is None:
                break
            await asyncio.sleep(0)
        assert self.partition.future is None, "it does not end"
        self.check()

    async def end(self) -> None:
        """A clean stop, and a start."""
        self.moves.close()
        await self.directories.close([self.partition])
        self.fs.kill()  # which gives its locks back
        self.open()
        self.check()
        await self.finish_moving()


def told(story: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        asyncio.get_running_loop().set_default_executor(InTurn())
        await story()

    asyncio.run(run())


@given(seed=st.integers(0, 2**32))
@settings(max_examples=examples(60))
def test_what_has_moved_is_the_same(seed: int) -> None:
    async def tell() -> None:
        story = Story(seed, cuts=True)
        story.open()
        for _ in range(60):
            await story.step()
        story.check()
        await story.end()

    told(tell)


async def until_crash(story: Story, changes: int) -> int:
    """How many records were acknowledged before it."""
    story.fs.crash_after(changes)
    acknowledged = 0
    for _ in range(60):
        acknowledged = len(story.records)
        try:
            await story.step()
        except (Crash, ApiError):
            assert story.fs.is_dead
        if story.fs.is_dead:
            break
    await let_nothing_go_on()
    return acknowledged


async def let_nothing_go_on() -> None:
    """Of what a process does that has ended."""
    at_work = asyncio.all_tasks() - {asyncio.current_task()}
    for task in at_work:
        task.cancel()
    await asyncio.gather(*at_work, return_exceptions=True)


@given(seed=st.integers(0, 2**32), changes=st.integers(0, 200))
@settings(max_examples=examples(150))
def test_a_kill_loses_nothing_acknowledged(seed: int, changes: int) -> None:
    async def tell() -> None:
        story = Story(seed, cuts=False)
        story.open()
        acknowledged = await until_crash(story, changes)
        story.fs.kill()
        story.open()
        story.check_after_crash(acknowledged)
        for _ in range(10):
            await story.step()
        await story.finish_moving()
        await story.end()

    told(tell)


@given(seed=st.integers(0, 2**32), changes=st.integers(0, 200), again=st.integers(0, 60))
@settings(max_examples=examples(150))
def test_a_power_failure_loses_nothing_flushed(seed: int, changes: int, again: int) -> None:
    async def tell() -> None:
        story = Story(seed, cuts=False)
        story.open()
        for budget in (changes, again):
            await until_crash(story, budget)
            story.fs.lose_power(story.random)
            story.open()
            story.check_after_crash(story.flushed)
        await story.finish_moving()
        await story.end()

    told(tell)
