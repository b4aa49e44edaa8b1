"""One registry among several: reads from its own state, writes if it leads, forwards to the leader if it does not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from penstock.errors import PenstockError
from penstock.registry import errors
from penstock.registry.all_formats import FORMATS
from penstock.registry.election import LeaderElection
from penstock.registry.election_protocol import Identity
from penstock.registry.forwarding import FORWARDED, forward
from penstock.registry.rules import RegistryRules, SearchLimits
from penstock.registry.settings import RegistrySettings
from penstock.registry.state import RegistryState
from penstock.registry.store import SchemaStore
from penstock.registry.writer import Decide, Fenced, Writer
from penstock.web.errors import unavailable
from penstock.web.listeners import Listener
from penstock.web.request import Request
from penstock.web.response import Response, json_response

log = logging.getLogger("penstock.registry")

T = TypeVar("T")
RETRY_AFTER_SECONDS = 1
SMALL_BYTES = 16 * 1024
LEADER_CHANGE_SECONDS = 0.05
"""Between two attempts to write while the lead goes from one to the other."""
STOP_SECONDS = 5.0
"""For what is being written when the registry stops."""


class RegistryNode:
    def __init__(self, settings: RegistrySettings) -> None:
        self.settings = settings
        self.rules = rules_of(settings)
        self.leader: Identity | None = None
        self._elected = asyncio.Event()
        self._knew_a_leader = False
        self._url = ""
        self._store = SchemaStore(settings)
        self._election: LeaderElection | None = None
        self._writer: Writer | None = None
        self._terms: set[asyncio.Task[None]] = set()

    @property
    def state(self) -> RegistryState:
        """For reads; an error 503 until what was there at the start is read."""
        self._require_ready()
        return self._store.state

    async def off_the_loop(self, work: Callable[[], T]) -> T:
        """What compares schemas, however small they are: the others may be large."""
        return await self._store.off_the_loop(work)

    async def read(self, request: Request, work: Callable[[], T]) -> T:
        """Here if the request's body is small, else where it does not hold up others."""
        if len(await request.body()) <= SMALL_BYTES:
            return work()
        return await self._store.off_the_loop(work)

    def _require_ready(self) -> None:
        if not self._store.is_ready:
            raise unavailable(
                f"The schemas are not read yet: {self._store.trouble or 'they are being read'}",
                retry_after_seconds=RETRY_AFTER_SECONDS,
            )

    async def until_ready(self) -> None:
        """Returns when what was there at the start is read."""
        await self._store.read_to_the_end()

    def kafka_cluster_id(self) -> str:
        self._require_ready()
        return self._store.kafka_cluster_id

    async def change(self, request: Request, decide: Decide) -> Response:
        """A write: decided and written here, or the leader's answer."""
        if self._store.trouble:
            raise unavailable(
                f"Kafka cannot be reached: {self._store.trouble}", retry_after_seconds=RETRY_AFTER_SECONDS
            )
        deadline = asyncio.get_running_loop().time() + self.settings.kafkastore_timeout_ms / 1000
        while True:
            try:
                return await self._change_once(request, decide)
            except errors.LeaderChanged:
                if asyncio.get_running_loop().time() >= deadline:
                    raise
                await asyncio.sleep(LEADER_CHANGE_SECONDS)

    async def _change_once(self, request: Request, decide: Decide) -> Response:
        leader = await self._known_leader()
        if self._writer is not None:
            return json_response(await self._writer.write(decide))
        if request.header(FORWARDED):
            raise errors.unknown_leader()
        return await forward(request, leader, self.settings)

    async def _known_leader(self) -> Identity:
        """Waits for an election that is going on, but not for ever; longest for the first one."""
        if self.leader is None:
            settings = self.settings
            patience_ms = (
                settings.kafkastore_timeout_ms if self._knew_a_leader else settings.kafkastore_init_timeout_ms
            )
            self._elected.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(patience_ms / 1000):
                    await self._elected.wait()
        if self.leader is None:
            raise errors.unknown_leader()
        return self.leader

    # life

    async def run(self, listener: Listener) -> None:
        """Until cancelled; raises what makes it pointless to go on. `listener` is where others reach it."""
        reading = asyncio.create_task(self._store.run())
        taking_part = asyncio.create_task(self._take_part(listener))
        try:
            done, _ = await asyncio.wait([reading, taking_part], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await _end(taking_part)  # before the reader: what is being written is answered when it was read
            await _end(reading)

    async def _take_part(self, listener: Listener) -> None:
        await self._store.read_to_the_end()
        settings = self.settings
        identity = Identity(
            settings.advertised_host(),
            settings.host_port or listener.port,
            settings.leader_eligibility,
            listener.scheme,
        )
        self._url = identity.url
        self._election = LeaderElection(settings, identity, self._on_leader)
        try:
            await self._election.run()
        finally:
            self._step_down()
            await self._end_terms()

    async def _end_terms(self) -> None:
        if self._terms:
            _, unfinished = await asyncio.wait(self._terms, timeout=STOP_SECONDS)
            for term in unfinished:
                await _end(term)

    def _on_leader(self, leader: Identity | None) -> None:
        self.leader = leader
        if leader is not None:
            self._knew_a_leader = True
            self._elected.set()
        if leader is None or leader.url != self._url:
            self._step_down()
        elif self._writer is None:
            self._writer = Writer(self.settings, self._store)
            term = asyncio.create_task(self._serve_term(self._writer))
            self._terms.add(term)
            term.add_done_callback(self._terms.discard)

    def _step_down(self) -> None:
        if self._writer is not None:
            self._writer.stop()
            self._writer = None

    async def _serve_term(self, writer: Writer) -> None:
        try:
            await writer.run()
        except Fenced as error:
            log.warning("another registry writes: %s", error)
        except Exception:
            log.exception("the writer failed")
        if self._writer is writer:
            self._on_leader(None)
            assert self._election is not None, "only an election makes a leader"
            self._election.repeat()


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, PenstockError):
        await task


def rules_of(settings: RegistrySettings) -> RegistryRules:
    return RegistryRules(
        FORMATS,
        compatibility_level=settings.schema_compatibility_level.upper(),
        mode_mutability=settings.mode_mutability,
        validate_fields=settings.schema_validate_fields,
        validate_new_schemas=settings.schema_validate_new_schemas,
        reject_empty_subject=settings.schema_reject_empty_subject,
        schema_limits=SearchLimits(settings.schema_search_default_limit, settings.schema_search_max_limit),
        subject_limits=SearchLimits(settings.subject_search_default_limit, settings.subject_search_max_limit),
        subject_version_limits=SearchLimits(
            settings.subject_version_search_default_limit, settings.subject_version_search_max_limit
        ),
        context_limits=SearchLimits(settings.context_search_default_limit, settings.context_search_max_limit),
    )
