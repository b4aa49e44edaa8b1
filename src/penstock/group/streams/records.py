"""The records of streams groups, as they are written."""

from collections.abc import Iterable, Mapping

from penstock.group.streams.member import CurrentAssignment, MemberMetadata
from penstock.group.streams.tasks import Tasks, in_order
from penstock.group.streams.topology import Topology
from penstock.machine import Outcome
from penstock.wire.stored.streams_group import (
    LastAssignmentConfig,
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupMemberMetadataKey,
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMemberKey,
    StreamsGroupTargetAssignmentMemberValue,
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTargetAssignmentMetadataValue,
    StreamsGroupTopologyKey,
    TargetTaskIds,
)


def write_group_epoch(
    outcome: Outcome,
    group_id: str,
    epoch: int,
    metadata_hash: int,
    validated_topology_epoch: int,
    assignment_configs: Mapping[str, str],
) -> None:
    configs = [LastAssignmentConfig(key, assignment_configs[key]) for key in sorted(assignment_configs)]
    outcome.write(
        StreamsGroupMetadataKey(group_id),
        StreamsGroupMetadataValue(epoch, metadata_hash, validated_topology_epoch, configs),
    )


def write_topology(outcome: Outcome, group_id: str, topology: Topology) -> None:
    outcome.write(StreamsGroupTopologyKey(group_id), topology.value)


def write_metadata(outcome: Outcome, group_id: str, member_id: str, metadata: MemberMetadata) -> None:
    outcome.write(StreamsGroupMemberMetadataKey(group_id, member_id), metadata.encode())


def write_current(outcome: Outcome, group_id: str, member_id: str, current: CurrentAssignment) -> None:
    outcome.write(StreamsGroupCurrentMemberAssignmentKey(group_id, member_id), current.encode())


def write_target(outcome: Outcome, group_id: str, member_id: str, tasks: Tasks) -> None:
    lists = [[TargetTaskIds(*entry) for entry in in_order(partitions)] for partitions in tasks]
    outcome.write(
        StreamsGroupTargetAssignmentMemberKey(group_id, member_id),
        StreamsGroupTargetAssignmentMemberValue(*lists),
    )


def write_target_epoch(outcome: Outcome, group_id: str, epoch: int, timestamp_ms: int) -> None:
    outcome.write(
        StreamsGroupTargetAssignmentMetadataKey(group_id),
        StreamsGroupTargetAssignmentMetadataValue(epoch, timestamp_ms),
    )


def write_member_removal(outcome: Outcome, group_id: str, member_id: str) -> None:
    outcome.write(StreamsGroupCurrentMemberAssignmentKey(group_id, member_id))
    outcome.write(StreamsGroupTargetAssignmentMemberKey(group_id, member_id))
    outcome.write(StreamsGroupMemberMetadataKey(group_id, member_id))


def write_group_removal(outcome: Outcome, group_id: str, member_ids: Iterable[str]) -> None:
    members = list(member_ids)
    for member_id in members:
        outcome.write(StreamsGroupCurrentMemberAssignmentKey(group_id, member_id))
    for member_id in members:
        outcome.write(StreamsGroupTargetAssignmentMemberKey(group_id, member_id))
    outcome.write(StreamsGroupTargetAssignmentMetadataKey(group_id))
    for member_id in members:
        outcome.write(StreamsGroupMemberMetadataKey(group_id, member_id))
    outcome.write(StreamsGroupMetadataKey(group_id))
    outcome.write(StreamsGroupTopologyKey(group_id))
