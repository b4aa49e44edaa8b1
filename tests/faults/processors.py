"""Transactional processors as a test sees them: each has its transactional id, and a process that is started again
whenever it has ended."""

from __future__ import annotations

import itertools
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from tests.faults.drivers import programs
from tests.faults.drivers.settings import MemberSettings
from tests.faults.members import ROOT
from tests.support.processes import Process


@dataclass(frozen=True)
class ProcessorKind:
    name: str
    command: Callable[[], tuple[str, ...]]
    protocol: str = "classic"
    assignor: str = "range"


def _confluent() -> tuple[str, ...]:
    return (sys.executable, "-m", "tests.faults.drivers.confluent_processor")


# franz-go (1.22) has to hand back its partitions before it joins again: with a cooperative assignor, a member that is
# told UNKNOWN_MEMBER_ID as it joins again goes on from its old positions, and copies once more what others have copied.
KINDS = {
    kind.name: kind
    for kind in (
        ProcessorKind("confluent", _confluent),
        ProcessorKind("confluent-consumer", _confluent, "consumer", "uniform"),
        ProcessorKind("franz-go", programs.franz_go_processor),
        ProcessorKind("java", programs.java_processor),
        ProcessorKind("java-consumer", programs.java_processor, "consumer", "uniform"),
    )
}


class Processors:
    def __init__(self, kinds: Sequence[ProcessorKind], settings: MemberSettings, directory: Path) -> None:
        self.kinds = kinds
        self.directory = directory
        self.gave_up = 0
        self._numbers = itertools.count()
        self._settings = [
            replace(
                settings,
                protocol=kind.protocol,
                assignor=kind.assignor,
                transactional_id=f"{settings.group}-{place}",
                records=str(directory / f"processor-{place}.records"),
                events=str(directory / f"processor-{place}.events"),
            )
            for place, kind in enumerate(kinds)
        ]
        self._processes: list[Process] = []

    def _launch(self, place: int) -> Process:
        log = self.directory / f"processor-{place}-{next(self._numbers)}.log"
        return Process([*self.kinds[place].command(), self._settings[place].to_json()], log, cwd=ROOT)

    def kill(self, place: int) -> None:
        self._processes[place].kill()

    def freeze(self, place: int) -> None:
        self._processes[place].signal(signal.SIGSTOP)

    def thaw(self, place: int) -> None:
        self._processes[place].signal(signal.SIGCONT)

    def restart(self, place: int) -> None:
        self._processes[place] = self._launch(place)

    def keep_up(self) -> None:
        """A processor may give up, as one that is fenced must; the next takes its place."""
        for place, process in enumerate(self._processes):
            if not process.alive:
                self.gave_up += 1
                self.restart(place)

    def complaint(self) -> str:
        tails = (process.log_tail(10) for process in self._processes)
        return f"{self.gave_up} gave up; {self.directory}:\n" + "\n".join(tails)

    def __enter__(self) -> Processors:
        self.directory.mkdir(parents=True, exist_ok=True)
        self._processes = [self._launch(place) for place in range(len(self._settings))]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.kill()
