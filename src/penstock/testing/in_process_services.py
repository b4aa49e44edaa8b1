"""A Schema Registry and a REST proxy inside the test's own process, each on a thread of its own and a free port.

    with InProcessBroker() as broker, InProcessRegistry(broker.bootstrap_servers) as registry:
        client = SchemaRegistryClient({"url": registry.url})

They are the services that `penstock up` starts, with settings that suit tests below those that are given.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Self

from penstock.registry.app import running_registry
from penstock.registry.settings import RegistrySettings
from penstock.rest.app import running_proxy
from penstock.rest.settings import RestSettings
from penstock.testing.loop_thread import LoopThread
from penstock.web.listeners import Listener

START_SECONDS = 60.0
FREE_PORT = "http://127.0.0.1:0"
REGISTRY_SETTINGS: Mapping[str, str] = {
    "listeners": FREE_PORT,
    "host.name": "127.0.0.1",
    "kafkastore.topic.replication.factor": "1",
    "kafkagroup.heartbeat.interval.ms": "500",
}
REST_SETTINGS: Mapping[str, str] = {"listeners": FREE_PORT}


class _InProcessService(ABC):
    thread_name: str

    def __init__(self) -> None:
        self.url = ""
        self._thread: LoopThread | None = None
        self._running = AsyncExitStack()

    @abstractmethod
    def _serving(self) -> AbstractAsyncContextManager[list[Listener]]: ...

    def start(self) -> None:
        """Returns when requests are answered; whatever keeps the service from starting is raised here."""
        if self._thread is not None:
            return
        self._thread = LoopThread(self.thread_name)
        try:
            self.url = str(self._thread.run(self._running.enter_async_context(self._serving()))[0])
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            try:
                thread.run(self._running.aclose())
            finally:
                thread.end()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


@asynccontextmanager
async def _ready_registry(settings: RegistrySettings) -> AsyncIterator[list[Listener]]:
    async with running_registry(settings) as registry:
        async with asyncio.timeout(START_SECONDS):
            await registry.until_ready()
        yield registry.listeners


class InProcessRegistry(_InProcessService):
    """A Schema Registry at `url`; `settings` are those of schema-registry.properties."""

    thread_name = "penstock-registry"

    def __init__(self, bootstrap_servers: str, settings: Mapping[str, str] | None = None) -> None:
        super().__init__()
        configs = {"kafkastore.bootstrap.servers": bootstrap_servers, **REGISTRY_SETTINGS, **(settings or {})}
        self.settings = RegistrySettings.from_configs(configs)

    def _serving(self) -> AbstractAsyncContextManager[list[Listener]]:
        return _ready_registry(self.settings)


class InProcessRestProxy(_InProcessService):
    """A REST proxy at `url`; `settings` are those of kafka-rest.properties."""

    thread_name = "penstock-rest"

    def __init__(self, bootstrap_servers: str, settings: Mapping[str, str] | None = None) -> None:
        super().__init__()
        configs = {"bootstrap.servers": bootstrap_servers, **REST_SETTINGS, **(settings or {})}
        self.settings = RestSettings.from_configs(configs)

    def _serving(self) -> AbstractAsyncContextManager[list[Listener]]:
        return running_proxy(self.settings)
