"""One program in one system, from its start to the commit of the last record, and what it took on the way.

What a system takes before it has the first tenth of the records behind it is told apart: starts of JVMs and of Spark,
and code that is compiled as it runs, are over then.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from bench.process_tree import ProcessTree
from bench.servers import Server
from bench.streams.records import EVENTS
from bench.streams.systems import Run, System
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


@dataclass
class Taken:
    """CPU of all processes of the system, and of nothing else."""

    samples: list[Sample] = field(default_factory=list)
    peak_rss_bytes: float = 0.0

    @property
    def whole(self) -> Sample:
        return self.samples[-1]

    @property
    def when_warm(self) -> Sample:
        """What the rest of the records took."""
        last = self.samples[-1]
        warm = next(each for each in self.samples if each.records >= WARM_AFTER * last.records)
        seconds, cpu_seconds = last.seconds - warm.seconds, last.cpu_seconds - warm.cpu_seconds
        return Sample(last.records - warm.records, seconds, cpu_seconds)


class Watched:
    """A system at work."""

    def __init__(self, process: Process) -> None:
        self.process, self.tree = process, ProcessTree(process.pid)
        self.taken = Taken()
        self._started = time.perf_counter()

    def look(self, records: int) -> None:
        cpu_seconds = sum(self.tree.cpu_seconds_by_kind().values())
        self.taken.samples.append(Sample(records, time.perf_counter() - self._started, cpu_seconds))
        self.taken.peak_rss_bytes = max(self.taken.peak_rss_bytes, self.rss_bytes())

    def rss_bytes(self) -> float:
        return sum(self.tree.rss_bytes_by_kind().values())

    def watch_until(self, committed: Callable[[], int], records: int) -> Taken:
        deadline = time.monotonic() + LONGEST_SECONDS
        while True:
            self.process.require_alive()
            done = committed()
            self.look(done)
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
def at_work(system: System, run: Run) -> Iterator[Watched]:
    with Process(system.command(run), run.folder / f"{system.name}.log") as process:
        yield Watched(process)


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
        shutil.rmtree(run.folder / "state", ignore_errors=True)
