"""The worker's side of a task, for tests that call a task themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.pipeline.connect.api import SourceTask
from penstock.pipeline.connect.data import SourceRecord


class KnownOffsets:
    def __init__(self, known: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]] = ()) -> None:
        self._known = list(known)

    def offset(self, partition: Mapping[str, Any]) -> dict[str, Any] | None:
        found = [dict(offset) for known, offset in self._known if known == partition]
        return found[-1] if found else None

    def offsets(self, partitions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        return [self.offset(each) for each in partitions]


class SourceContext:
    transaction = None
    waits_for: str | None = None

    def __init__(self, offsets: KnownOffsets | None = None) -> None:
        self.offsets = offsets or KnownOffsets()
        self.configs: Mapping[str, str] = {}

    def is_stopping(self) -> bool:
        return True  # waits are cut short


class SinkContext:
    report = None

    def __init__(self) -> None:
        self.configs: Mapping[str, str] = {}
        self.assignment: set[tuple[str, int]] = set()
        self.sought: dict[tuple[str, int], int] = {}
        self.timeout_ms: int | None = None

    def offset(self, offsets: Mapping[tuple[str, int], int]) -> None:
        self.sought.update(offsets)

    def pause(self, *partitions: tuple[str, int]) -> None:
        pass

    def resume(self, *partitions: tuple[str, int]) -> None:
        pass

    def timeout(self, milliseconds: int) -> None:
        self.timeout_ms = milliseconds

    def request_commit(self) -> None:
        pass


def started(task: SourceTask, configs: Mapping[str, str], records: Sequence[SourceRecord] = ()) -> SourceTask:
    """A task that goes on behind these records, as a new one after a restart does."""
    task.context = SourceContext(
        KnownOffsets([(each.source_partition, each.source_offset) for each in records])
    )
    task.start(configs)
    return task


def polled(task: SourceTask, polls: int = 1) -> list[SourceRecord]:
    return [record for _ in range(polls) for record in task.poll() or ()]
