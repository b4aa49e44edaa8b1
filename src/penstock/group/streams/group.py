"""A streams group (KIP-1071) as its records tell it.

Its epochs are those of a consumer group, see `modern_group`; what is assigned are tasks instead of partitions. Before
anything is assigned, the group's topology has to fit the topics of the cluster: the epoch of the topology that was
found to do so is *validated*, and the group is `NotReady` as long as that is not its topology's.
"""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from penstock.errors import ApiError, ErrorCode
from penstock.group.groups import STREAMS, CheckPartition
from penstock.group.modern_group import ModernGroup
from penstock.group.streams.member import LEAVE_EPOCH, CurrentAssignment, Member, MemberMetadata
from penstock.group.streams.records import write_group_removal
from penstock.group.streams.soft_state import SoftState
from penstock.group.streams.tasks import HeldTasks, Task, Tasks, decode_partitions, each_task
from penstock.group.streams.topology import Topology
from penstock.machine import Outcome
from penstock.wire.schema import StoredMessage
from penstock.wire.stored.streams_group import (
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupMemberMetadataKey,
    StreamsGroupMemberMetadataValue,
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMemberKey,
    StreamsGroupTargetAssignmentMemberValue,
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTopologyKey,
    StreamsGroupTopologyValue,
)

PROTOCOL_TYPE = "streams"
FIRST_COMMIT_VERSION_WITH_EPOCHS = 9


class StreamsGroup(ModernGroup[Member, Tasks]):
    KIND: ClassVar[str] = STREAMS

    def __init__(self, group_id: str) -> None:
        super().__init__(group_id)
        self.topology: Topology | None = None
        self.validated_topology_epoch = 0
        self.assignment_configs: dict[str, str] = {}
        """Those that the last assignment was computed with."""
        self._active_processes: dict[Task, str] = {}
        self._standby_processes: dict[Task, set[str]] = {}
        self._warmup_processes: dict[Task, set[str]] = {}
        self.soft = SoftState()

    # what it looks like

    @property
    def state_name(self) -> str:
        if not self.members:
            return "Empty"
        if self.topology is None or self.topology.epoch != self.validated_topology_epoch:
            return "NotReady"
        if self.group_epoch > self.assignment_epoch:
            return "Assigning"
        if all(member.current.is_reconciled_to(self.assignment_epoch) for member in self.members.values()):
            return "Stable"
        return "Reconciling"

    @property
    def protocol_type(self) -> str:
        return PROTOCOL_TYPE

    def active_process(self, task: Task) -> str | None:
        """The process that has the active task now, or has yet to give it up."""
        return self._active_processes.get(task)

    def copies_in(self, process_id: str, task: Task) -> bool:
        """Whether the process has a standby or a warm-up of the task."""
        return process_id in self._standby_processes.get(
            task, ()
        ) or process_id in self._warmup_processes.get(task, ())

    # folding

    def fold(self, key: StoredMessage, value: StoredMessage | None) -> None:
        _FOLDS[type(key)](self, key, value)

    def _fold_group(self, key: StreamsGroupMetadataKey, value: StreamsGroupMetadataValue | None) -> None:
        self.fold_epoch(key, value)
        if value is not None:
            self.validated_topology_epoch = value.validated_topology_epoch
            self.assignment_configs = {each.key: each.value for each in value.last_assignment_configs or ()}

    def _fold_topology(self, key: StreamsGroupTopologyKey, value: StreamsGroupTopologyValue | None) -> None:
        self.topology = None if value is None else Topology(value)

    def _fold_member(
        self, key: StreamsGroupMemberMetadataKey, value: StreamsGroupMemberMetadataValue | None
    ) -> None:
        old = self.members.get(key.member_id)
        if value is not None:
            known = old or Member(key.member_id)
            self._replace_member(old, known._replace(metadata=MemberMetadata.decode(value)))
        elif old is not None:
            self._replace_member(old, None)

    def _fold_current(
        self,
        key: StreamsGroupCurrentMemberAssignmentKey,
        value: StreamsGroupCurrentMemberAssignmentValue | None,
    ) -> None:
        old = self.members.get(key.member_id)
        if value is not None:
            known = old or Member(key.member_id)
            self._replace_member(old, known._replace(current=CurrentAssignment.decode(value)))
        elif old is not None:
            self._replace_member(old, old._replace(current=CurrentAssignment(LEAVE_EPOCH, LEAVE_EPOCH)))

    def decode_target(self, value: StreamsGroupTargetAssignmentMemberValue) -> Tasks:
        lists = (value.active_tasks, value.standby_tasks, value.warmup_tasks)
        return Tasks(*map(decode_partitions, lists))

    # what is derived

    def _replace_member(self, old: Member | None, new: Member | None) -> None:
        if old is not None:
            for held in (old.current.assigned, old.current.revoking):
                self._disown(held, old.metadata.process_id)
        if new is not None:
            self.members[new.member_id] = new
            for held in (new.current.assigned, new.current.revoking):
                self._own(held, new.metadata.process_id)
        elif old is not None:
            del self.members[old.member_id]
            self.soft.endpoints.pop(old.member_id, None)
            if not self.members:
                self.soft.shutdown_member_id = None

    def _own(self, held: HeldTasks, process_id: str) -> None:
        for task in each_task(held.active):
            self._active_processes[task] = process_id
        for tasks, owners in self._copies(held):
            for task in tasks:
                owners.setdefault(task, set()).add(process_id)

    def _disown(self, held: HeldTasks, process_id: str) -> None:
        for task in each_task(held.active):
            if self._active_processes.get(task) == process_id:
                del self._active_processes[task]
        for tasks, owners in self._copies(held):
            for task in tasks:
                processes = owners.get(task, set())
                processes.discard(process_id)
                if not processes:
                    owners.pop(task, None)

    def _copies(self, held: HeldTasks) -> Iterable[tuple[Iterable[Task], dict[Task, set[str]]]]:
        yield each_task(held.standby), self._standby_processes
        yield each_task(held.warmup), self._warmup_processes

    # offsets and deletion

    def check_offset_commit(
        self,
        member_id: str,
        group_instance_id: str | None,
        generation_or_epoch: int,
        *,
        is_transactional: bool,
        version: int,
    ) -> CheckPartition | None:
        epoch = generation_or_epoch
        if epoch < 0 and not self.members:
            return None
        if is_transactional and epoch == -1 and not member_id and group_instance_id is None:
            return None
        member = self.member(member_id)
        if not is_transactional and version < FIRST_COMMIT_VERSION_WITH_EPOCHS:
            raise ApiError(
                ErrorCode.UNSUPPORTED_VERSION,
                "OffsetCommit version 9 or above must be used by members using the streams group protocol",
            )
        known = member.current.member_epoch
        if epoch > known:
            raise _stale(f"Received member epoch {epoch} is newer than current member epoch {known}.")
        if epoch == known:
            return None
        return lambda topic, topic_id, partition: self._check_partition(member, epoch, topic, partition)

    def _check_partition(self, member: Member, epoch: int, topic: str, partition: int) -> None:
        """A member that is behind may commit for tasks that it has had since its epoch or before."""
        subtopology = None if self.topology is None else self.topology.readers.get(topic)
        if subtopology is None:
            raise _stale(f"Topic {topic} is not in the topology.")
        since = member.current.epoch_of(subtopology, partition)
        task = f"{subtopology}-{partition}"
        if since is None:
            raise _stale(f"Task {task} is not assigned or pending revocation for member.")
        if epoch < since:
            raise _stale(
                f"Received member epoch {epoch} is older than assignment epoch {since} for task {task}."
            )

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        if member_id is None and member_epoch < 0:
            return
        expected = self.member(member_id or "").current.member_epoch
        if member_epoch != expected:
            raise _stale(
                f"The received member epoch {member_epoch} does not match the expected member epoch {expected}."
            )

    def check_offset_delete(self) -> None:
        """Offsets may go at any time, but for topics that the program reads."""

    def check_delete(self) -> None:
        if self.members:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def is_subscribed_to(self, topic: str) -> bool:
        return bool(self.members) and self.topology is not None and topic in self.topology.readers

    def offsets_expire_from_ms(self, topic: str, committed_at_ms: int) -> int | None:
        return None if self.is_subscribed_to(topic) else committed_at_ms

    def write_tombstones(self, outcome: Outcome) -> None:
        write_group_removal(outcome, self.group_id, self.members)


def _stale(message: str) -> ApiError:
    return ApiError(ErrorCode.STALE_MEMBER_EPOCH, message)


_FOLDS: dict[type[StoredMessage], Callable[[StreamsGroup, Any, Any], None]] = {
    StreamsGroupMetadataKey: StreamsGroup._fold_group,
    StreamsGroupTopologyKey: StreamsGroup._fold_topology,
    StreamsGroupMemberMetadataKey: StreamsGroup._fold_member,
    StreamsGroupTargetAssignmentMetadataKey: StreamsGroup.fold_target_epoch,
    StreamsGroupTargetAssignmentMemberKey: StreamsGroup.fold_target,
    StreamsGroupCurrentMemberAssignmentKey: StreamsGroup._fold_current,
}
FOLDED_RECORDS = tuple(_FOLDS)
