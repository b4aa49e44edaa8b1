"""Members of streams groups, each on a connection of its own: they heartbeat as a Kafka Streams program would."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Self

from penstock.errors import ErrorCode
from penstock.wire.messages.streams_group_describe import DescribedGroup, StreamsGroupDescribeRequest
from penstock.wire.messages.streams_group_heartbeat import (
    Endpoint,
    KeyValue,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
)
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

COMPACTED = [KeyValue("cleanup.policy", "compact")]
PATIENCE_SECONDS = 60.0


def counting(group_id: str, source: str) -> Topology:
    """Reads a topic, repartitions it and counts: two subtopologies, the second with a state."""
    repartition, changelog = f"{group_id}-words-repartition", f"{group_id}-counts-changelog"
    return Topology(
        0,
        [
            Subtopology("0", [source], repartition_sink_topics=[repartition]),
            Subtopology(
                "1",
                repartition_source_topics=[TopicInfo(repartition)],
                state_changelog_topics=[TopicInfo(changelog, topic_configs=COMPACTED)],
            ),
        ],
    )


def plain(source: str) -> Topology:
    return Topology(0, [Subtopology("0", [source])])


class StreamsMember:
    def __init__(
        self,
        bootstrap: str,
        group_id: str,
        topology: Topology,
        *,
        member_id: str | None = None,
        process_id: str | None = None,
        endpoint: tuple[str, int] | None = None,
    ) -> None:
        self.client = WireClient(bootstrap)
        self.group_id = group_id
        self.topology = topology
        self.member_id = member_id or str(uuid.uuid4())
        self.process_id = process_id or str(uuid.uuid4())
        self.endpoint = endpoint
        self.epoch = self.endpoint_epoch = 0
        self.active: dict[str, list[int]] = {}
        self.standby: dict[str, list[int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def join(self, **changes: Any) -> StreamsGroupHeartbeatResponse:
        self.epoch, self.active, self.standby = 0, {}, {}
        fields: dict[str, Any] = {
            "rebalance_timeout_ms": 60_000,
            "topology": self.topology,
            "process_id": self.process_id,
            "user_endpoint": None if self.endpoint is None else Endpoint(*self.endpoint),
            "endpoint_information_epoch": -1,
        }
        return self.heartbeat(**{**fields, **changes})

    def heartbeat(self, **changes: Any) -> StreamsGroupHeartbeatResponse:
        fields: dict[str, Any] = {
            "group_id": self.group_id,
            "member_id": self.member_id,
            "member_epoch": self.epoch,
            "endpoint_information_epoch": self.endpoint_epoch,
            "active_tasks": tasks(self.active),
            "standby_tasks": tasks(self.standby),
            "warmup_tasks": [],
            "client_tags": None,
            "task_offsets": None,
            "task_end_offsets": None,
        }
        answer: StreamsGroupHeartbeatResponse = self.client.send(
            StreamsGroupHeartbeatRequest(**{**fields, **changes})
        )
        if not answer.error_code:
            self.epoch = answer.member_epoch
            self.endpoint_epoch = answer.endpoint_information_epoch
            if answer.active_tasks is not None:
                self.active = by_subtopology(answer.active_tasks)
                self.standby = by_subtopology(answer.standby_tasks or ())
        return answer

    def leave(self, **changes: Any) -> StreamsGroupHeartbeatResponse:
        return self.heartbeat(member_epoch=-1, **changes)


def tasks(partitions: dict[str, list[int]]) -> list[TaskIds]:
    return [TaskIds(subtopology, partitions[subtopology]) for subtopology in partitions]


def by_subtopology(entries: Sequence[Any]) -> dict[str, list[int]]:
    return {entry.subtopology_id: list(entry.partitions) for entry in entries}


def code_of(answer: Any) -> str:
    return ErrorCode(answer.error_code).name


def statuses(answer: StreamsGroupHeartbeatResponse) -> dict[int, str]:
    return {status.status_code: status.status_detail for status in answer.status or ()}


def describe(client: WireClient, group_id: str) -> DescribedGroup:
    (group,) = client.send(StreamsGroupDescribeRequest([group_id])).groups
    found: DescribedGroup = group
    return found


def settle(*members: StreamsMember) -> DescribedGroup:
    """Heartbeats until the group is stable."""

    def is_stable() -> DescribedGroup | None:
        for member in members:
            answer = member.heartbeat()
            assert not answer.error_code, answer
        group = describe(members[0].client, members[0].group_id)
        return group if group.group_state == "Stable" else None

    return wait_for(
        is_stable, PATIENCE_SECONDS, lambda: str(describe(members[0].client, members[0].group_id))
    )
