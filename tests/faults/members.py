"""Members of one group as a test sees them: processes, and the files that they leave behind."""

from __future__ import annotations

import itertools
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.faults.drivers import programs
from tests.faults.drivers.settings import MemberSettings
from tests.faults.history import Owns, Read, Step
from tests.support.processes import Process, wait_for

ROOT = Path(__file__).resolve().parents[2]
LEAVE_SECONDS = 90.0


@dataclass(frozen=True)
class MemberKind:
    name: str
    command: Callable[[], tuple[str, ...]]
    protocol: str = "classic"
    assignor: str = "range"


def _python(module: str) -> Callable[[], tuple[str, ...]]:
    return lambda: (sys.executable, "-m", f"tests.faults.drivers.{module}")


KINDS = {
    kind.name: kind
    for kind in (
        MemberKind("confluent-range", _python("confluent_member")),
        MemberKind("confluent-cooperative", _python("confluent_member"), assignor="cooperative-sticky"),
        MemberKind("confluent-consumer", _python("confluent_member"), "consumer", "uniform"),
        MemberKind("aiokafka", _python("aiokafka_member")),
        MemberKind("kafka-python", _python("kafka_python_member")),
        MemberKind("kafkajs", programs.kafkajs_member),
        MemberKind("franz-go-range", programs.franz_go_member),
        MemberKind("franz-go-cooperative", programs.franz_go_member, assignor="cooperative-sticky"),
        MemberKind("franz-go-consumer", programs.franz_go_member, "consumer", "uniform"),
        MemberKind("java-range", programs.java_member),
        MemberKind("java-cooperative", programs.java_member, assignor="cooperative-sticky"),
        MemberKind("java-consumer", programs.java_member, "consumer", "uniform"),
    )
}


@dataclass(frozen=True)
class Owned:
    generation: int
    partitions: frozenset[int]


class Member:
    def __init__(self, kind: MemberKind, settings: MemberSettings, log: Path) -> None:
        self.kind = kind
        self.settings = settings
        self._records, self._events = Path(settings.records), Path(settings.events)
        self.process = Process([*kind.command(), settings.to_json()], log, cwd=ROOT)

    @property
    def name(self) -> str:
        return self._records.stem

    # what it did

    @property
    def has_begun(self) -> bool:
        """Whether it was ready to leave in order."""
        return self._events.exists()

    def records(self) -> list[tuple[int, int]]:
        """Partition and number of each record, as processed."""
        return [(step.partition, step.number) for step in self.steps() if isinstance(step, Read)]

    def steps(self) -> Iterator[Step]:
        """What it read, and between that, what was its own from then on; a kill may have cut the last line."""
        if not self._records.exists():
            return
        with self._records.open() as lines:
            for line in lines:
                first, *others = line.split()
                if line.endswith("\n"):
                    numbers = list(map(int, others))
                    yield Owns(frozenset(numbers)) if first == "owns" else Read(int(first), *numbers)

    def events(self, kind: str) -> list[str]:
        """The details of each event of this kind."""
        if not self.has_begun:
            return []
        lines = self._events.read_text().splitlines()
        return [line.removeprefix(kind).strip() for line in lines if line.startswith(kind)]

    def ownerships(self) -> list[Owned]:
        """Each change of what it owns, the latest last."""
        numbers = [list(map(int, line.split())) for line in self.events("owns ")]
        return [Owned(generation, frozenset(owned)) for generation, *owned in numbers]

    @property
    def owned(self) -> frozenset[int]:
        known = self.ownerships()
        return known[-1].partitions if known else frozenset()

    def complaint(self) -> str:
        events = self._events.read_text() if self.has_begun else ""
        return f"{self.name} ({self.kind.name}):\n{events[-2000:]}\n{self.process.log_tail()}"

    # what is done to it

    def require_alive(self) -> None:
        assert self.process.alive, f"ended with {self.process.returncode}: {self.complaint()}"

    def ask_to_leave(self) -> None:
        self.process.signal(signal.SIGTERM)

    def leave(self) -> None:
        self.ask_to_leave()
        self.wait_left()

    def wait_left(self) -> None:
        wait_for(lambda: not self.process.alive, LEAVE_SECONDS, lambda: f"the end of {self.complaint()}")
        if self.has_begun:
            assert (self.process.returncode, self.events("closed")) == (0, [""]), self.complaint()

    def kill(self) -> None:
        self.process.kill()


class Members:
    """Starts the members of one group, and ends on the way out what is left of them."""

    def __init__(self, directory: Path, bootstrap: str, group: str, topic: str) -> None:
        self.directory = directory
        self.settings = MemberSettings(bootstrap, group, topic, "", "")
        self.started: list[Member] = []
        self._numbers = itertools.count()
        directory.mkdir(parents=True, exist_ok=True)

    def start(self, kind: MemberKind, **settings: Any) -> Member:
        name = f"member-{next(self._numbers)}"
        chosen = replace(
            self.settings,
            protocol=kind.protocol,
            assignor=kind.assignor,
            records=str(self.directory / f"{name}.records"),
            events=str(self.directory / f"{name}.events"),
            **settings,
        )
        member = Member(kind, chosen, self.directory / f"{name}.log")
        self.started.append(member)
        return member

    def processed(self, partition: int) -> set[int]:
        """The numbers in a partition that any member processed."""
        return {number for member in self.started for at, number in member.records() if at == partition}

    def __enter__(self) -> Members:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for member in self.started:
            member.kill()
