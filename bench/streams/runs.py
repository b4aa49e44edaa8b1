"""One program in one system, from its start to the commit of the last record, and what it took on the way.

What a system takes before it has the first tenth of the records behind it is told apart: starts of JVMs and of Spark,
and code that is compiled as it runs, are over then.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Protocol

from bench.process_tree import ProcessTree
from bench.servers import Server
from bench.streams.records import EVENTS
from bench.streams.systems import STATE, Run, System
from penstock import KafkaAdmin
from tests.support.processes import Process

LONGEST_SECONDS = 900.0
LOOK_SECONDS = 0.2
WARM_AFTER = 0.1
"""Of the records."""
_numbers = count()


@dataclass
class Sample:
    records: int
    seconds: float
    cpu_seconds: float

    def since(self, before: Sample) -> Sample:
        seconds, cpu_seconds = self.seconds - before.seconds, self.cpu_seconds - before.cpu_seconds
        return Sample(self.records - before.records, seconds, cpu_seconds)


@dataclass
class Taken:
    """CPU of all processes of the system, and of nothing else. How many records it has behind it is asked between two
    samples of its CPU: the rest of the records is said to take what is between the first and the last of them."""

    samples: list[tuple[Sample, Sample]] = field(default_factory=list)
    peak_rss_bytes: float = 0.0

    @property
    def whole(self) -> Sample:
        return self.samples[-1][1]

    @property
    def when_warm(self) -> Sample:
        """What the rest of the records took; all of them if there was no rest."""
        warm = next(before for before, _ in self.samples if before.records >= WARM_AFTER * self.whole.records)
        rest = self.whole.since(warm)
        return rest if rest.records else self.whole


class Measured(Protocol):
    @property
    def pid(self) -> int: ...


class Watched:
    """A system at work, from now on."""

    def __init__(self, process: Measured) -> None:
        self.tree = ProcessTree(process.pid)
        self.taken = Taken()
        self._started = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._started

    def look(self, records: Callable[[], int]) -> int:
        before = self._sample(0)
        after = self._sample(records())
        before.records = after.records
        self.taken.samples.append((before, after))
        self.taken.peak_rss_bytes = max(self.taken.peak_rss_bytes, self.rss_bytes())
        return after.records

    def _sample(self, records: int) -> Sample:
        return Sample(records, self.seconds, sum(self.tree.cpu_seconds_by_kind().values()))

    def rss_bytes(self) -> float:
        return sum(self.tree.rss_bytes_by_kind().values())

    @contextmanager
    def looking(self) -> Iterator[None]:
        """At its memory only, while something else waits for its answer."""
        is_over = threading.Event()

        def look_on() -> None:
            while not is_over.wait(LOOK_SECONDS):
                self.taken.peak_rss_bytes = max(self.taken.peak_rss_bytes, self.rss_bytes())

        thread = threading.Thread(target=look_on)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()


class AtWork(Watched):
    def __init__(self, process: Process) -> None:
        super().__init__(process)
        self.process = process

    def watch_until(self, committed: Callable[[], int], records: int) -> Taken:
        deadline = time.monotonic() + LONGEST_SECONDS
        while True:
            self.process.require_alive()
            done = self.look(committed)
            if done >= records:
                return self.taken
            if time.monotonic() > deadline:
                raise TimeoutError(f"{done} of {records} records; log:\n{self.process.log_tail()}")
            time.sleep(LOOK_SECONDS)


def new_run(program: str, output: str, server: Server, folder: Path) -> Run:
    name = f"{program.replace('_', '-')}-{next(_numbers)}"
    run = Run(program, name, output, server.bootstrap, folder / name)
    run.folder.mkdir(parents=True)
    return run


@contextmanager
def at_work(system: System, run: Run) -> Iterator[AtWork]:
    command, log = system.command(run), run.folder / f"{system.name}.log"
    log.unlink(missing_ok=True)
    with Process(command, log) as process:
        yield AtWork(process)


def committed_by(run: Run) -> Callable[[], int]:
    """How many events its group has behind it."""
    admin = KafkaAdmin(bootstrap_servers=run.bootstrap)

    def committed() -> int:
        offsets = admin.committed_offsets(run.application_id).items()
        return sum(found.offset for where, found in offsets if where.topic == EVENTS and found is not None)

    return committed


def measure(system: System, run: Run, records: int) -> Taken:
    try:
        with at_work(system, run) as watched:
            return watched.watch_until(committed_by(run), records)
    finally:
        forget_state(run)


def forget_state(run: Run) -> None:
    """As if the next one began on another machine."""
    shutil.rmtree(run.folder / STATE, ignore_errors=True)
