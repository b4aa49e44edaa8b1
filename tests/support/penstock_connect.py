"""A Connect worker of ours with its REST API, in a thread of the test's process, its ticks run by threads too."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from penstock.pipeline.connect.connector_config import ConfigCheck
from penstock.pipeline.connect.plugins import Plugins
from penstock.pipeline.connect.rest import Service, serving_rest
from penstock.pipeline.connect.settings import ConnectSettings
from penstock.pipeline.connect.worker.worker import ConnectWorker
from tests.support.connect_workers import ConnectClient, worker_settings
from tests.support.processes import wait_for
from tests.support.tick_runner import TickRunner

START_SECONDS = 60.0


class _WorkerThread:
    """An event loop of its own; `fail` is what ended it, if anything did."""

    def __init__(self, settings: ConnectSettings, run_task: Callable[[Any], Any], ticks: TickRunner) -> None:
        self._settings, self._run_task, self._ticks = settings, run_task, ticks
        self.url: str | None = None
        self.failure: BaseException | None = None
        self._loop = asyncio.new_event_loop()
        self._stopped = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="connect-worker", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:
            self.failure = error
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        plugins = Plugins(self._settings.plugin_path)
        check = ConfigCheck(plugins, self._settings)
        worker = ConnectWorker(self._settings, self._ticks, self._run_task, plugins, check.errors)
        metrics = "penstock_connect_test 1\n"
        async with serving_rest(Service(worker, check, plugins, lambda: metrics)) as listeners:
            running = asyncio.create_task(worker.run(listeners[0].port))
            stopping = asyncio.create_task(self._stopped.wait())
            self.url = str(listeners[0])
            await asyncio.wait([running, stopping], return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                running.result()
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running

    def known_url(self) -> str | None:
        if self.failure is not None:
            raise self.failure
        return self.url

    def stop(self) -> None:
        if self._thread.is_alive():
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(START_SECONDS)


@contextmanager
def running_penstock_connect(
    bootstrap: str,
    group: str,
    run_task: Callable[[Any], Any],
    settings: Mapping[str, str] | None = None,
) -> Iterator[ConnectClient]:
    configs = {**worker_settings(bootstrap, group, 0), "tick.ms": "300", **(settings or {})}
    with TickRunner() as ticks:
        thread = _WorkerThread(ConnectSettings.from_configs(configs), run_task, ticks)
        try:
            client = ConnectClient(wait_for(thread.known_url, START_SECONDS, "the worker to listen"))
            wait_for(client.is_ready, START_SECONDS, "the worker to be ready", 0.05)
            yield client
        finally:
            thread.stop()
