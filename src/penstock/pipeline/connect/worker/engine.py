"""What a worker needs of the engine that runs its connectors' ticks; `penstock.pipeline.spark.engine` is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from penstock.pipeline.connect.tasks.work import TaskReport, TaskWork
from penstock.pipeline.tick_calls import TickCalls

RunTask = Callable[[TaskWork], TaskReport]
"""Called on an executor: it must be importable there by its name."""


class TickQuery(Protocol):
    def wake(self) -> None: ...
    def stop(self, wait_ms: int = ...) -> None: ...


class TickEngine(Protocol):
    def prepare(self) -> None:
        """There will be ticks soon: whatever takes its time to start may start now. Returns at once."""

    def run_ticks(self, name: str, calls: TickCalls) -> TickQuery: ...
