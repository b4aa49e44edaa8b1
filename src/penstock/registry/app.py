"""The registry as a process: serves until it is told to stop."""

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import uvloop

from penstock.errors import ConfigError
from penstock.registry.api import make_app
from penstock.registry.node import RegistryNode
from penstock.registry.settings import RegistrySettings
from penstock.web.listeners import Listener
from penstock.web.serving import serving

log = logging.getLogger("penstock.registry")

YOUNG_THRESHOLD = 10_000


@asynccontextmanager
async def running_registry(
    settings: RegistrySettings,
) -> AsyncIterator[tuple[list[Listener], asyncio.Task[None]]]:
    """A registry in this event loop: where it listens, and the task that ends only if something is wrong."""
    node = RegistryNode(settings)
    async with serving(make_app(node), settings.endpoints) as listeners:
        running = asyncio.create_task(node.run(listeners[0].port))
        try:
            yield listeners, running
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


def run(settings: RegistrySettings) -> int:
    """Runs a registry until SIGTERM or SIGINT; the exit code."""
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(settings))
    except ConfigError as error:
        print(f"schema-registry-start: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


async def _serve(settings: RegistrySettings) -> None:
    stopping = asyncio.create_task(_stop_signal())
    async with running_registry(settings) as (listeners, running):
        gc.set_threshold(YOUNG_THRESHOLD)
        print(f"Schema Registry is ready on {', '.join(map(str, listeners))}", flush=True)
        await asyncio.wait([stopping, running], return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            stopping.cancel()
            running.result()


async def _stop_signal() -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await stopped.wait()
