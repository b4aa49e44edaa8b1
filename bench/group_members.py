"""Members of a group, as many as wanted in one process: sockets and the wire's codecs, nothing else.

A client library would add its own threads and its own pace (a heartbeat every three or five seconds), and that is what
would be measured. These members heartbeat quickly and do what the protocol asks of them at once, so what is left is
the coordinator's share. The same members talk to both servers.
"""

from __future__ import annotations

import asyncio
import struct
from typing import Any

from penstock.errors import ErrorCode
from penstock.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from penstock.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from penstock.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from penstock.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from penstock.wire_client import Address, ClusterConfig
from penstock.wire_client.aio import AsyncioNetwork
from penstock.wire_client.connection import Connection

HEARTBEAT_SECONDS = 0.02
SESSION_TIMEOUT_MS = 45_000
REBALANCE_TIMEOUT_MS = 60_000
RETRY_SECONDS = 0.1
LEAVING = -1


async def connect(port: int) -> Connection:
    address = Address("127.0.0.1", port)
    return await Connection.open(AsyncioNetwork(), address, ClusterConfig((address,), client_id="bench"))


async def wait_for_coordinator(port: int, group: str) -> None:
    """Until the group's coordinator is there; the first group of a cluster has its topic created for it."""
    connection = await connect(port)
    while True:
        request = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
        found = (await connection.ask(request, FindCoordinatorResponse)).coordinators[0]
        if not found.error_code:
            break
        await asyncio.sleep(RETRY_SECONDS)
    connection.close()


class Group:
    """What the members of one group have in common, and whether they are all settled."""

    def __init__(self, group_id: str, topic: str, topic_id: bytes, partitions: int) -> None:
        self.group_id = group_id
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = partitions
        self.members: list[Any] = []
        self.changed = asyncio.Event()

    async def settled(self) -> None:
        """Until every partition is owned, every member is at the newest generation or epoch, and nobody moves."""
        while not self._is_settled():
            self.changed.clear()
            await self.changed.wait()

    def _is_settled(self) -> bool:
        newest = max((member.generation for member in self.members), default=0)
        if any(member.generation != newest or not member.is_stable for member in self.members):
            return False
        owned = [partition for member in self.members for partition in member.owned]
        return len(owned) == self.partitions and len(set(owned)) == self.partitions


class Member:
    """What both kinds of members do alike."""

    def __init__(self, group: Group, connection: Connection, name: str) -> None:
        self.group = group
        self.connection = connection
        self.name = name
        self.member_id = ""
        self.generation = 0
        self.owned: list[int] = []
        self.is_stable = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self.group.members.append(self)
        self._task = asyncio.create_task(self.live())

    async def live(self) -> None:
        raise NotImplementedError

    async def say_goodbye(self) -> None:
        raise NotImplementedError

    async def leave(self) -> None:
        await self.stop()
        await self.say_goodbye()
        self.connection.close()

    async def stop(self) -> None:
        assert self._task is not None
        self.group.members.remove(self)
        self.is_stopping = True
        await self._task

    is_stopping = False

    def settle(self, generation: int, owned: list[int]) -> None:
        self.generation, self.owned, self.is_stable = generation, owned, True
        self.group.changed.set()


class ClassicMember(Member):
    """Eager, with the range assignor in the member that leads."""

    async def live(self) -> None:
        while not self.is_stopping:
            await self._join()
            while not self.is_stopping:
                await asyncio.sleep(HEARTBEAT_SECONDS)
                request = HeartbeatRequest(self.group.group_id, self.generation, self.member_id)
                answer = await self.connection.ask(request, HeartbeatResponse)
                if answer.error_code:
                    self.is_stable = False
                    break

    async def _join(self) -> None:
        while True:
            answer = await self.connection.ask(self._join_request(), JoinGroupResponse)
            if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self.member_id = answer.member_id
            elif answer.error_code:
                await asyncio.sleep(RETRY_SECONDS)
            elif await self._sync(answer):
                return

    def _join_request(self) -> JoinGroupRequest:
        protocols = [JoinGroupRequestProtocol("range", b"")]
        return JoinGroupRequest(
            self.group.group_id,
            SESSION_TIMEOUT_MS,
            REBALANCE_TIMEOUT_MS,
            self.member_id,
            None,
            "consumer",
            protocols,
        )

    async def _sync(self, joined: JoinGroupResponse) -> bool:
        self.member_id = joined.member_id
        request = SyncGroupRequest(
            self.group.group_id, joined.generation_id, joined.member_id, None, "consumer", "range"
        )
        if joined.leader == joined.member_id:
            request.assignments = self._assign([member.member_id for member in joined.members])
        answer = await self.connection.ask(request, SyncGroupResponse)
        if not answer.error_code:
            self.settle(
                joined.generation_id,
                list(struct.unpack(f">{len(answer.assignment) // 4}i", answer.assignment)),
            )
        return not answer.error_code

    def _assign(self, member_ids: list[str]) -> list[SyncGroupRequestAssignment]:
        count, rest = divmod(self.group.partitions, len(member_ids))
        assignments, start = [], 0
        for index, member_id in enumerate(sorted(member_ids)):
            end = start + count + (index < rest)
            owned = struct.pack(f">{end - start}i", *range(start, end))
            assignments.append(SyncGroupRequestAssignment(member_id, owned))
            start = end
        return assignments

    async def say_goodbye(self) -> None:
        request = LeaveGroupRequest(self.group.group_id, members=[MemberIdentity(self.member_id)])
        await self.connection.ask(request, LeaveGroupResponse)


class ConsumerMember(Member):
    """Of the protocol in which the coordinator assigns (KIP-848): gives up and takes what it is told, at once."""

    def __init__(self, group: Group, connection: Connection, name: str) -> None:
        super().__init__(group, connection, name)
        self.member_id = name

    async def live(self) -> None:
        await self._beat(rebalance_timeout_ms=REBALANCE_TIMEOUT_MS, subscribed_topic_names=[self.group.topic])
        while not self.is_stopping:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            await self._beat()

    async def _beat(self, **first: Any) -> None:
        joining = bool(first)
        while True:
            answer = await self._heartbeat(owned=self.owned if joining else None, **first)
            if answer.error_code in (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS):
                await asyncio.sleep(RETRY_SECONDS)
                continue
            break
        while answer.assignment is not None:
            target = [p for topic in answer.assignment.topic_partitions for p in topic.partitions]
            if sorted(target) == sorted(self.owned):
                break
            self.owned = target
            answer = await self._heartbeat(owned=target)
        self.settle(answer.member_epoch, self.owned)

    async def _heartbeat(self, owned: list[int] | None, **first: Any) -> ConsumerGroupHeartbeatResponse:
        request = ConsumerGroupHeartbeatRequest(
            self.group.group_id, self.member_id, self.generation, topic_partitions=None, **first
        )
        if owned is not None:
            request.topic_partitions = [TopicPartitions(self.group.topic_id, owned)] if owned else []
        answer: ConsumerGroupHeartbeatResponse = await self.connection.ask(
            request, ConsumerGroupHeartbeatResponse
        )
        if answer.error_code and answer.error_code not in (
            ErrorCode.NOT_COORDINATOR,
            ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ):
            raise RuntimeError(f"{self.name}: {ErrorCode(answer.error_code).name} {answer.error_message}")
        if not answer.error_code:
            self.generation = answer.member_epoch
        return answer

    async def say_goodbye(self) -> None:
        request = ConsumerGroupHeartbeatRequest(
            self.group.group_id, self.member_id, LEAVING, topic_partitions=None
        )
        await self.connection.ask(request, ConsumerGroupHeartbeatResponse)


MEMBERS: dict[str, type[Member]] = {"classic": ClassicMember, "consumer": ConsumerMember}
