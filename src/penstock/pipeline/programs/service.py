"""What runs here of what was deployed: after each change of the topic, what is not as it says is made so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from penstock.errors import ConfigError, PenstockError
from penstock.pipeline.programs.deployed import DeployedProgram, Wanted
from penstock.pipeline.programs.running import RunningProgram
from penstock.pipeline.programs.store import ProgramStore, programs_topic
from penstock.pipeline.tasks.application import StreamsApplication, TickEngine
from penstock.pipeline.tasks.program import ProgramFile
from penstock.pipeline.tasks.queries import QueryError, Row, StoreQueries
from penstock.pipeline.tasks.settings import StreamsSettings

QUERIES_SECONDS: Final = 60.0
"""How long a store is followed of which nobody asks."""
MOST_TEXT: Final = 512 * 1024


class NoSuchProgram(PenstockError):
    pass


class ProgramsService:
    def __init__(
        self,
        client_configs: Mapping[str, str],
        topic: str,
        replication_factor: int,
        engine: TickEngine,
        *,
        packs: int,
        control_host: str,
    ) -> None:
        self._clients, self._engine = client_configs, engine
        self._packs, self._control_host = packs, control_host
        self._changed = asyncio.Event()
        self._store = ProgramStore(
            client_configs, programs_topic(topic, replication_factor), self._changed.set
        )
        self._running: dict[str, RunningProgram] = {}

    async def run(self) -> None:
        """Until cancelled."""
        following = asyncio.create_task(self._store.run())
        forgetting = asyncio.create_task(self._forget_queries())
        try:
            while True:
                changed = asyncio.create_task(self._changed.wait())
                await asyncio.wait({changed, following}, return_when=asyncio.FIRST_COMPLETED)
                changed.cancel()
                if following.done():
                    following.result()
                self._changed.clear()
                await self._make_it_so()
        finally:
            following.cancel()
            forgetting.cancel()
            await asyncio.gather(
                following,
                forgetting,
                *(each.stop() for each in self._running.values()),
                return_exceptions=True,
            )

    async def _forget_queries(self) -> None:
        while True:
            await asyncio.sleep(QUERIES_SECONDS)
            for running in list(self._running.values()):
                await running.forget_queries(QUERIES_SECONDS)

    async def _make_it_so(self) -> None:
        wanted = {
            name: program
            for name, program in self._store.programs.items()
            if program.wanted is Wanted.RUNNING
        }
        gone = [
            name
            for name, running in self._running.items()
            if name not in wanted or wanted[name].version != running.program.version
        ]
        await asyncio.gather(*(self._running.pop(name).stop() for name in gone))
        for name, program in wanted.items():
            if name not in self._running:
                self._running[name] = RunningProgram(program, self._application)

    def _application(self, program: DeployedProgram) -> StreamsApplication:
        configs = {**self._clients, **program.configs}
        return StreamsApplication(
            program.file, configs, self._engine, packs=self._packs, control_host=self._control_host
        )

    # --- what users ask for

    async def deploy(self, name: str, file: ProgramFile, configs: Mapping[str, str]) -> dict[str, Any]:
        """Refused if it can't be loaded; what else may be wrong with it shows when it runs."""
        if len(file.text) > MOST_TEXT:
            raise ConfigError(f"the program has {len(file.text)} characters; takes at most {MOST_TEXT}")
        loaded = await asyncio.to_thread(file.load)
        if loaded.application_id != name:
            raise ConfigError(
                f"the program's name is {loaded.application_id!r}, and it was to be deployed as {name!r}"
            )
        StreamsSettings.from_configs({**loaded.configs, **configs})
        program = DeployedProgram(name, file, configs, deployed_at_ms=time.time_ns() // 1_000_000)
        await self._store.write(program)
        return self.described(name)

    async def stop(self, name: str) -> dict[str, Any]:
        await self._store.write(self._program(name).stopped())
        return self.described(name)

    async def start(self, name: str) -> dict[str, Any]:
        await self._store.write(self._program(name).started())
        return self.described(name)

    async def delete(self, name: str) -> None:
        await self._store.delete(self._program(name).name)

    async def query(self, name: str, store: str, ask: Callable[[StoreQueries], list[Row]]) -> list[Row]:
        program = self._program(name)
        running = self._running.get(name)
        if running is None:
            raise QueryError(f"program {program.name!r} is stopped")
        return await running.query(store, ask)

    def stores_of(self, name: str) -> list[str]:
        topology = self._program(name).file.load().topology
        return sorted(store for store, spec in topology.stores.items() if spec.is_logged)

    def listed(self) -> list[dict[str, Any]]:
        return [self._brief(program) for _, program in sorted(self._store.programs.items())]

    def described(self, name: str) -> dict[str, Any]:
        program = self._program(name)
        running = self._running.get(name)
        application = running.application if running is not None else None
        return {
            **self._brief(program),
            "file": program.file.path,
            "configs": dict(program.configs),
            "deployed_at_ms": program.deployed_at_ms,
            "restarts": running.restarts if running is not None else 0,
            "topology": program.file.load().topology.describe(),
            "tasks_here": application.own_task_names() if application is not None else [],
            "skipped_records": dict(application.skipped) if application is not None else {},
        }

    def _brief(self, program: DeployedProgram) -> dict[str, Any]:
        running = self._running.get(program.name)
        if program.wanted is Wanted.STOPPED:
            state = "STOPPED" if running is None else "STOPPING"
        else:
            state = "STARTING" if running is None else running.state
        failure = running.failure if running is not None else None
        return {"name": program.name, "state": state, "failure": failure}

    def _program(self, name: str) -> DeployedProgram:
        if name not in self._store.programs:
            known = ", ".join(sorted(self._store.programs)) or "none"
            raise NoSuchProgram(f"there is no program {name!r} (programs: {known})")
        return self._store.programs[name]
