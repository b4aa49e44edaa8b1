"""Groups of the threads of Kafka Streams programs: their topology, and who has which tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from penstock.client.admin.consumer_groups import coordinator_of
from penstock.client.admin.groups import GroupState
from penstock.wire.messages.streams_group_describe import (
    Assignment,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
    TaskIds,
)
from penstock.wire_client import Cluster, Node
from penstock.wire_client.errors import raise_for

Tasks = tuple[tuple[str, tuple[int, ...]], ...]
"""Subtopologies, each with partitions."""


@dataclass(frozen=True, slots=True)
class StreamsSubtopology:
    subtopology_id: str
    source_topics: tuple[str, ...]
    repartition_source_topics: tuple[str, ...]
    repartition_sink_topics: tuple[str, ...]
    changelog_topics: tuple[str, ...]

    @property
    def topics_read(self) -> tuple[str, ...]:
        return self.source_topics + self.repartition_source_topics


@dataclass(frozen=True, slots=True)
class StreamsAssignment:
    active: Tasks = ()
    standby: Tasks = ()
    warmup: Tasks = ()


@dataclass(frozen=True, slots=True)
class StreamsGroupMember:
    member_id: str
    client_id: str
    host: str
    process_id: str
    epoch: int
    topology_epoch: int
    assignment: StreamsAssignment
    target_assignment: StreamsAssignment
    is_classic: bool = False
    instance_id: str | None = None
    rack_id: str | None = None


@dataclass(frozen=True, slots=True)
class StreamsGroupDescription:
    group_id: str
    state: GroupState
    coordinator: Node
    members: tuple[StreamsGroupMember, ...]
    epoch: int
    target_assignment_epoch: int
    topology_epoch: int
    subtopologies: tuple[StreamsSubtopology, ...]

    @property
    def source_topics(self) -> frozenset[str]:
        """Those that are not of the program's own making."""
        return frozenset(topic for each in self.subtopologies for topic in each.source_topics)


async def describe_streams_groups(
    cluster: Cluster, group_ids: Iterable[str]
) -> dict[str, StreamsGroupDescription]:
    ids = list(dict.fromkeys(group_ids))
    described = await cluster.each(describe_streams_group(cluster, group_id) for group_id in ids)
    return dict(zip(ids, described, strict=True))


async def describe_streams_group(cluster: Cluster, group_id: str) -> StreamsGroupDescription:
    coordinator = await coordinator_of(cluster, group_id)
    answer = await cluster.ask_coordinator(
        group_id,
        StreamsGroupDescribeRequest([group_id]),
        StreamsGroupDescribeResponse,
        error_of=lambda said: said.groups[0].error_code,
    )
    group = answer.groups[0]
    raise_for(group.error_code, group.error_message)
    topology = group.topology
    members = tuple(
        StreamsGroupMember(
            member.member_id,
            member.client_id,
            member.client_host,
            member.process_id,
            member.member_epoch,
            member.topology_epoch,
            _assignment(member.assignment),
            _assignment(member.target_assignment),
            member.is_classic,
            member.instance_id,
            member.rack_id,
        )
        for member in group.members
    )
    subtopologies = tuple(
        StreamsSubtopology(
            each.subtopology_id,
            tuple(each.source_topics),
            tuple(topic.name for topic in each.repartition_source_topics),
            tuple(each.repartition_sink_topics),
            tuple(topic.name for topic in each.state_changelog_topics),
        )
        for each in (() if topology is None else topology.subtopologies or ())
    )
    return StreamsGroupDescription(
        group_id,
        GroupState.parse(group.group_state),
        coordinator,
        members,
        group.group_epoch,
        group.assignment_epoch,
        -1 if topology is None else topology.epoch,
        subtopologies,
    )


def _assignment(assignment: Assignment | None) -> StreamsAssignment:
    if assignment is None:
        return StreamsAssignment()
    return StreamsAssignment(
        _tasks(assignment.active_tasks), _tasks(assignment.standby_tasks), _tasks(assignment.warmup_tasks)
    )


def _tasks(entries: Sequence[TaskIds]) -> Tasks:
    return tuple((entry.subtopology_id, tuple(entry.partitions)) for entry in entries)
