"""A Connect worker as a process: REST answers at once, Spark starts in the background with the first connector,
or at once where the topics know of some."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from penstock.errors import ConfigError
from penstock.pipeline.connect.connector_config import ConfigCheck
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.connect.plugins import Plugins
from penstock.pipeline.connect.rest.app import serving_rest
from penstock.pipeline.connect.rest.service import Service
from penstock.pipeline.connect.settings import CONNECT_TABLE, ConnectSettings
from penstock.pipeline.connect.tasks.run import run_task
from penstock.pipeline.connect.worker.engine import TickEngine
from penstock.pipeline.connect.worker.worker import ConnectWorker
from penstock.pipeline.programs.api import routes_of
from penstock.pipeline.programs.service import ProgramsService
from penstock.pipeline.spark.engine import Engine
from penstock.pipeline.spark.query import Query
from penstock.pipeline.spark.settings import EngineSettings
from penstock.pipeline.tick_calls import TickCalls
from penstock.web.listeners import Listener
from penstock.web.routes import Routes
from penstock.web.running import run_service, stop_signal

SPARK_PREFIX = "spark."
LOCALHOST = "127.0.0.1"


class NamedConfig(NamedTuple):
    """A connector of a standalone worker, and the file that it is from."""

    name: str
    config: Mapping[str, str]
    file: Path


class SparkTicks:
    """Ticks on a Spark that is started when they are first asked for, or announced."""

    def __init__(self, settings: ConnectSettings) -> None:
        self._engine = Engine(engine_settings(settings))
        self._is_started = False

    def prepare(self) -> None:
        if not self._is_started:
            self._is_started = True
            self._engine.start()

    def run_ticks(self, name: str, calls: TickCalls) -> Query:
        self.prepare()
        return self._engine.run_ticks(name, calls)

    def metrics_text(self) -> str:
        return self._engine.metrics_text() if self._is_started else ""

    def stop(self) -> None:
        if self._is_started:
            self._engine.stop()


def engine_settings(settings: ConnectSettings) -> EngineSettings:
    own = {name: text for name, text in settings.configs.items() if name.startswith(SPARK_PREFIX)}
    return EngineSettings(
        data_dir=Path(settings.data_dir),
        name=f"connect-{settings.group_id}",
        master=settings.spark_master,
        client_configs=settings.client_configs,
        spark_configs={name: text for name, text in own.items() if name not in CONNECT_TABLE},
    )


class RunningWorker(NamedTuple):
    """`running` ends only if something is wrong."""

    listeners: list[Listener]
    running: asyncio.Task[None]
    worker: ConnectWorker


class Ticks(TickEngine, Protocol):
    def metrics_text(self) -> str: ...


@asynccontextmanager
async def running_worker(
    settings: ConnectSettings, *, runs_programs: bool = False
) -> AsyncIterator[RunningWorker]:
    """A worker in this event loop, with its REST API and a Spark of its own, which may run deployed programs too."""
    engine = SparkTicks(settings)
    try:
        if not runs_programs:
            async with serving_worker(settings, engine) as running:
                yield running
            return
        programs = programs_service(settings, engine)
        async with serving_worker(settings, engine, routes_of(programs)) as running:
            keeping = asyncio.create_task(programs.run())
            try:
                yield running
            finally:
                keeping.cancel()
                with suppress(asyncio.CancelledError):
                    await keeping
    finally:
        await asyncio.to_thread(engine.stop)


def programs_service(settings: ConnectSettings, engine: SparkTicks) -> ProgramsService:
    is_local = settings.spark_master.startswith("local")
    return ProgramsService(
        settings.client_configs,
        settings.program_storage_topic or f"{settings.group_id}-programs",
        settings.program_storage_replication_factor,
        engine,
        packs=os.cpu_count() or 1,
        control_host=LOCALHOST if is_local else settings.advertised_host(),
    )


@asynccontextmanager
async def serving_worker(
    settings: ConnectSettings, engine: Ticks, *others: Routes
) -> AsyncIterator[RunningWorker]:
    """A worker in this event loop, with its REST API."""
    plugins = Plugins(settings.plugin_path)
    check = ConfigCheck(plugins, settings)
    worker = ConnectWorker(settings, engine, run_task, plugins, check.errors)
    service = Service(worker, check, plugins, engine.metrics_text)
    async with serving_rest(service, *others) as listeners:
        running = asyncio.create_task(worker.run(listeners[0].port))
        try:
            yield RunningWorker(listeners, running, worker)
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


def run(command: str, settings: ConnectSettings, connectors: Sequence[NamedConfig] | None = None) -> int:
    """Runs a worker until SIGTERM or SIGINT; the exit code. With `connectors` it runs these and no others."""
    return run_service(command, _serve(settings, connectors))


async def _serve(settings: ConnectSettings, connectors: Sequence[NamedConfig] | None) -> None:
    stopping = asyncio.create_task(stop_signal())
    runs_programs = connectors is None and settings.program_deploy_enable
    async with running_worker(settings, runs_programs=runs_programs) as (listeners, running, worker):
        print(f"Kafka Connect is ready on {', '.join(map(str, listeners))}", flush=True)
        waiting = [stopping, running]
        if connectors is not None:
            waiting.append(asyncio.create_task(_have_only(worker, connectors)))
        while not stopping.done() and not running.done():
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            waiting = [task for task in waiting if task not in done]
            for task in done:
                task.result()
        stopping.cancel()


async def _have_only(worker: ConnectWorker, connectors: Sequence[NamedConfig]) -> None:
    """What a standalone worker was told before does not count."""
    await worker.until_ready()
    wanted = {each.name for each in connectors}
    for name in await worker.connectors():
        if name not in wanted:
            await worker.delete(name)
    for each in connectors:
        try:
            await worker.put_config(each.name, each.config)
        except ConnectError as error:
            raise ConfigError(f"{each.file}: the connector {each.name} is not created: {error}") from None
        print(f"Created connector {each.name}", file=sys.stderr, flush=True)
