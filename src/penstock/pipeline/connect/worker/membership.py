"""A worker's part in its group: join, agree on who runs what, and stay by heartbeats.

The group's leader, whom Kafka picks and keeps, leads the Connect cluster: it alone writes connectors' configurations.
While workers join, all go on with what they run. A worker that was thrown out, or has not reached its coordinator for
the length of a session, lets go of everything: by then another may have it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Protocol

from penstock.client.cluster import Cluster, ClusterConfig, asyncio_cluster
from penstock.client.errors import KafkaError, error_for
from penstock.errors import ErrorCode, PenstockError
from penstock.pipeline.connect.settings import ConnectSettings
from penstock.pipeline.connect.worker.assignment import (
    Assignment,
    Member,
    assign,
    decode_assignment,
    decode_member,
    encode_assignment,
    encode_member,
)
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from penstock.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse

log = logging.getLogger("penstock.connect.membership")

PROTOCOL_TYPE = "connect"
PROTOCOL_NAME = "penstock"
RETRY_SECONDS = 0.5
LEAVE_SECONDS = 2.0
ANSWER_MARGIN_MS = 5_000
"""How much longer than the rebalance itself an answer to a join is waited for."""


class MembershipFailed(PenstockError):
    """This round came to nothing; the next may do better."""


class _ThrownOut(MembershipFailed):
    """The coordinator does not know this member any more."""


class Listener(Protocol):
    """The worker, as its membership sees it."""

    def member(self) -> Member: ...
    def on_assignment(self, assignment: Assignment, member_id: str, generation: int) -> None: ...
    def on_lost(self) -> None:
        """Nobody may rely on this worker any more."""


class Membership:
    """`connectors` are those to assign; asked if this worker leads."""

    def __init__(
        self,
        settings: ConnectSettings,
        listener: Listener,
        connectors: Callable[[], Awaitable[Iterable[str]]],
    ) -> None:
        self._settings = settings
        self._listener = listener
        self._connectors = connectors
        self._member_id = ""
        self._generation = -1
        self._last_heard = float("-inf")
        self._is_joining = False
        self._again = asyncio.Event()
        self._group = settings.group_id
        config = ClusterConfig.from_configs(settings.client_configs)
        self._config = config._replace(
            client_id="connect-membership",
            request_timeout_ms=settings.rebalance_timeout_ms + ANSWER_MARGIN_MS,
            default_api_timeout_ms=settings.session_timeout_ms,
        )

    async def run(self, before_leaving: Callable[[], Awaitable[None]]) -> None:
        """Until cancelled; leaves the group then, so that the others need not wait for this one to be missed."""
        async with asyncio_cluster(self._config) as cluster:
            try:
                while True:
                    await self._take_part(cluster)
            finally:
                await before_leaving()
                await self._leave(cluster)

    def rejoin(self) -> None:
        """Has the members agree once more: connectors came or went, or this worker has let go of some."""
        self._again.set()

    def is_current(self) -> bool:
        """Whether the coordinator still counts on this worker, as far as it can know. A join may take its time."""
        settings = self._settings
        more_ms = settings.rebalance_timeout_ms if self._is_joining else 0
        return self._seconds_unheard() <= (settings.session_timeout_ms + more_ms) / 1000

    async def _take_part(self, cluster: Cluster) -> None:
        try:
            self._announce(await self._agree(cluster))
            await self._stay(cluster)
        except (KafkaError, MembershipFailed, ValueError) as error:
            log.warning("workers have to agree again: %s", error)
            if isinstance(error, _ThrownOut):
                self._member_id = ""
                self._listener.on_lost()
            elif self._seconds_unheard() > self._settings.session_timeout_ms / 1000:
                self._listener.on_lost()
            await asyncio.sleep(RETRY_SECONDS)

    # joining

    async def _agree(self, cluster: Cluster) -> Assignment:
        self._again.clear()
        joined = await self._join(cluster)
        self._generation = joined.generation_id
        assignments = await self._assign(joined) if joined.leader == joined.member_id else []
        request = SyncGroupRequest(
            self._group,
            joined.generation_id,
            self._member_id,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=PROTOCOL_NAME,
            assignments=assignments,
        )
        synced = await cluster.ask_coordinator(self._group, request, SyncGroupResponse)
        self._refuse(synced.error_code)
        self._heard()
        return decode_assignment(bytes(synced.assignment))

    async def _join(self, cluster: Cluster) -> JoinGroupResponse:
        while True:
            protocol = JoinGroupRequestProtocol(PROTOCOL_NAME, encode_member(self._listener.member()))
            request = JoinGroupRequest(
                self._group,
                self._settings.session_timeout_ms,
                self._settings.rebalance_timeout_ms,
                self._member_id,
                protocol_type=PROTOCOL_TYPE,
                protocols=[protocol],
            )
            joined = await self._ask_to_join(cluster, request)
            if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self._member_id = joined.member_id
                continue
            self._refuse(joined.error_code)
            self._member_id = joined.member_id
            self._heard()
            return joined

    async def _ask_to_join(self, cluster: Cluster, request: JoinGroupRequest) -> JoinGroupResponse:
        self._is_joining = True
        try:
            return await cluster.ask_coordinator(self._group, request, JoinGroupResponse)
        finally:
            self._is_joining = False

    async def _assign(self, joined: JoinGroupResponse) -> list[SyncGroupRequestAssignment]:
        members = {each.member_id: decode_member(bytes(each.metadata)) for each in joined.members}
        encoded = encode_assignment(assign(members, await self._connectors(), joined.member_id))
        return [SyncGroupRequestAssignment(each, encoded) for each in members]

    # staying

    async def _stay(self, cluster: Cluster) -> None:
        """Returns when workers are to agree again."""
        while not await self._is_to_be_repeated(self._settings.heartbeat_interval_ms / 1000):
            request = HeartbeatRequest(self._group, self._generation, self._member_id)
            try:
                async with asyncio.timeout(self._settings.session_timeout_ms / 1000):
                    said = await cluster.ask_coordinator(self._group, request, HeartbeatResponse)
            except TimeoutError:
                raise MembershipFailed("the coordinator does not answer") from None
            if said.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
                return
            self._refuse(said.error_code)
            self._heard()

    async def _is_to_be_repeated(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._again.wait()
        return self._again.is_set()

    async def _leave(self, cluster: Cluster) -> None:
        if not self._member_id:
            return
        request = LeaveGroupRequest(self._group, self._member_id, [MemberIdentity(self._member_id)])
        with suppress(KafkaError, TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await cluster.ask_coordinator(self._group, request, LeaveGroupResponse)

    # what comes of it

    def _announce(self, assignment: Assignment) -> None:
        if assignment.error:
            self._listener.on_lost()
            raise MembershipFailed(
                f"{assignment.error} in group {self._group!r}; set rest.advertised.host.name and rest.advertised.port "
                f"of each to where the others reach it (here {self._listener.member().url})"
            )
        log.info("generation %d: %s leads", self._generation, assignment.leader_url)
        self._listener.on_assignment(assignment, self._member_id, self._generation)

    def _refuse(self, error_code: int) -> None:
        if error_code in _THROWN_OUT:
            raise _ThrownOut(str(error_for(error_code)))
        if error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL:
            raise MembershipFailed(
                f"group {self._group!r} has workers of another Kafka Connect; stop them first, or take another group.id"
            )
        if error_code:
            raise error_for(error_code)

    def _heard(self) -> None:
        self._last_heard = asyncio.get_running_loop().time()

    def _seconds_unheard(self) -> float:
        return asyncio.get_running_loop().time() - self._last_heard


_THROWN_OUT = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID, ErrorCode.ILLEGAL_GENERATION}
