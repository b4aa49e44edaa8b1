"""Which registry leads, through Kafka's group protocol: join, agree, and stay in the group by heartbeats.

While others join or leave, the last leader goes on leading until the new election is over: what it writes is fenced
by its transactional id, so that two leaders cannot both write, whatever they believe. Only a member that was thrown
out, or has not reached its coordinator for the length of a session, takes itself for a follower of nobody.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from penstock.client.cluster import Cluster, ClusterConfig, asyncio_cluster
from penstock.client.errors import KafkaError, error_for
from penstock.errors import ErrorCode, PenstockError
from penstock.registry.election_protocol import (
    DUPLICATE_URLS,
    PROTOCOL_NAME,
    PROTOCOL_TYPE,
    Assignment,
    Identity,
    choose_leader,
    decode_assignment,
    decode_identity,
    encode_assignment,
    encode_identity,
)
from penstock.registry.settings import RegistrySettings
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from penstock.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse

log = logging.getLogger("penstock.registry.election")

RETRY_SECONDS = 0.5
LEAVE_SECONDS = 2.0
ANSWER_MARGIN_MS = 5_000
"""How much longer than the election itself an answer to a join is waited for."""


class ElectionFailed(PenstockError):
    """This round came to nothing; the next may do better."""


class _ThrownOut(ElectionFailed):
    """The coordinator does not know this member any more."""


class LeaderElection:
    """`on_leader` hears who leads whenever that changes; None while nobody is known to."""

    def __init__(
        self, settings: RegistrySettings, identity: Identity, on_leader: Callable[[Identity | None], None]
    ) -> None:
        self._settings = settings
        self._identity = identity
        self._on_leader = on_leader
        self._member_id = ""
        self._generation = -1
        self._last_heard = 0.0
        self._again = asyncio.Event()
        config = ClusterConfig.from_configs(settings.client_configs)
        self._config = config._replace(
            client_id="schema-registry-election",
            request_timeout_ms=settings.kafkagroup_rebalance_timeout_ms + ANSWER_MARGIN_MS,
            default_api_timeout_ms=settings.kafkagroup_session_timeout_ms,
        )
        self._group = settings.schema_registry_group_id

    async def run(self) -> None:
        """Until cancelled; leaves the group then, so that the others need not wait for this one to be missed."""
        async with asyncio_cluster(self._config) as cluster:
            try:
                while True:
                    await self._take_part(cluster)
            finally:
                await self._leave(cluster)

    def repeat(self) -> None:
        """Has the members agree once more: somebody else seems to lead."""
        self._again.set()

    async def _take_part(self, cluster: Cluster) -> None:
        try:
            assignment = await self._elect(cluster)
            self._announce(assignment)
            await self._stay(cluster)
        except (KafkaError, ElectionFailed, ValueError) as error:
            log.warning("the election is to be repeated: %s", error)
            if isinstance(error, _ThrownOut):
                self._member_id = ""
                self._nobody_leads()
            elif self._seconds_unheard() > self._settings.kafkagroup_session_timeout_ms / 1000:
                self._nobody_leads()
            await asyncio.sleep(RETRY_SECONDS)

    # joining

    async def _elect(self, cluster: Cluster) -> Assignment:
        joined = await self._join(cluster)
        self._generation = joined.generation_id
        assignments = self._assign(joined) if joined.leader == joined.member_id else []
        synced = await cluster.ask_coordinator(
            self._group,
            SyncGroupRequest(
                self._group,
                joined.generation_id,
                self._member_id,
                protocol_type=PROTOCOL_TYPE,
                protocol_name=PROTOCOL_NAME,
                assignments=assignments,
            ),
            SyncGroupResponse,
        )
        self._refuse(synced.error_code)
        self._heard()
        return decode_assignment(bytes(synced.assignment))

    async def _join(self, cluster: Cluster) -> JoinGroupResponse:
        protocol = JoinGroupRequestProtocol(PROTOCOL_NAME, encode_identity(self._identity))
        while True:
            request = JoinGroupRequest(
                self._group,
                self._settings.kafkagroup_session_timeout_ms,
                self._settings.kafkagroup_rebalance_timeout_ms,
                self._member_id,
                protocol_type=PROTOCOL_TYPE,
                protocols=[protocol],
            )
            joined = await cluster.ask_coordinator(self._group, request, JoinGroupResponse)
            if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self._member_id = joined.member_id
                continue
            self._refuse(joined.error_code)
            self._member_id = joined.member_id
            self._heard()
            return joined

    def _assign(self, joined: JoinGroupResponse) -> list[SyncGroupRequestAssignment]:
        members = {each.member_id: decode_identity(bytes(each.metadata)) for each in joined.members}
        assignment = choose_leader(members, sticky=self._settings.leader_election_sticky)
        return [SyncGroupRequestAssignment(each, encode_assignment(assignment)) for each in members]

    # staying

    async def _stay(self, cluster: Cluster) -> None:
        """Returns when there is to be another election."""
        while not await self._is_to_be_repeated(self._settings.kafkagroup_heartbeat_interval_ms / 1000):
            request = HeartbeatRequest(self._group, self._generation, self._member_id)
            try:
                async with asyncio.timeout(self._settings.kafkagroup_session_timeout_ms / 1000):
                    said = await cluster.ask_coordinator(self._group, request, HeartbeatResponse)
            except TimeoutError:
                raise ElectionFailed("the coordinator does not answer") from None
            if said.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
                return
            self._refuse(said.error_code)
            self._heard()

    async def _is_to_be_repeated(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._again.wait()
        was_asked = self._again.is_set()
        self._again.clear()
        return was_asked

    async def _leave(self, cluster: Cluster) -> None:
        if not self._member_id:
            return
        request = LeaveGroupRequest(self._group, self._member_id, [MemberIdentity(self._member_id)])
        with suppress(KafkaError, TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await cluster.ask_coordinator(self._group, request, LeaveGroupResponse)

    # what comes of it

    def _announce(self, assignment: Assignment) -> None:
        if assignment.error == DUPLICATE_URLS:
            self._nobody_leads()
            raise ElectionFailed(
                f"two registries of group {self._group!r} have one address; set host.name of each to a name "
                f"by which the others reach it (here {self._identity.url})"
            )
        leads = assignment.member_id == self._member_id
        self._identity = replace(self._identity, leads=leads)
        log.info(
            "generation %d: %s leads%s",
            self._generation,
            assignment.leader.url if assignment.leader else "nobody",
            ", which is this one" if leads else "",
        )
        self._on_leader(self._identity if leads else assignment.leader)

    def _nobody_leads(self) -> None:
        self._identity = replace(self._identity, leads=False)
        self._on_leader(None)

    def _refuse(self, error_code: int) -> None:
        if error_code in _THROWN_OUT:
            raise _ThrownOut(str(error_for(error_code)))
        if error_code:
            raise error_for(error_code)

    def _heard(self) -> None:
        self._last_heard = asyncio.get_running_loop().time()

    def _seconds_unheard(self) -> float:
        return asyncio.get_running_loop().time() - self._last_heard


_THROWN_OUT = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID}
