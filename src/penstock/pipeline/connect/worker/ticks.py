"""What a connector's tasks are to do in the next tick, and what becomes of their reports. Pure bookkeeping.

A task that failed is left out until its restart is due, or somebody restarts it. One that could not reach Kafka is only
put off for a moment: it has not failed. Reports of tasks with older configs still say how far a sink has come.

A task is RUNNING once it has said so: who waits for that must not be told a moment before it fails to start. So a tick
with tasks that were not heard of yet is a short one.
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
FIRST_RUN_MS = 100
"""Of a tick with tasks that have just been started."""


@dataclass(slots=True)
class RunningTask:
    configs: Mapping[str, str]
    restarts: Restarts
    state: str = UNASSIGNED
    trace: str | None = None
    not_before_ms: int = 0

    def become_running(self, waits_for: str | None = None) -> None:
        """One that waits for something that should be there says so in its trace, and is well all the same."""
        self.state, self.trace = RUNNING, waits_for

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
        numbers = self._ready(now_ms)
        run_ms = self._run_ms(numbers)
        return [
            self._work(number, run_ms, offsets=known, offsets_position=dict(offsets_position))
            for number in numbers
        ]

    def plan_sink(self, now_ms: int) -> list[TaskWork]:
        """Tasks without partitions have nothing to do, and are well."""
        shares = divide(self.partitions, len(self.tasks))
        ready = self._ready(now_ms)
        for number in ready:
            if not shares[number]:
                self.tasks[number].become_running()
        numbers = [number for number in ready if shares[number]]
        run_ms = self._run_ms(numbers)
        return [
            self._work(number, run_ms, positions={each: self.positions.get(each) for each in shares[number]})
            for number in numbers
        ]

    def _ready(self, now_ms: int) -> list[int]:
        return [number for number, task in enumerate(self.tasks) if task.is_ready(now_ms)]

    def _run_ms(self, numbers: Sequence[int]) -> int:
        if all(self.tasks[number].state == RUNNING for number in numbers):
            return self.run_ms
        return min(self.run_ms, FIRST_RUN_MS)

    def _work(
        self,
        number: int,
        run_ms: int,
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
            run_ms=run_ms,
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
            task.become_running(report.error_message)
            task.restarts.on_success(now_ms)

    def on_tick_failure(self, trace: str, now_ms: int) -> None:
        """The whole tick failed, so no task has said a word; the engine tries again by itself."""
        for task in self.tasks:
            if not task.restarts.has_failed:
                task.state, task.trace = FAILED, trace
