"""One member of a share group: it tells the coordinator that it is there, and hears what it is assigned."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from penstock.client.admin.topic_ids import topic_id_text
from penstock.client.share.acknowledgements import SharePartition
from penstock.errors import ErrorCode
from penstock.wire.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from penstock.wire_client import Cluster
from penstock.wire_client.errors import error_for, is_retriable

JOINS, LEAVES = 0, -1
LONGEST_WAIT_FOR_ASSIGNMENT_MS = 500
"""A member that has nothing to do yet asks sooner than the coordinator would have it."""
EXPELLED = frozenset(
    {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.GROUP_ID_NOT_FOUND}
)


class ShareMembership:
    def __init__(
        self, cluster: Cluster, group_id: str, topics: Sequence[str], rack_id: str | None = None
    ) -> None:
        self._cluster = cluster
        self.group_id = group_id
        self.member_id = topic_id_text(uuid.uuid4().bytes)
        self._topics = list(topics)
        self._rack_id = rack_id
        self._epoch = JOINS
        self._next_at = 0.0
        self.assignment: frozenset[SharePartition] = frozenset()

    async def maybe_heartbeat(self) -> None:
        now = self._cluster.network.now()
        if now >= self._next_at:
            answer = await self._send(self._epoch)
            self._next_at = now + self._take(answer) / 1000

    async def leave(self) -> None:
        if self._epoch != JOINS:
            await self._send(LEAVES)

    async def _send(self, epoch: int) -> ShareGroupHeartbeatResponse:
        request = ShareGroupHeartbeatRequest(
            self.group_id,
            self.member_id,
            epoch,
            self._rack_id if epoch == JOINS else None,
            self._topics if epoch == JOINS else None,
        )
        return await self._cluster.ask_coordinator(self.group_id, request, ShareGroupHeartbeatResponse)

    def _take(self, answer: ShareGroupHeartbeatResponse) -> int:
        """What the coordinator said; the milliseconds until it wants to hear of this member again."""
        if answer.error_code in EXPELLED:
            self._epoch = JOINS
            self.assignment = frozenset()
            return 0
        if answer.error_code:
            if is_retriable(answer.error_code):
                return LONGEST_WAIT_FOR_ASSIGNMENT_MS
            raise error_for(answer.error_code, answer.error_message)
        self._epoch = answer.member_epoch
        if answer.assignment is not None:
            self.assignment = frozenset(
                SharePartition(bytes(topic.topic_id), partition)
                for topic in answer.assignment.topic_partitions
                for partition in topic.partitions
            )
        if self.assignment:
            return answer.heartbeat_interval_ms
        return min(answer.heartbeat_interval_ms, LONGEST_WAIT_FOR_ASSIGNMENT_MS)
