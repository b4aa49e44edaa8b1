"""Connectors whose tasks do what their configuration says, and remember what they were given.

`run` stands where the engine runs tasks. It is told by files in a directory (`failing-<task>`, `holding-<task>`), so
that a test can change its mind while a connector runs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from penstock.pipeline.connect.api import SinkConnector, SinkTask, SourceConnector, SourceTask
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.connect.tasks.work import TaskReport, TaskWork

WORKS: list[TaskWork] = []
"""All that was run, in this process."""


def works_of(connector: str) -> list[TaskWork]:
    return [work for work in WORKS if work.connector == connector]


def run(work: TaskWork) -> TaskReport:
    WORKS.append(work)
    said = Path(work.task_configs["directory"])
    if (said / f"failing-{work.task}").exists():
        trace = f"Traceback: task {work.task} was told to fail"
        return TaskReport(work.connector, work.task, work.generation, "FAILED", "was told to fail", trace)
    time.sleep(work.run_ms / 1000)
    while (said / f"holding-{work.task}").exists():
        (said / "held").touch()
        time.sleep(0.01)
    positions = {each: (at or 0) + 1 for each, at in work.positions.items()}
    topics = frozenset({topic for topic, _ in work.positions} or {"made-up"})
    return TaskReport(work.connector, work.task, work.generation, positions=positions, topics=topics)


class _Remembering:
    """`started` counts, by name; `contexts` are those of the last ones."""

    started: ClassVar[dict[str, int]] = {}
    stopped: ClassVar[dict[str, int]] = {}
    contexts: ClassVar[dict[str, Any]] = {}
    lock: ClassVar[threading.Lock] = threading.Lock()
    context: Any
    configs: Mapping[str, str]

    def start(self, configs: Mapping[str, str]) -> None:
        if Path(configs["directory"], "failing-connector").exists():
            raise ConnectError("the connector was told to fail")
        self.configs = configs
        with self.lock:
            self.started[self.context.connector_name] = self.started.get(self.context.connector_name, 0) + 1
            self.contexts[self.context.connector_name] = self.context

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        count = Path(self.configs["directory"], "tasks")
        number = int(count.read_text()) if count.exists() else max_tasks
        return [{**self.configs, "number": str(each)} for each in range(number)]

    def stop(self) -> None:
        with self.lock:
            self.stopped[self.context.connector_name] = self.stopped.get(self.context.connector_name, 0) + 1


class SomeSourceTask(SourceTask):
    pass


class SomeSource(_Remembering, SourceConnector):
    task_class = SomeSourceTask
    version = "7.8"


class SomeSinkTask(SinkTask):
    pass


class SomeSink(_Remembering, SinkConnector):
    task_class = SomeSinkTask
    version = "7.8"
