"""The connectors that this worker runs, as the group has agreed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from penstock.client.table.writer import Fenced
from penstock.pipeline.connect.worker.running_connector import RunningConnector

log = logging.getLogger("penstock.connect.worker")

RETRY_SECONDS = 1.0


class _Run(NamedTuple):
    connector: RunningConnector
    task: asyncio.Task[None]


class OwnConnectors:
    """`on_let_go` is called when one has ended, so that another worker can have it."""

    def __init__(self, make: Callable[[str], RunningConnector], on_let_go: Callable[[], None]) -> None:
        self._make = make
        self._on_let_go = on_let_go
        self._wanted: set[str] = set()
        self._runs: dict[str, _Run] = {}

    def names(self) -> tuple[str, ...]:
        """Those that have not ended yet, whether they should be here or not."""
        return tuple(sorted(self._runs))

    def get(self, name: str) -> RunningConnector | None:
        """One that is to be here."""
        run = self._runs.get(name)
        return run.connector if run is not None and name in self._wanted else None

    def has_spoken(self, name: str) -> bool:
        run = self._runs.get(name)
        return run is not None and run.connector.has_spoken

    def become(self, names: Iterable[str]) -> None:
        self._wanted = set(names)
        for name, run in self._runs.items():
            if name not in self._wanted:
                run.task.cancel()
        for name in self._wanted:
            self._start(name)

    def _start(self, name: str) -> None:
        if name in self._wanted and name not in self._runs:
            connector = self._make(name)
            task = asyncio.create_task(connector.run(), name=f"connector-{name}")
            self._runs[name] = _Run(connector, task)
            task.add_done_callback(partial(self._on_end, name))

    def _on_end(self, name: str, task: asyncio.Task[None]) -> None:
        del self._runs[name]
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Fenced):
            log.warning("connector %s runs on another worker", name)
        elif error is not None:
            log.error("connector %s ended", name, exc_info=error)
        if error is not None:
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self._start, name)
        elif task.cancelled():
            self._start(name)  # it may have come back while it ended
        self._on_let_go()

    async def end(self) -> None:
        self.become(())
        tasks = [run.task for run in self._runs.values()]
        if tasks:
            await asyncio.wait(tasks)
