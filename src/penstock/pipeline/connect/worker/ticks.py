"""What a connector's tasks are to do in the next tick, and what becomes of their reports. Pure bookkeeping.

A task that failed is left out until its restart is due, or somebody restarts it. One that could not reach Kafka is only
put off for a moment: it has not failed. Reports of tasks with older configs still say how far a sink has come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from penstock.pipeline.connect.storage.status_state import FAILED, RESTARTING, RUNNING, UNASSIGNED
from penstock.pipeline.connect.tasks.work import TaskReport, TaskWork
from penstock.pipeline.connect.worker.restart_policy import RestartPolicy, Restarts
from penstock.pipeline.connect.worker.sink_partitions import TopicPartition, divide

RETRY_MS = 1_000
"""Before a task is tried again that could not reach Kafka."""


@dataclass(slots=True)
class RunningTask:
    configs: Mapping[str, str]
    restarts: Restarts
    state: str = UNASSIGNED
    trace: str | None = None
    not_before_ms: int = 0

    def fail(self, trace: str | None, now_ms: int) -> None:
        self.state, self.trace = FAILED, trace
        self.restarts.on_failure(now_ms)

    def restart_by_hand(self) -> None:
        self.restarts.restart_by_hand()
        self.state, self.trace, self.not_before_ms = RESTARTING, None, 0

    def is_ready(self, now_ms: int) -> bool:
        if self.restarts.is_due(now_ms):
            self.restarts.restart()
            self.state, self.trace = RESTARTING, None
        return not self.restarts.has_failed and now_ms >= self.not_before_ms


@dataclass(slots=True)
class ConnectorTasks:
    connector: str
    kind: Literal["source", "sink"]
    task_class: str
    connector_configs: Mapping[str, str]
    worker_configs: Mapping[str, str]
    run_ms: int
    generation: int
    tasks: list[RunningTask]
    partitions: list[TopicPartition] = field(default_factory=list)
    positions: dict[TopicPartition, int] = field(default_factory=dict)

    @classmethod
    def of_configs(
        cls,
        configs: Sequence[Mapping[str, str]],
        policy: RestartPolicy,
        *,
        connector: str,
        kind: Literal["source", "sink"],
        task_class: str,
        connector_configs: Mapping[str, str],
        worker_configs: Mapping[str, str],
        run_ms: int,
        generation: int,
    ) -> ConnectorTasks:
        tasks = [RunningTask(each, Restarts(policy)) for each in configs]
        return cls(connector, kind, task_class, connector_configs, worker_configs, run_ms, generation, tasks)

    # planning

    def plan_source(
        self, now_ms: int, offsets: Sequence[tuple[bytes, bytes]], offsets_position: Mapping[int, int]
    ) -> list[TaskWork]:
        known: list[tuple[bytes, bytes | None]] = list(offsets)
        return [
            self._work(number, offsets=known, offsets_position=dict(offsets_position))
            for number, task in enumerate(self.tasks)
            if self._starts(task, now_ms)
        ]

    def plan_sink(self, now_ms: int) -> list[TaskWork]:
        """Tasks without partitions have nothing to do, and are well."""
        shares = divide(self.partitions, len(self.tasks))
        return [
            self._work(number, positions={each: self.positions.get(each) for each in shares[number]})
            for number, task in enumerate(self.tasks)
            if self._starts(task, now_ms) and shares[number]
        ]

    def _starts(self, task: RunningTask, now_ms: int) -> bool:
        if not task.is_ready(now_ms):
            return False
        task.state, task.trace = RUNNING, None
        return True

    def _work(
        self,
        number: int,
        *,
        offsets: list[tuple[bytes, bytes | None]] | None = None,
        offsets_position: Mapping[int, int] | None = None,
        positions: Mapping[TopicPartition, int | None] | None = None,
    ) -> TaskWork:
        return TaskWork(
            connector=self.connector,
            task=number,
            kind=self.kind,
            task_class=self.task_class,
            task_configs=self.tasks[number].configs,
            connector_configs=self.connector_configs,
            worker_configs=self.worker_configs,
            run_ms=self.run_ms,
            offsets=offsets or [],
            offsets_position=offsets_position or {},
            positions=positions or {},
            generation=self.generation,
        )

    def next_restart_at_ms(self) -> int | None:
        times = [task.restarts.next_at_ms for task in self.tasks if task.restarts.next_at_ms is not None]
        return min(times, default=None)

    # reports

    def on_reports(self, reports: Sequence[TaskReport], now_ms: int) -> None:
        for report in reports:
            self.positions.update(report.positions)
            if report.generation == self.generation and report.task < len(self.tasks):
                self._on_report(self.tasks[report.task], report, now_ms)

    @staticmethod
    def _on_report(task: RunningTask, report: TaskReport, now_ms: int) -> None:
        if report.is_fenced or report.is_retriable:
            task.not_before_ms = now_ms + RETRY_MS
        elif report.state == FAILED:
            task.fail(report.trace or report.error_message, now_ms)
        else:
            task.restarts.on_success(now_ms)

    def on_tick_failure(self, trace: str, now_ms: int) -> None:
        """The whole tick failed, so no task has said a word; the engine tries again by itself."""
        for task in self.tasks:
            if not task.restarts.has_failed:
                task.state, task.trace = FAILED, trace
