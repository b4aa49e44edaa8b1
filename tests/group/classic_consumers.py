"""Consumers of the classic protocol, one step at a time: they revoke everything before they join (eager)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.errors import ApiError, ErrorCode
from penstock.group.consumer_protocol import (
    AssignedPartitions,
    NamedPartitions,
    Subscription,
    decode_assignment,
    encode,
)
from penstock.group.shard import GroupShard
from penstock.machine import Caller, Outcome, Ticket
from penstock.wire.messages.heartbeat import HeartbeatRequest
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.group.consumers import GROUP, Place
from tests.scripts.world import Asked, World

PROTOCOL = "range"


class ClassicConsumer:
    def __init__(self, world: World[GroupShard], name: str, topic: str) -> None:
        self.world = world
        self.name = name
        self.topic = topic
        self.member_id = ""
        self.generation = -1
        self.owned: set[Place] = set()
        self.is_settled = False
        self._asked: Asked | None = None
        self._next: Callable[[], None] = self._join
        self._on_answer: Callable[[Any], None]

    def beat(self) -> None:
        """Takes one step: sends what is next, or looks at an answer that has come."""
        if self._asked is None:
            self._next()
        asked = self._asked
        if asked is not None and asked.answer is not None:
            self._asked = None
            self._on_answer(asked.answer)

    def _ask(self, method: str, request: Any, version: int, on_answer: Callable[[Any], None]) -> None:
        def handle(shard: GroupShard, ticket: Ticket, now_ms: int) -> Outcome:
            serve = getattr(shard.serving_classic_protocol(GROUP), method)
            outcome: Outcome = serve(request, Caller(version, self.name, "/127.0.0.1"), ticket, now_ms)
            return outcome

        self._on_answer = on_answer
        self._asked = self.world.ask(self.name, handle)

    # joining

    def _join(self) -> None:
        self.is_settled = False
        self.owned.clear()
        subscription = encode(Subscription([self.topic]), 1)
        request = JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=40_000,
            rebalance_timeout_ms=40_000,
            member_id=self.member_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(PROTOCOL, subscription)],
        )
        self._ask("handle_classic_join", request, 9, self._on_joined)

    def _on_joined(self, answer: Any) -> None:
        code = _code(answer)
        if code is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
        elif code is ErrorCode.NONE:
            self.member_id, self.generation = answer.member_id, answer.generation_id
            members = [member.member_id for member in answer.members]
            self._next = lambda: self._sync(members)
            return
        elif code is ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        self._next = self._join

    def _sync(self, members: list[str]) -> None:
        """The leader of a classic group is told its members, and assigns."""
        partitions = sorted(self.world.image.topics[self.topic].partitions)
        request = SyncGroupRequest(
            group_id=GROUP,
            generation_id=self.generation,
            member_id=self.member_id,
            assignments=[
                SyncGroupRequestAssignment(member, self._encoded(partitions[index :: len(members)]))
                for index, member in enumerate(members)
            ],
        )
        self._ask("handle_classic_sync", request, 4, self._on_synced)

    def _encoded(self, partitions: list[int]) -> bytes:
        return encode(AssignedPartitions([NamedPartitions(self.topic, partitions)]), 1)

    def _on_synced(self, answer: Any) -> None:
        if _code(answer) is not ErrorCode.NONE:
            self._on_refused(_code(answer))
            return
        self._next = self._heartbeat
        topics = self.world.image.topics
        if answer.assignment:
            self.owned = {
                (topics[one.topic].topic_id, partition)
                for one in decode_assignment(answer.assignment).assigned_partitions
                for partition in one.partitions
            }

    # staying

    def _heartbeat(self) -> None:
        request = HeartbeatRequest(GROUP, self.generation, self.member_id)
        self._ask("handle_classic_heartbeat", request, 4, self._on_heartbeat)

    def _on_heartbeat(self, answer: Any) -> None:
        self.is_settled = _code(answer) is ErrorCode.NONE
        if not self.is_settled:
            self._on_refused(_code(answer))

    def _on_refused(self, code: ErrorCode) -> None:
        self.owned.clear()
        if code is ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        self._next = self._join

    def leave(self) -> None:
        self.owned.clear()
        if self._asked is None and self.member_id:
            request = LeaveGroupRequest(GROUP, self.member_id, [MemberIdentity(self.member_id)])
            self._ask("handle_classic_leave", request, 5, lambda answer: None)


def _code(answer: Any) -> ErrorCode:
    return answer.code if isinstance(answer, ApiError) else ErrorCode(answer.error_code)
