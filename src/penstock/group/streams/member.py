"""One member of a streams group, a thread of a Kafka Streams process: what it says of itself, and what it has.

The two halves are two records of the log. Both are values: a handler makes new ones, and `replay` puts them in place.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from penstock.group.streams.tasks import (
    HOLDS_NOTHING,
    HeldTasks,
    PartitionEpochs,
    decode_partitions,
    in_order,
)
from penstock.wire.stored.streams_group import (
    CurrentTaskIds,
    Endpoint,
    KeyValue,
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupMemberMetadataValue,
)

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
LEAVE_STATIC_EPOCH = -2


class MemberState(IntEnum):
    """How far a member is on its way to the target assignment, as stored."""

    STABLE = 1
    UNREVOKED_TASKS = 2
    """It must give up tasks before it moves on."""
    UNRELEASED_TASKS = 3
    """It waits for tasks that others must give up."""
    UNKNOWN = 127
    """Written by a newer version."""


class UserEndpoint(NamedTuple):
    """Where the process of a member answers interactive queries."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class MemberMetadata:
    """What a member says of itself."""

    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topology_epoch: int = -1
    process_id: str = ""
    """Common to the threads of one process, which share its directory of states."""
    user_endpoint: UserEndpoint | None = None
    client_tags: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def decode(cls, value: StreamsGroupMemberMetadataValue) -> "MemberMetadata":
        endpoint = value.user_endpoint
        return cls(
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            topology_epoch=value.topology_epoch,
            process_id=value.process_id,
            user_endpoint=None if endpoint is None else UserEndpoint(endpoint.host, endpoint.port),
            client_tags={tag.key: tag.value for tag in value.client_tags},
        )

    def encode(self) -> StreamsGroupMemberMetadataValue:
        return StreamsGroupMemberMetadataValue(
            instance_id=self.instance_id,
            rack_id=self.rack_id,
            client_id=self.client_id,
            client_host=self.client_host,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            topology_epoch=self.topology_epoch,
            process_id=self.process_id,
            user_endpoint=None if self.user_endpoint is None else Endpoint(*self.user_endpoint),
            client_tags=[KeyValue(key, self.client_tags[key]) for key in sorted(self.client_tags)],
        )


@dataclass(frozen=True, slots=True)
class CurrentAssignment:
    """What a member has, and in which epoch it is."""

    member_epoch: int = JOIN_EPOCH
    previous_member_epoch: int = 0
    state: MemberState = MemberState.STABLE
    assigned: HeldTasks = HOLDS_NOTHING
    revoking: HeldTasks = HOLDS_NOTHING
    """Still its own until it says that it gave them up."""

    def is_reconciled_to(self, target_epoch: int) -> bool:
        return self.state == MemberState.STABLE and self.member_epoch == target_epoch

    def become(
        self,
        state: MemberState,
        member_epoch: int,
        assigned: HeldTasks,
        revoking: HeldTasks = HOLDS_NOTHING,
    ) -> "CurrentAssignment":
        """The next one; its previous epoch is the epoch of this one."""
        return CurrentAssignment(member_epoch, self.member_epoch, state, assigned, revoking)

    def epoch_of(self, subtopology: str, partition: int) -> int | None:
        """The epoch since which the active task is the member's, if it is."""
        for held in (self.assigned, self.revoking):
            epochs = held.active.get(subtopology)
            if epochs is not None and partition in epochs:
                return epochs[partition]
        return None

    @classmethod
    def decode(cls, value: StreamsGroupCurrentMemberAssignmentValue) -> "CurrentAssignment":
        known = value.state in MemberState.__members__.values()
        return cls(
            member_epoch=value.member_epoch,
            previous_member_epoch=value.previous_member_epoch,
            state=MemberState(value.state) if known else MemberState.UNKNOWN,
            assigned=HeldTasks(
                _decode_epochs(value.active_tasks, value.member_epoch),
                decode_partitions(value.standby_tasks),
                decode_partitions(value.warmup_tasks),
            ),
            revoking=HeldTasks(
                _decode_epochs(value.active_tasks_pending_revocation, value.member_epoch),
                decode_partitions(value.standby_tasks_pending_revocation),
                decode_partitions(value.warmup_tasks_pending_revocation),
            ),
        )

    def encode(self) -> StreamsGroupCurrentMemberAssignmentValue:
        assigned, revoking = self.assigned, self.revoking
        return StreamsGroupCurrentMemberAssignmentValue(
            member_epoch=self.member_epoch,
            previous_member_epoch=self.previous_member_epoch,
            state=int(self.state),
            active_tasks=_encode_epochs(assigned.active),
            standby_tasks=_encode(assigned.standby),
            warmup_tasks=_encode(assigned.warmup),
            active_tasks_pending_revocation=_encode_epochs(revoking.active),
            standby_tasks_pending_revocation=_encode(revoking.standby),
            warmup_tasks_pending_revocation=_encode(revoking.warmup),
        )


class Member(NamedTuple):
    member_id: str
    metadata: MemberMetadata = MemberMetadata()
    current: CurrentAssignment = CurrentAssignment()


def _decode_epochs(entries: Iterable[CurrentTaskIds], fallback_epoch: int) -> PartitionEpochs:
    """Before there were epochs per task, all of them had the member's."""
    return {
        entry.subtopology_id: dict(zip(entry.partitions, entry.assignment_epochs, strict=True))
        if entry.assignment_epochs is not None and len(entry.assignment_epochs) == len(entry.partitions)
        else dict.fromkeys(entry.partitions, fallback_epoch)
        for entry in entries
        if entry.partitions
    }


def _encode_epochs(tasks: PartitionEpochs) -> list[CurrentTaskIds]:
    return [
        CurrentTaskIds(subtopology, partitions, [tasks[subtopology][partition] for partition in partitions])
        for subtopology, partitions in in_order(tasks)
    ]


def _encode(tasks: Mapping[str, Iterable[int]]) -> list[CurrentTaskIds]:
    return [CurrentTaskIds(subtopology, partitions) for subtopology, partitions in in_order(tasks)]
