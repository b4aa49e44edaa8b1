"""A worker's part in its group: join, agree on who runs what, and stay by heartbeats.

The group's leader, whom Kafka picks and keeps, leads the Connect cluster: it alone writes connectors' configurations.
While workers join, all go on with what they run. A worker that was thrown out, or has not reached its coordinator for
the length of a session, lets go of everything: by then another may have it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

from penstock.client.group_member import GroupMember, GroupTerms, cluster_config_of, is_thrown_out, pause
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
from penstock.wire.messages.join_group import JoinGroupResponse
from penstock.wire_client import Cluster, ClusterConfig, asyncio_cluster
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.connect.membership")

PROTOCOL_TYPE = "connect"
PROTOCOL_NAME = "penstock"
RETRY_SECONDS = 0.5


class MembershipFailed(PenstockError):
    """This round came to nothing; the next may do better."""


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
        self._again = asyncio.Event()
        self._group = settings.group_id
        terms = GroupTerms(
            self._group, PROTOCOL_TYPE, settings.session_timeout_ms, settings.rebalance_timeout_ms
        )
        self._member = GroupMember(terms)
        config = ClusterConfig.from_configs(settings.client_configs)
        self._config = cluster_config_of(terms, config, "connect-membership")

    async def run(self, before_leaving: Callable[[], Awaitable[None]]) -> None:
        """Until cancelled; leaves the group then, so that the others need not wait for this one to be missed."""
        async with asyncio_cluster(self._config) as cluster:
            try:
                while True:
                    await self._take_part(cluster)
            finally:
                await before_leaving()
                await self._member.leave(cluster)

    def rejoin(self) -> None:
        """Has the members agree once more: connectors came or went, or this worker has let go of some."""
        self._again.set()

    def is_current(self) -> bool:
        """Whether the coordinator still counts on this worker, as far as it can know. A join may take its time."""
        settings = self._settings
        more_ms = settings.rebalance_timeout_ms if self._member.is_joining else 0
        return self._member.seconds_unheard() <= (settings.session_timeout_ms + more_ms) / 1000

    async def _take_part(self, cluster: Cluster) -> None:
        try:
            self._announce(await self._agree(cluster))
            await self._stay(cluster)
        except (KafkaError, MembershipFailed, ValueError) as error:
            log.warning("workers have to agree again: %s", error)
            if is_thrown_out(error):
                self._member.start_anew(error)
                self._listener.on_lost()
            elif self._member.is_missed():
                self._listener.on_lost()
            await asyncio.sleep(RETRY_SECONDS)

    # joining

    async def _agree(self, cluster: Cluster) -> Assignment:
        self._again.clear()
        joined = await self._join(cluster)
        assignments = await self._assign(joined) if joined.leader == joined.member_id else {}
        return decode_assignment(await self._member.sync(cluster, PROTOCOL_NAME, assignments))

    async def _join(self, cluster: Cluster) -> JoinGroupResponse:
        try:
            return await self._member.join(cluster, PROTOCOL_NAME, encode_member(self._listener.member()))
        except KafkaError as error:
            if error.code != ErrorCode.INCONSISTENT_GROUP_PROTOCOL:
                raise
            raise MembershipFailed(
                f"group {self._group!r} has workers of another Kafka Connect; stop them first, or take another group.id"
            ) from None

    async def _assign(self, joined: JoinGroupResponse) -> dict[str, bytes]:
        members = {each.member_id: decode_member(bytes(each.metadata)) for each in joined.members}
        encoded = encode_assignment(assign(members, await self._connectors(), joined.member_id))
        return dict.fromkeys(members, encoded)

    # staying

    async def _stay(self, cluster: Cluster) -> None:
        """Returns when workers are to agree again."""
        while True:
            await pause(self._settings.heartbeat_interval_ms / 1000, self._again)
            if self._again.is_set():
                return
            if not await self._member.heartbeat(cluster):
                return

    # what comes of it

    def _announce(self, assignment: Assignment) -> None:
        if assignment.error:
            self._listener.on_lost()
            raise MembershipFailed(
                f"{assignment.error} in group {self._group!r}; set rest.advertised.host.name and rest.advertised.port "
                f"of each to where the others reach it (here {self._listener.member().url})"
            )
        log.info("generation %d: %s leads", self._member.generation, assignment.leader_url)
        self._listener.on_assignment(assignment, self._member.member_id, self._member.generation)
