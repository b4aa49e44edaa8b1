"""MirrorMaker as a process: a Connect worker for each flow, all on one Spark."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from penstock.errors import ConfigError
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.connect.worker.errors import RebalanceNeededError, RequestTargetError
from penstock.pipeline.connect.worker.process import SparkTicks, serving_worker
from penstock.pipeline.connect.worker.worker import ConnectWorker
from penstock.pipeline.mirror.maker_config import CONNECTORS, FlowName, MirrorMakerConfig
from penstock.pipeline.spark.query import Query
from penstock.pipeline.tick_calls import TickCalls
from penstock.web.running import run_service, stop_signal

LOOK_AGAIN_SECONDS = 1.0


class FlowTicks:
    """The same names of connectors in every flow are different queries."""

    def __init__(self, flow: FlowName, shared: SparkTicks) -> None:
        self._flow, self._shared = flow, shared

    def prepare(self) -> None:
        self._shared.prepare()

    def run_ticks(self, name: str, calls: TickCalls) -> Query:
        return self._shared.run_ticks(f"{self._flow}-{name}", calls)

    def metrics_text(self) -> str:
        return self._shared.metrics_text()


def run(command: str, config: MirrorMakerConfig, flows: Sequence[FlowName]) -> int:
    """Until SIGTERM or SIGINT; the exit code."""
    return run_service(command, _serve(config, flows))


async def _serve(config: MirrorMakerConfig, flows: Sequence[FlowName]) -> None:
    stopping = asyncio.create_task(stop_signal())
    engine = SparkTicks(replace(config.worker_settings(flows[0]), group_id="mirror-maker"))
    try:
        async with AsyncExitStack() as stack:
            tasks = [
                task
                for flow in flows
                for task in await stack.enter_async_context(_running_flow(config, flow, engine))
            ]
            await _until_one_fails_or(stopping, tasks)
    finally:
        stopping.cancel()
        await asyncio.to_thread(engine.stop)


async def _until_one_fails_or(stopping: asyncio.Task[None], tasks: list[asyncio.Task[None]]) -> None:
    waiting = {stopping, *tasks}
    while not stopping.done():
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()


@asynccontextmanager
async def _running_flow(
    config: MirrorMakerConfig, flow: FlowName, engine: SparkTicks
) -> AsyncIterator[list[asyncio.Task[None]]]:
    """What runs meanwhile, and ends by itself only when it is done or something is wrong."""
    async with serving_worker(config.worker_settings(flow), FlowTicks(flow, engine)) as started:
        listeners, running, worker = started
        print(f"{flow} is ready on {', '.join(map(str, listeners))}", flush=True)
        configuring = asyncio.create_task(_configure(config, flow, worker))
        try:
            yield [running, configuring]
        finally:
            configuring.cancel()


async def _configure(config: MirrorMakerConfig, flow: FlowName, worker: ConnectWorker) -> None:
    """The leader of the flow's workers writes the connectors' configurations; the others wait for that."""
    await worker.until_ready()
    wanted = dict(config.connectors(flow))
    for name in CONNECTORS:
        while True:
            try:
                await _bring_into_line(worker, name, wanted.get(name))
                break
            except (RequestTargetError, RebalanceNeededError):
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
            except ConnectError as error:
                raise ConfigError(f"{flow}: {name} is not created: {error}") from None


async def _bring_into_line(worker: ConnectWorker, name: str, wanted: dict[str, str] | None) -> None:
    is_there = name in await worker.connectors()
    if wanted is None:
        if is_there:
            await worker.delete(name)
    elif not is_there or (await worker.connector_info(name))["config"] != wanted:
        await worker.put_config(name, wanted)
