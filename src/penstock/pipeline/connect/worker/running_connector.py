"""A connector on the worker that runs it: one coroutine that brings what is into line with what should be.

What should be is in the config topic: configuration and target state. Whatever changes (those, a restart, a failure, a
request of the connector itself) wakes the coroutine, which looks at everything anew. The engine's threads only call
`plan` and `on_reports`, which go through the event loop, so that nothing here needs a lock.

A query of ticks lives as long as the connector is to run here with one configuration. Whatever ends it (a change of the
configuration, a pause, a stop, another owner) waits for the running tick, and hears what it has to say.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from penstock.client.table.writer import Fenced, FencedWriter
from penstock.pipeline.connect.plugins import Plugins
from penstock.pipeline.connect.settings import ConnectSettings
from penstock.pipeline.connect.storage import config_records
from penstock.pipeline.connect.storage.cluster_storage import ClusterStorage
from penstock.pipeline.connect.storage.config_state import KnownConnector
from penstock.pipeline.connect.storage.offset_topics import merged
from penstock.pipeline.connect.storage.status_state import (
    FAILED,
    PAUSED,
    RESTARTING,
    RUNNING,
    STOPPED,
    UNASSIGNED,
)
from penstock.pipeline.connect.tasks.work import TaskReport, TaskWork
from penstock.pipeline.connect.worker.config_providers import ConfigVariables
from penstock.pipeline.connect.worker.connector_instance import ConnectorInstance, Context, make_instance
from penstock.pipeline.connect.worker.daemon_call import call_in_thread
from penstock.pipeline.connect.worker.engine import RunTask, TickEngine, TickQuery
from penstock.pipeline.connect.worker.published_states import PublishedStates, Shown
from penstock.pipeline.connect.worker.rates import Rates
from penstock.pipeline.connect.worker.restart_policy import RestartPolicy, Restarts
from penstock.pipeline.connect.worker.sink_progress import SinkProgress
from penstock.pipeline.connect.worker.ticks import ConnectorTasks
from penstock.pipeline.tick_calls import TickCalls
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.connect.worker")

RETRY_SECONDS = 1.0
CALLBACK_SECONDS = 120.0
T = TypeVar("T")


@dataclass(slots=True)
class Surroundings:
    """What all connectors of a worker share."""

    settings: ConnectSettings
    storage: ClusterStorage
    plugins: Plugins
    variables: ConfigVariables
    worker_configs: Mapping[str, str]
    engine: TickEngine
    run_task: RunTask
    admin: Cluster
    worker_id: str
    generation: Callable[[], int]
    is_member: Callable[[], bool]


class RunningConnector:
    def __init__(self, name: str, around: Surroundings) -> None:
        self.name = name
        self._around = around
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._changed.set()
        self._states = PublishedStates(name, around.storage, around.worker_id, around.generation)
        self._writer: FencedWriter | None = None
        self._instance: ConnectorInstance | None = None
        self._config: dict[str, str] | None = None
        self._config_offset: int | None = None
        """Of what is shown: set when nothing of an earlier configuration is shown any more."""
        self._tasks: ConnectorTasks | None = None
        self._task_generation = 0
        self._query: TickQuery | None = None
        self._state, self._trace = UNASSIGNED, ""
        self._restarts = Restarts(RestartPolicy.of(around.settings, {}))
        self._is_to_restart = False
        self._is_to_reconfigure = False
        self._is_ending = False
        self._progress: SinkProgress | None = None
        self._has_planned = False
        self._rates = Rates(time.monotonic())
        self.has_spoken = False
        """Whether its states in the topic are of this life."""

    # what others ask for

    def wake(self) -> None:
        self._changed.set()

    def restart(self) -> None:
        self._is_to_restart = True
        self._state, self._trace = RESTARTING, ""
        self._restarts.restart_by_hand()
        self.wake()

    def restart_task(self, number: int) -> bool:
        """False if there is no such task."""
        if self._tasks is None or not 0 <= number < len(self._tasks.tasks):
            return False
        self._tasks.tasks[number].restart_by_hand()
        self._wake_query()
        self.wake()
        return True

    def all_tasks(self) -> range:
        return range(len(self._tasks.tasks) if self._tasks is not None else 0)

    def failed_tasks(self) -> list[int]:
        tasks = self._tasks.tasks if self._tasks is not None else []
        return [number for number, task in enumerate(tasks) if task.state == FAILED]

    @property
    def has_failed(self) -> bool:
        return self._state == FAILED

    # life

    async def run(self) -> None:
        """Until cancelled, or the connector is deleted. Afterwards nothing of it runs here any more."""
        try:
            while await self._turn():
                await self._until_changed()
        finally:
            await _to_its_end(self._end())

    async def _turn(self) -> bool:
        """Whether the connector is still there."""
        known = self._known()
        if known is None:
            return False
        try:
            await self._bring_into_line(known)
            await self._states.publish(self._shown(known), self._config_offset)
            self.has_spoken = True
        except Fenced:
            raise
        except KafkaError as error:
            log.warning("connector %s: Kafka cannot be written now: %s", self.name, error)
            self._loop.call_later(RETRY_SECONDS, self.wake)
        return True

    async def _until_changed(self) -> None:
        try:
            async with asyncio.timeout(self._seconds_to_restart()):
                await self._changed.wait()
        except TimeoutError:
            self._wake_query()
        self._changed.clear()

    def _seconds_to_restart(self) -> float | None:
        times = [self._restarts.next_at_ms, self._tasks.next_restart_at_ms() if self._tasks else None]
        due = min((each for each in times if each is not None), default=None)
        return None if due is None else max(0.05, (due - _now_ms()) / 1000)

    def _known(self) -> KnownConnector | None:
        return self._around.storage.configs.connectors.get(self.name)

    async def _bring_into_line(self, known: KnownConnector) -> None:
        if self._writer is None:
            writer = self._around.storage.owner_writer(self.name)
            await writer.claim()
            self._writer = writer
        if known.target_state == config_records.STOPPED:
            await self._become_stopped(known)
        elif known.target_state == config_records.PAUSED:
            await self._become_paused(known)
        else:
            await self._become_started(known)

    async def _become_stopped(self, known: KnownConnector) -> None:
        config_offset = known.config_offset
        await self._stop_query()
        await self._stop_instance()
        self._tasks = self._progress = self._config = None
        if known.tasks or known.is_inconsistent or known.tasks_of_config is None:
            await self._write_tasks([])
        self._state, self._trace = STOPPED, ""
        self._config_offset = config_offset

    async def _become_paused(self, known: KnownConnector) -> None:
        config_offset, is_other = known.config_offset, self._config != known.config
        await self._stop_query()
        if is_other:
            self._tasks = self._progress = None
        self._state, self._trace = PAUSED, ""
        self._config_offset = config_offset

    async def _become_started(self, known: KnownConnector) -> None:
        config_offset = known.config_offset
        if self._config != known.config:
            await self._stop_query()
            self._tasks = self._progress = None
            self._state, self._trace = UNASSIGNED, ""
            self._restarts = Restarts(RestartPolicy.of(self._around.settings, known.config))
            self._is_to_restart = True
        elif self._restarts.is_due(_now_ms()):
            self._restarts.restart()
            self._is_to_restart = True
        elif self._config_offset != config_offset:
            self._restarts.restart_by_hand()
            self._is_to_restart = True
        self._config_offset = config_offset
        if self._is_to_restart:
            await self._stop_instance()
        if self._instance is None and not self._restarts.has_failed:
            self._is_to_restart = False
            self._config = dict(known.config)
            await self._try_to(self._start_instance, known)
        elif self._instance is not None and (self._is_to_reconfigure or self._tasks is None):
            await self._try_to(self._configure_tasks, known)
        if self._query is None and self._tasks is not None:
            self._start_query()
        self._wake_query()
        if not self._restarts.has_failed:
            self._become_running()

    def _become_running(self) -> None:
        self._state, self._trace = RUNNING if self._has_planned else UNASSIGNED, ""

    # the connector's own object

    async def _start_instance(self, known: KnownConnector) -> None:
        around = self._around
        configs = around.variables.resolve(known.config)
        context = Context(self.name, self._loop, self._on_reconfiguration, self._on_error)
        self._instance = make_instance(self.name, around.plugins, configs, context)
        await self._instance.start()
        await self._configure_tasks(known)
        count = len(self._tasks.tasks) if self._tasks is not None else 0
        log.info("connector %s is started: %d tasks", self.name, count)
        self._restarts.on_success(_now_ms())

    async def _try_to(
        self, step: Callable[[KnownConnector], Coroutine[Any, Any, None]], known: KnownConnector
    ) -> None:
        """A connector's own failure is its state, and ends nothing else."""
        try:
            await step(known)
        except KafkaError:
            raise
        except Exception as error:
            log.warning("connector %s failed: %s", self.name, error)
            self._fail("".join(traceback.format_exception(error)))
            await self._stop_instance()

    def _fail(self, trace: str) -> None:
        self._state, self._trace = FAILED, trace
        self._restarts.on_failure(_now_ms())

    def _on_error(self, error: Exception) -> None:
        self._fail("".join(traceback.format_exception(error)))
        self.wake()

    def _on_reconfiguration(self) -> None:
        self._is_to_reconfigure = True
        self.wake()

    async def _stop_instance(self) -> None:
        instance, self._instance = self._instance, None
        if instance is not None:
            await instance.stop(self._around.settings.task_shutdown_graceful_timeout_ms)

    # tasks

    async def _configure_tasks(self, known: KnownConnector) -> None:
        assert self._instance is not None
        self._is_to_reconfigure = False
        configs = await self._instance.task_configs()
        stored = self._around.variables.hide_all(configs, known.config, self._instance.configs)
        if stored != known.tasks or known.tasks_of_config != known.config or known.is_inconsistent:
            await self._write_tasks(stored)
        if self._tasks is None or [task.configs for task in self._tasks.tasks] != configs:
            self._task_generation += 1
            self._tasks = self._new_tasks(self._instance, configs)

    def _new_tasks(self, instance: ConnectorInstance, configs: list[dict[str, str]]) -> ConnectorTasks:
        around = self._around
        return ConnectorTasks.of_configs(
            configs,
            RestartPolicy.of(around.settings, instance.configs),
            connector=self.name,
            kind=instance.kind,
            task_class=instance.task_class,
            connector_configs=instance.configs,
            worker_configs=around.worker_configs,
            run_ms=around.settings.tick_ms,
            generation=self._task_generation,
        )

    async def _write_tasks(self, configs: list[dict[str, str]]) -> None:
        assert self._writer is not None
        storage = self._around.storage
        written = await self._writer.write(config_records.task_configs(self.name, configs))
        await storage.replayed(storage.config_log, written)

    # ticks

    def _start_query(self) -> None:
        self._query = self._around.engine.run_ticks(
            f"connector-{self.name}",
            TickCalls(
                plan=lambda tick: self._in_loop(self._plan()),
                run=self._around.run_task,
                on_reports=lambda tick, reports: self._in_loop(self._on_reports(reports)),
                on_failure=lambda text: self._in_loop(self._on_query_failure(text)),
            ),
        )

    def _in_loop(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """From a thread of the engine's."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(CALLBACK_SECONDS)

    def _wake_query(self) -> None:
        if self._query is not None:
            self._query.wake()

    async def _stop_query(self) -> None:
        """Waits for the running tick, so that what it says is heard."""
        query, self._query = self._query, None
        self._has_planned = False
        if query is not None:
            settings = self._around.settings
            wait_ms = settings.tick_ms + settings.task_shutdown_graceful_timeout_ms
            await call_in_thread(f"stop-{self.name}", query.stop, wait_ms)

    async def _plan(self) -> list[TaskWork]:
        if self._tasks is None or self._query is None or self._is_ending or not self._around.is_member():
            return []
        try:
            works = await self._works(self._tasks)
        except KafkaError as error:
            log.warning("connector %s: Kafka cannot be asked now: %s", self.name, error)
            return []
        self._has_planned = True
        if self._state == UNASSIGNED:
            self._become_running()
            log.info("connector %s is running", self.name)
        await self._show()
        return works

    async def _works(self, tasks: ConnectorTasks) -> list[TaskWork]:
        if tasks.kind == "source":
            topics = await self._around.storage.offset_topics.of(tasks.connector_configs)
            known = [(each.key, each.value) for each in merged(topics, self.name)]
            return tasks.plan_source(_now_ms(), known, topics[0].log.position)
        if self._progress is None:
            interval_ms = self._around.settings.topics_refresh_interval_ms
            self._progress = SinkProgress(self.name, tasks.connector_configs, self._around.admin, interval_ms)
        await self._progress.refresh(tasks, self._loop.time(), is_forced=not tasks.partitions)
        return tasks.plan_sink(_now_ms())

    async def _on_reports(self, reports: list[TaskReport]) -> None:
        if self._tasks is None:
            return
        self._tasks.on_reports(reports, _now_ms())
        self._warn(reports)
        if said := self._rates.add(reports, time.monotonic()):
            log.info("connector %s: %s", self.name, said)
        if self._progress is not None and self._around.is_member():
            await self._progress.commit(reports)
        if not self._is_ending:
            await self._show()
        await self._track({(topic, report.task) for report in reports for topic in report.topics})
        if self._tasks.next_restart_at_ms() is not None:
            self.wake()

    def _warn(self, reports: list[TaskReport]) -> None:
        for report in reports:
            if report.state == FAILED:
                log.warning("task %s-%d: %s", self.name, report.task, report.error_message)

    async def _track(self, used: set[tuple[str, int]]) -> None:
        if self._around.settings.topic_tracking_enable:
            await self._quietly(self._states.track(used, _now_ms()))

    async def _on_query_failure(self, text: str) -> None:
        log.warning("connector %s: %s", self.name, text)
        if self._tasks is not None:
            self._tasks.on_tick_failure(text, _now_ms())
        await self._show()

    # what is shown

    async def _show(self) -> None:
        known = self._known()
        if known is not None:
            await self._quietly(self._states.publish(self._shown(known), self._config_offset))

    async def _quietly(self, writing: Coroutine[Any, Any, None]) -> None:
        """States that cannot be written now are written with the next change."""
        try:
            await writing
        except KafkaError as error:
            log.warning("connector %s: its state cannot be written now: %s", self.name, error)

    def _shown(self, known: KnownConnector) -> list[Shown]:
        version = self._instance.plugin.version if self._instance is not None else None
        own = Shown(None, self._state, self._trace or None, version, self._restarts.described())
        return [own, *self._shown_tasks(known, version)]

    def _shown_tasks(self, known: KnownConnector, version: str | None) -> list[Shown]:
        if self._state == STOPPED:
            return []
        if self._tasks is None:
            state = PAUSED if self._state == PAUSED else UNASSIGNED
            return [Shown(number, state, None, version, {}) for number in range(len(known.tasks))]
        return [
            Shown(number, self._shown_state(task.state), task.trace, version, task.restarts.described())
            for number, task in enumerate(self._tasks.tasks)
        ]

    def _shown_state(self, state: str) -> str:
        return PAUSED if self._state == PAUSED and state != FAILED else state

    # the end

    async def _end(self) -> None:
        self._is_ending = True
        await self._stop_query()
        await self._stop_instance()
        if self._known() is None:
            await self._quietly(self._states.remove())
        elif self._around.is_member():
            await self._quietly(self._states.release())
        if self._writer is not None:
            await self._writer.close()


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """However often the caller is cancelled meanwhile; it hears of that afterwards."""
    task, cancelled = asyncio.ensure_future(work), None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
