"""A member of a classic group, one request at a time: join, agree, be heard of, leave.

For those who share work through Kafka's group protocol without being consumers of librdkafka: what the members tell
each other (`metadata`, assignments) is theirs, when to join again too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from penstock.errors import ErrorCode
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from penstock.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from penstock.wire_client import Cluster, ClusterConfig
from penstock.wire_client.errors import BrokerUnreachableError, KafkaError, error_for

LEAVE_SECONDS = 2.0
ANSWER_MARGIN_MS = 5_000
"""How much longer than the rebalance itself an answer to a join is waited for."""
_THROWN_OUT = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID, ErrorCode.ILLEGAL_GENERATION}


class GroupTerms(NamedTuple):
    group: str
    protocol_type: str
    session_timeout_ms: int
    rebalance_timeout_ms: int


def cluster_config_of(terms: GroupTerms, config: ClusterConfig, client_id: str) -> ClusterConfig:
    """For a cluster that a member has for itself: a join is answered when all have joined."""
    return config._replace(
        client_id=client_id,
        request_timeout_ms=terms.rebalance_timeout_ms + ANSWER_MARGIN_MS,
        default_api_timeout_ms=terms.session_timeout_ms,
    )


def is_thrown_out(error: BaseException) -> bool:
    """Whether the group has gone on without this member."""
    return isinstance(error, KafkaError) and error.code in _THROWN_OUT


class GroupMember:
    """`is_joining` lasts as long as the others take to join."""

    def __init__(self, terms: GroupTerms) -> None:
        self._terms = terms
        self.member_id = ""
        self.generation = -1
        self.is_joining = False
        self._last_heard = float("-inf")

    async def join(self, cluster: Cluster, protocol_name: str, metadata: bytes) -> JoinGroupResponse:
        """The answer has the members, with what they said, if this one is to assign."""
        protocol = JoinGroupRequestProtocol(protocol_name, metadata)
        self.is_joining = True
        try:
            while True:
                joined = await cluster.ask_coordinator(
                    self._terms.group, self._join_request(protocol), JoinGroupResponse
                )
                if joined.error_code != ErrorCode.MEMBER_ID_REQUIRED:
                    break
                self.member_id = joined.member_id
        finally:
            self.is_joining = False
        _refuse(joined.error_code)
        self.member_id, self.generation = joined.member_id, joined.generation_id
        self._heard()
        return joined

    def _join_request(self, protocol: JoinGroupRequestProtocol) -> JoinGroupRequest:
        return JoinGroupRequest(
            self._terms.group,
            self._terms.session_timeout_ms,
            self._terms.rebalance_timeout_ms,
            self.member_id,
            protocol_type=self._terms.protocol_type,
            protocols=[protocol],
        )

    async def sync(
        self, cluster: Cluster, protocol_name: str | None, assignments: Mapping[str, bytes]
    ) -> bytes:
        """This member's assignment; `assignments` are for all, from the one who leads, and empty from others."""
        request = SyncGroupRequest(
            self._terms.group,
            self.generation,
            self.member_id,
            protocol_type=self._terms.protocol_type,
            protocol_name=protocol_name,
            assignments=[SyncGroupRequestAssignment(*each) for each in assignments.items()],
        )
        synced = await cluster.ask_coordinator(self._terms.group, request, SyncGroupResponse)
        _refuse(synced.error_code)
        self._heard()
        return bytes(synced.assignment)

    async def heartbeat(self, cluster: Cluster) -> bool:
        """False if the members have to join again."""
        request = HeartbeatRequest(self._terms.group, self.generation, self.member_id)
        try:
            async with asyncio.timeout(self._terms.session_timeout_ms / 1000):
                said = await cluster.ask_coordinator(self._terms.group, request, HeartbeatResponse)
        except TimeoutError:
            raise BrokerUnreachableError(
                f"the coordinator of group {self._terms.group!r} does not answer"
            ) from None
        if said.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
            return False
        _refuse(said.error_code)
        self._heard()
        return True

    async def leave(self, cluster: Cluster) -> None:
        """So that the others need not wait for this one to be missed."""
        if not self.member_id:
            return
        request = LeaveGroupRequest(self._terms.group, self.member_id, [MemberIdentity(self.member_id)])
        with suppress(KafkaError, TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await cluster.ask_coordinator(self._terms.group, request, LeaveGroupResponse)

    def start_anew(self, error: BaseException) -> None:
        """It was thrown out: who only missed a generation is still known by its name."""
        if isinstance(error, KafkaError) and error.code != ErrorCode.ILLEGAL_GENERATION:
            self.member_id = ""

    def is_missed(self) -> bool:
        """Whether the coordinator has not been reached for the length of a session."""
        return self.seconds_unheard() > self._terms.session_timeout_ms / 1000

    def seconds_unheard(self) -> float:
        return asyncio.get_running_loop().time() - self._last_heard

    def _heard(self) -> None:
        self._last_heard = asyncio.get_running_loop().time()


async def pause(seconds: float, until: asyncio.Event) -> None:
    """For so long, or until the event is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await until.wait()


def _refuse(error_code: int) -> None:
    if error_code:
        raise error_for(error_code)
