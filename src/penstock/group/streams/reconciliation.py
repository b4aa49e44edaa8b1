"""How one member moves from the tasks that it has to those that it shall have.

As in consumer groups (see `group.reconciliation`) there is no barrier; each member is taken along by its own
heartbeats, and is told to give up tasks before it is given others. What is particular to tasks is that the threads of a
process share the states on its disk, so a process must not have a task twice, in whatever roles:

- an active task is free when no member has it and the own process has no standby or warm-up of it;
- a standby or a warm-up is free when the own process has the task in no role.
"""

from collections.abc import Callable
from typing import NamedTuple

from penstock.errors import ApiError, ErrorCode
from penstock.group.streams.group import StreamsGroup
from penstock.group.streams.member import CurrentAssignment, Member, MemberState
from penstock.group.streams.tasks import HeldTasks, PartitionEpochs, Partitions, Task, Tasks

IsTaken = Callable[[Task], bool]


class Aim(NamedTuple):
    """Where a member shall get to."""

    epoch: int
    """Of the target assignment."""
    tasks: Tasks
    owned: Tasks | None
    """What the member says that it has; None if it does not say."""

    def still_owns(self, revoking: HeldTasks) -> bool:
        """Whether the member has yet to give up one of these, as far as it said."""
        return self.owned is None or revoking.overlaps(self.owned)


def reconcile(group: StreamsGroup, member: Member, aim: Aim) -> CurrentAssignment:
    """The member's next assignment; the very one that it has if there is no step to take."""
    current = member.current
    if current.is_reconciled_to(aim.epoch):
        return current
    if current.state == MemberState.UNREVOKED_TASKS:
        if aim.still_owns(current.revoking):
            return current
        return _Step(group, member, aim, current.member_epoch + 1).take()
    if current.state == MemberState.UNKNOWN:
        if aim.owned is None or any(aim.owned):
            raise ApiError(
                ErrorCode.FENCED_MEMBER_EPOCH,
                "The streams group member is in a unknown state. The member must abandon all its tasks and rejoin.",
            )
        return _Step(group, member, aim, aim.epoch).take()
    return _Step(group, member, aim, current.member_epoch).take()


class _Step:
    def __init__(self, group: StreamsGroup, member: Member, aim: Aim, epoch: int) -> None:
        self.group = group
        self.member = member
        self.aim = aim
        self.epoch = epoch
        """In which the member stays if it has to give up tasks."""
        self.process_id = member.metadata.process_id

    def take(self) -> CurrentAssignment:
        current, target = self.member.current, self.aim.tasks
        kept, revoking = self._split(current.assigned)
        if not revoking.is_empty and self.aim.still_owns(revoking):
            return current.become(MemberState.UNREVOKED_TASKS, self.epoch, kept, revoking)
        active, waits_for_active = self._add_active(kept.active, target.active)
        standby, waits_for_standby = self._add_copies(kept.standby, target.standby)
        warmup, waits_for_warmup = self._add_copies(kept.warmup, target.warmup)
        waits = waits_for_active or waits_for_standby or waits_for_warmup
        state = MemberState.UNRELEASED_TASKS if waits else MemberState.STABLE
        return current.become(state, self.aim.epoch, HeldTasks(active, standby, warmup))

    def _split(self, held: HeldTasks) -> tuple[HeldTasks, HeldTasks]:
        """What is to be kept, and what is to be given up."""
        target = self.aim.tasks
        pairs = (
            _split_epochs(held.active, target.active),
            _split_partitions(held.standby, target.standby),
            _split_partitions(held.warmup, target.warmup),
        )
        (active, lost_active), (standby, lost_standby), (warmup, lost_warmup) = pairs
        return HeldTasks(active, standby, warmup), HeldTasks(lost_active, lost_standby, lost_warmup)

    def _add_active(self, kept: PartitionEpochs, target: Partitions) -> tuple[PartitionEpochs, bool]:
        free, waits = _free_tasks(kept, target, self._is_active_taken)
        merged = {subtopology: dict(epochs) for subtopology, epochs in kept.items()}
        for subtopology, partitions in free.items():
            merged.setdefault(subtopology, {}).update(dict.fromkeys(partitions, self.aim.epoch))
        return merged, waits

    def _add_copies(self, kept: Partitions, target: Partitions) -> tuple[Partitions, bool]:
        free, waits = _free_tasks(kept, target, self._is_in_process)
        merged = dict(kept)
        for subtopology, partitions in free.items():
            merged[subtopology] = merged.get(subtopology, frozenset()) | partitions
        return merged, waits

    def _is_active_taken(self, task: Task) -> bool:
        return self.group.active_process(task) is not None or self.group.copies_in(self.process_id, task)

    def _is_in_process(self, task: Task) -> bool:
        group = self.group
        return group.active_process(task) == self.process_id or group.copies_in(self.process_id, task)


def _split_epochs(held: PartitionEpochs, target: Partitions) -> tuple[PartitionEpochs, PartitionEpochs]:
    kept: dict[str, dict[int, int]] = {}
    lost: dict[str, dict[int, int]] = {}
    for subtopology, epochs in held.items():
        wanted = target.get(subtopology, frozenset())
        for partition, epoch in epochs.items():
            place = kept if partition in wanted else lost
            place.setdefault(subtopology, {})[partition] = epoch
    return kept, lost


def _split_partitions(held: Partitions, target: Partitions) -> tuple[Partitions, Partitions]:
    kept, lost = {}, {}
    for subtopology, partitions in held.items():
        wanted = target.get(subtopology, frozenset())
        if partitions & wanted:
            kept[subtopology] = partitions & wanted
        if partitions - wanted:
            lost[subtopology] = partitions - wanted
    return kept, lost


def _free_tasks(
    kept: PartitionEpochs | Partitions, target: Partitions, is_taken: IsTaken
) -> tuple[Partitions, bool]:
    """What is to be added and can be; and whether there is more that can't be yet."""
    free, waits = {}, False
    for subtopology, partitions in target.items():
        new = partitions.difference(kept.get(subtopology, ()))
        taken = frozenset(partition for partition in new if is_taken((subtopology, partition)))
        waits = waits or bool(taken)
        if new - taken:
            free[subtopology] = new - taken
    return free, waits
