"""The registry as a process: serves until it is told to stop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

from penstock.registry.api import make_app
from penstock.registry.node import RegistryNode
from penstock.registry.settings import RegistrySettings
from penstock.web.listeners import Listener
from penstock.web.running import run_service, stop_signal
from penstock.web.serving import serving


class RunningRegistry(NamedTuple):
    """`running` ends only if something is wrong."""

    listeners: list[Listener]
    running: asyncio.Task[None]
    node: RegistryNode

    async def until_ready(self) -> None:
        """Returns when the schemas are read; raises what keeps them from being read for good."""
        ready = asyncio.create_task(self.node.until_ready())
        try:
            await asyncio.wait([self.running, ready], return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        if self.running.done():
            self.running.result()


@asynccontextmanager
async def running_registry(settings: RegistrySettings) -> AsyncIterator[RunningRegistry]:
    """A registry in this event loop."""
    node = RegistryNode(settings)
    web = settings.web
    async with serving(
        make_app(node), settings.endpoints, tls=web.tls_files, head=web.head_limits
    ) as listeners:
        running = asyncio.create_task(node.run(settings.reached_through(listeners)))
        try:
            yield RunningRegistry(listeners, running, node)
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


def run(settings: RegistrySettings) -> int:
    """Runs a registry until SIGTERM or SIGINT; the exit code."""
    return run_service("schema-registry-start", _serve(settings))


async def _serve(settings: RegistrySettings) -> None:
    stopping = asyncio.create_task(stop_signal())
    async with running_registry(settings) as (listeners, running, _):
        print(f"Schema Registry is ready on {', '.join(map(str, listeners))}", flush=True)
        await asyncio.wait([stopping, running], return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            stopping.cancel()
            running.result()
