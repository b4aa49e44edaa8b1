"""One deployed program in this process: started, watched, and started again after a while if it fails."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final

from penstock.errors import PenstockError
from penstock.pipeline.programs.deployed import DeployedProgram
from penstock.pipeline.tasks.application import State, StreamsApplication
from penstock.pipeline.tasks.queries import QueryError, Row, StoreQueries

log = logging.getLogger("penstock.programs")

FIRST_BACKOFF_SECONDS: Final = 1.0
LONGEST_BACKOFF_SECONDS: Final = 60.0
SOUND_SECONDS: Final = 60.0
"""After so long without a failure the next one is a first one again."""
CURRENT_SECONDS: Final = 30.0
MakeApplication = Callable[[DeployedProgram], StreamsApplication]


class RunningProgram:
    def __init__(self, program: DeployedProgram, make: MakeApplication) -> None:
        self.program = program
        self.failure: str | None = None
        self.restarts = 0
        self._make = make
        self.application: StreamsApplication | None = None
        self._queries: dict[str, StoreQueries] = {}
        self._task = asyncio.create_task(self._keep())

    @property
    def state(self) -> str:
        if self.failure is not None:
            return State.FAILED.value
        return State.STARTING.value if self.application is None else self.application.state.value

    async def query(self, store: str, ask: Callable[[StoreQueries], list[Row]]) -> list[Row]:
        """Asks a store, which is followed from then on, until nobody has asked for a while."""
        if self.application is None:
            raise QueryError(f"program {self.program.name!r} does not run here just now")
        if store not in self._queries:
            self._queries[store] = await asyncio.to_thread(self.application.store, store)
        queries = self._queries[store]
        await asyncio.to_thread(queries.wait_until_current, CURRENT_SECONDS)
        return await asyncio.to_thread(ask, queries)

    async def forget_queries(self, older_than_seconds: float) -> None:
        forgotten = [
            name
            for name, queries in self._queries.items()
            if time.monotonic() - queries.asked_at >= older_than_seconds
        ]
        for name in forgotten:
            await asyncio.to_thread(self._queries.pop(name).close)

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _keep(self) -> None:
        backoff = FIRST_BACKOFF_SECONDS
        while True:
            began = asyncio.get_running_loop().time()
            try:
                await self._run()
            except PenstockError as error:
                self.failure = str(error)
            except Exception as error:
                log.exception("program %s", self.program.name)
                self.failure = f"{type(error).__name__}: {error}"
            if asyncio.get_running_loop().time() - began > SOUND_SECONDS:
                backoff = FIRST_BACKOFF_SECONDS
            log.error(
                "program %s failed, and is started again in %g s: %s",
                self.program.name,
                backoff,
                self.failure,
            )
            await asyncio.sleep(backoff)
            backoff = min(2 * backoff, LONGEST_BACKOFF_SECONDS)
            self.restarts += 1

    async def _run(self) -> None:
        """Until it fails, which is raised."""
        application = await asyncio.to_thread(self._make, self.program)
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        application.on_end = lambda: loop.call_soon_threadsafe(ended.set)
        try:
            await asyncio.to_thread(application.start)
            self.application, self.failure = application, None
            await ended.wait()
            if application.failure is not None:
                raise application.failure
        finally:
            self.application = None
            await self.forget_queries(0)
            await asyncio.shield(asyncio.to_thread(application.stop))
