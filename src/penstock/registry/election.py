"""Which registry leads, through Kafka's group protocol: join, agree, and stay in the group by heartbeats.

While others join or leave, the last leader goes on leading until the new election is over: what it writes is fenced
by its transactional id, so that two leaders cannot both write, whatever they believe. Only a member that was thrown
out, or has not reached its coordinator for the length of a session, takes itself for a follower of nobody.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

from penstock.client.group_member import GroupMember, GroupTerms, cluster_config_of, is_thrown_out, pause
from penstock.errors import PenstockError
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
from penstock.wire.messages.join_group import JoinGroupResponse
from penstock.wire_client import Cluster, ClusterConfig, asyncio_cluster
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.registry.election")

RETRY_SECONDS = 0.5


class ElectionFailed(PenstockError):
    """This round came to nothing; the next may do better."""


class LeaderElection:
    """`on_leader` hears who leads whenever that changes; None while nobody is known to."""

    def __init__(
        self, settings: RegistrySettings, identity: Identity, on_leader: Callable[[Identity | None], None]
    ) -> None:
        self._settings = settings
        self._identity = identity
        self._on_leader = on_leader
        self._again = asyncio.Event()
        self._group = settings.schema_registry_group_id
        terms = GroupTerms(
            self._group,
            PROTOCOL_TYPE,
            settings.kafkagroup_session_timeout_ms,
            settings.kafkagroup_rebalance_timeout_ms,
        )
        self._member = GroupMember(terms)
        config = ClusterConfig.from_configs(settings.client_configs)
        self._config = cluster_config_of(terms, config, "schema-registry-election")

    async def run(self) -> None:
        """Until cancelled; leaves the group then, so that the others need not wait for this one to be missed."""
        async with asyncio_cluster(self._config) as cluster:
            try:
                while True:
                    await self._take_part(cluster)
            finally:
                await self._member.leave(cluster)

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
            if is_thrown_out(error):
                self._member.start_anew(error)
                self._nobody_leads()
            elif self._member.is_missed():
                self._nobody_leads()
            await asyncio.sleep(RETRY_SECONDS)

    # joining

    async def _elect(self, cluster: Cluster) -> Assignment:
        joined = await self._member.join(cluster, PROTOCOL_NAME, encode_identity(self._identity))
        assignments = self._assign(joined) if joined.leader == joined.member_id else {}
        return decode_assignment(await self._member.sync(cluster, PROTOCOL_NAME, assignments))

    def _assign(self, joined: JoinGroupResponse) -> dict[str, bytes]:
        members = {each.member_id: decode_identity(bytes(each.metadata)) for each in joined.members}
        assignment = choose_leader(members, sticky=self._settings.leader_election_sticky)
        return dict.fromkeys(members, encode_assignment(assignment))

    # staying

    async def _stay(self, cluster: Cluster) -> None:
        """Returns when there is to be another election."""
        while not await self._is_to_be_repeated(self._settings.kafkagroup_heartbeat_interval_ms / 1000):
            if not await self._member.heartbeat(cluster):
                return

    async def _is_to_be_repeated(self, seconds: float) -> bool:
        await pause(seconds, self._again)
        was_asked = self._again.is_set()
        self._again.clear()
        return was_asked

    # what comes of it

    def _announce(self, assignment: Assignment) -> None:
        if assignment.error == DUPLICATE_URLS:
            self._nobody_leads()
            raise ElectionFailed(
                f"two registries of group {self._group!r} have one address; set host.name of each to a name "
                f"by which the others reach it (here {self._identity.url})"
            )
        leads = assignment.member_id == self._member.member_id
        self._identity = replace(self._identity, leads=leads)
        log.info(
            "generation %d: %s leads%s",
            self._member.generation,
            assignment.leader.url if assignment.leader else "nobody",
            ", which is this one" if leads else "",
        )
        self._on_leader(self._identity if leads else assignment.leader)

    def _nobody_leads(self) -> None:
        self._identity = replace(self._identity, leads=False)
        self._on_leader(None)
