"""A worker in a thread of the test's process, with ticks in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar

from penstock.errors import PenstockError
from penstock.pipeline.connect.plugins import Plugins
from penstock.pipeline.connect.settings import ConnectSettings
from penstock.pipeline.connect.worker.worker import ConnectWorker
from tests.pipeline.connect.worker import some_connectors
from tests.support.processes import wait_for
from tests.support.tick_runner import TickRunner

T = TypeVar("T")
SECONDS = 60.0
HERE = "tests.pipeline.connect.worker.some_connectors"
_numbers = count()
_ports = count(18_083)
"""Nobody listens there: workers only tell each other."""


def worker_configs(bootstrap: str, group: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    return {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        "config.storage.topic": f"{group}-configs",
        "offset.storage.topic": f"{group}-offsets",
        "offset.storage.partitions": "3",
        "status.storage.topic": f"{group}-status",
        "status.storage.partitions": "2",
        **{f"{each}.storage.replication.factor": "1" for each in ("config", "offset", "status")},
        "plugin.path": HERE,
        "rest.advertised.host.name": "127.0.0.1",
        "session.timeout.ms": "6000",
        "heartbeat.interval.ms": "200",
        "tick.ms": "50",
        "topics.refresh.interval.ms": "200",
        "task.restart.backoff.ms": "100",
        **(more or {}),
    }


class ThreadWorker:
    """`call` runs a coroutine of the worker's in its loop."""

    def __init__(
        self, configs: Mapping[str, str], run: Any = some_connectors.run, port: int | None = None
    ) -> None:
        self.settings = ConnectSettings.from_configs(configs)
        self.port = port or next(_ports)
        self.engine = TickRunner()
        self._run_task = run
        self._running: asyncio.Task[None] | None = None
        self._started: Future[ConnectWorker] = Future()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._main, name=f"worker-{self.port}", daemon=True)
        self._thread.start()
        self.worker = self._started.result(SECONDS)
        self.call(self.worker.until_ready())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    async def _serve(self) -> None:
        worker = ConnectWorker(
            self.settings, self.engine, self._run_task, Plugins(self.settings.plugin_path), lambda configs: []
        )
        self._running = asyncio.create_task(worker.run(self.port))
        self._started.set_result(worker)
        try:
            await self._running
        except asyncio.CancelledError:
            pass

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(SECONDS)

    def stop(self) -> None:
        if self._thread.is_alive():
            assert self._running is not None
            self._loop.call_soon_threadsafe(self._running.cancel)
            self._thread.join(SECONDS)
            assert not self._thread.is_alive()
        self.engine.stop()

    # what tests ask again and again

    def create(self, name: str, config: Mapping[str, str], state: Any = None) -> Any:
        return self.call(self.worker.create(name, config, state))

    def status(self, name: str) -> Any:
        try:
            return self.call(self.worker.status(name))
        except PenstockError:
            return None

    def states(self, name: str) -> list[str]:
        status = self.status(name)
        return (
            []
            if status is None
            else [status["connector"]["state"], *(each["state"] for each in status["tasks"])]
        )

    def wait_for_states(self, name: str, *states: str) -> Any:
        wait_for(
            lambda: self.states(name) == list(states), SECONDS, lambda: f"{states}, got {self.status(name)}"
        )
        return self.status(name)


@contextmanager
def running_worker(configs: Mapping[str, str], run: Any = some_connectors.run) -> Iterator[ThreadWorker]:
    worker = ThreadWorker(configs, run)
    try:
        yield worker
    finally:
        worker.stop()


def new_group() -> str:
    return f"workers-{next(_numbers)}"
