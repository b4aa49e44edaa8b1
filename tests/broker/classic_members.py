"""Members of classic groups, each on a connection of its own: a request that waits blocks the connection."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.errors import ErrorCode
from penstock.wire.messages.describe_groups import DescribeGroupsRequest
from penstock.wire.messages.heartbeat import HeartbeatRequest
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

SESSION_TIMEOUT_MS = 30_000
_numbers = itertools.count()


def describe(client: WireClient, group_id: str, version: int | None = None) -> Any:
    return client.send(DescribeGroupsRequest(groups=[group_id]), version).groups[0]


class Member:
    def __init__(self, bootstrap: str, group_id: str, instance: str | None = None) -> None:
        self.client = WireClient(bootstrap)
        self.group_id = group_id
        self.instance = instance
        self.member_id = ""
        self.generation = -1
        self.protocol_type = "consumer"
        self.protocols: Sequence[tuple[str, bytes]] = [("range", b"meta")]
        self.session_timeout_ms = SESSION_TIMEOUT_MS
        self.rebalance_timeout_ms = SESSION_TIMEOUT_MS

    def __enter__(self) -> Member:
        return self

    def __exit__(self, *error: object) -> None:
        self.client.close()

    # joining

    def join_request(self) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=self.session_timeout_ms,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            member_id=self.member_id,
            group_instance_id=self.instance,
            protocol_type=self.protocol_type,
            protocols=[JoinGroupRequestProtocol(name, metadata) for name, metadata in self.protocols],
        )

    def post_join(self, version: int = 9) -> None:
        self.client.post(self.join_request(), version)

    def receive_join(self, version: int = 9) -> Any:
        answer = self.client.receive(self.join_request(), version)
        if answer.member_id:
            self.member_id = answer.member_id
        if answer.error_code == 0:
            self.generation = answer.generation_id
        return answer

    def join(self, version: int = 9) -> Any:
        self.post_join(version)
        return self.receive_join(version)

    def join_with_new_id(self) -> None:
        """The first of the two requests that a dynamic member needs."""
        assert code_of(self.join()) == "MEMBER_ID_REQUIRED"

    # in the group

    def sync_request(self, assignments: Mapping[str, bytes]) -> SyncGroupRequest:
        return SyncGroupRequest(
            group_id=self.group_id,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance,
            protocol_type=self.protocol_type,
            protocol_name=self.protocols[0][0],
            assignments=[
                SyncGroupRequestAssignment(member_id, value) for member_id, value in assignments.items()
            ],
        )

    def post_sync(self, version: int = 5) -> None:
        self.client.post(self.sync_request({}), version)

    def receive_sync(self, version: int = 5) -> Any:
        return self.client.receive(self.sync_request({}), version)

    def sync(self, assignments: Mapping[str, bytes] | None = None, version: int = 5) -> Any:
        return self.client.send(self.sync_request(assignments or {}), version)

    def heartbeat(self, version: int = 4) -> str:
        request = HeartbeatRequest(self.group_id, self.generation, self.member_id, self.instance)
        return code_of(self.client.send(request, version))

    def is_to_rejoin(self) -> bool:
        return self.heartbeat() == "REBALANCE_IN_PROGRESS"

    def leave(self, version: int = 5) -> Any:
        identity = MemberIdentity(self.member_id, self.instance, "the test is over")
        return self.client.send(LeaveGroupRequest(self.group_id, self.member_id, [identity]), version)


def code_of(answer: Any) -> str:
    return ErrorCode(answer.error_code).name


def join_all(*members: Member) -> None:
    """Brings members into one generation; the first one leads."""
    for count, member in enumerate(members):
        if member.instance is None:
            member.join_with_new_id()
        member.post_join()
        for earlier in members[:count]:
            wait_for(earlier.is_to_rejoin, what="the rebalance")
            earlier.post_join()
        for joined in members[: count + 1]:
            answer = joined.receive_join()
            assert (code_of(answer), answer.leader) == ("NONE", members[0].member_id)


def settle(*members: Member) -> None:
    """Brings members into a stable group; each is assigned the number that it has here."""
    join_all(*members)
    assignments = {member.member_id: str(index).encode() for index, member in enumerate(members)}
    assert code_of(members[0].sync(assignments)) == "NONE"
    for member in members:
        assert member.sync().assignment == assignments[member.member_id]
