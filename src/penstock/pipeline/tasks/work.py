"""What goes to an executor, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from penstock.pipeline.tasks.layout import TaskId
from penstock.pipeline.tasks.program import ProgramFile
from penstock.types import TopicPartition


class Ending(Enum):
    """How a pack's tick ended."""

    DONE = "its time was over, or it was asked to stop"
    FAILED = "the program, or what it was given, does not work: trying again would not help"
    DISTURBED = "Kafka could not be reached, or somebody else has the tasks now"


@dataclass(frozen=True)
class PackWork:
    """Some of a program's tasks, for a tick."""

    file: ProgramFile
    configs: Mapping[str, str]
    application_id: str
    pack: str
    """Tells this pack of this process from all others: part of its transactional id."""
    generation: str
    """Another one for each tick: packs of a tick that was stopped stop, also those that begin only then."""
    group_metadata: bytes
    """Of the process's membership in the group, by which a generation of the past is refused."""
    tasks: Mapping[TaskId, tuple[TopicPartition, ...]]
    global_inputs: tuple[TopicPartition, ...]
    patterns: Mapping[str, tuple[str, ...]]
    """The topics that match each pattern which the program reads."""
    run_ms: int
    control: tuple[str, int, str]
    """Host, port and secret of the process that planned it."""


@dataclass
class PackReport:
    pack: str
    ending: Ending = Ending.DONE
    error: str | None = None
    trace: str | None = None
    records: int = 0
    commits: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    """Records that could not be read, or that the program raised for."""
