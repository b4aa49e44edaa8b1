"""What is known of a deployed program: its file, its settings, and whether it is to run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from penstock.errors import PenstockError
from penstock.pipeline.tasks.program import ProgramFile
from penstock.records.reader import Record


class Wanted(Enum):
    RUNNING = "RUNNING"
    STOPPED = "STOPPED"


class UnreadableProgram(PenstockError):
    """A record of the topic of programs is none of ours."""


@dataclass(frozen=True)
class DeployedProgram:
    name: str
    file: ProgramFile
    configs: Mapping[str, str] = field(default_factory=dict)
    wanted: Wanted = Wanted.RUNNING
    deployed_at_ms: int = 0
    version: int = -1
    """The offset at which it was written: another one is another program, or other settings."""

    def stopped(self) -> DeployedProgram:
        return replace(self, wanted=Wanted.STOPPED)

    def started(self) -> DeployedProgram:
        return replace(self, wanted=Wanted.RUNNING)

    def record(self) -> tuple[bytes, bytes]:
        value = {
            "version": 1,
            "path": self.file.path,
            "text": self.file.text,
            "configs": dict(self.configs),
            "wanted": self.wanted.value,
            "deployed_at_ms": self.deployed_at_ms,
        }
        return self.name.encode(), json.dumps(value).encode()


def decode(record: Record) -> tuple[str, DeployedProgram | None]:
    """Its name, and None if it was deleted."""
    try:
        name = (record.key or b"").decode()
        if record.value is None:
            return name, None
        value = json.loads(record.value)
        return name, DeployedProgram(
            name,
            ProgramFile(str(value["path"]), str(value["text"])),
            {str(key): str(text) for key, text in value["configs"].items()},
            Wanted(value["wanted"]),
            int(value["deployed_at_ms"]),
            record.offset,
        )
    except (UnicodeError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableProgram(f"offset {record.offset}: {type(error).__name__}: {error}") from None
