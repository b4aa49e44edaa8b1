"""Who gets which task: the sticky assignor.

First the active tasks, evenly over the members (threads), then the standbys, evenly over all members together with what
they have already, and never twice in one process. A task stays with the member that has it, or goes to one that had a
standby of it, as long as that member has not its fair share; the rest goes to the process with the least load. The fair
share is the average, rounded up, and is computed anew for the others as soon as one member has it.

On a first assignment this gives contiguous ranges, and the same member gets the same partitions of all subtopologies as
far as it goes. Warm-ups are not given: like Kafka, the broker is not told yet how far each member has come.
"""

import heapq
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from penstock.group.streams.tasks import NO_TASKS, Task, Tasks, each_task
from penstock.group.streams.topics import ConfiguredSubtopology


class _Member(NamedTuple):
    process_id: str
    member_id: str


class _Quota:
    """The fair share of each member that has not got it yet."""

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks = tasks
        self._members = members
        self.limit = self._share()

    def _share(self) -> int:
        return -(-self._tasks // self._members) if self._members else 0

    def note(self, task_count: int) -> None:
        """A member has so many now."""
        if task_count == self.limit:
            self._members -= 1
            self._tasks -= task_count
            self.limit = self._share()


class _Process:
    def __init__(self, process_id: str) -> None:
        self.process_id = process_id
        self.counts: dict[str, int] = {}
        self.tasks: set[Task] = set()

    @property
    def load(self) -> float:
        return len(self.tasks) / len(self.counts)

    def least_loaded_member(self) -> _Member:
        return _Member(
            self.process_id, min(self.counts, key=lambda member_id: (self.counts[member_id], member_id))
        )


class _Assignment:
    def __init__(
        self,
        processes: Mapping[str, str],
        subtopologies: Mapping[str, ConfiguredSubtopology],
        previous: Mapping[str, Tasks],
        standby_replicas: int,
    ) -> None:
        self.subtopologies = subtopologies
        self.standby_replicas = standby_replicas
        self.processes: dict[str, _Process] = {}
        self.had_active: dict[Task, _Member] = {}
        self.had_standby: dict[Task, list[_Member]] = {}
        self.active: dict[str, set[Task]] = {member_id: set() for member_id in processes}
        self.standby: dict[str, set[Task]] = {member_id: set() for member_id in processes}
        for member_id in sorted(processes):
            process_id = processes[member_id]
            self.processes.setdefault(process_id, _Process(process_id)).counts[member_id] = 0
            self._remember(_Member(process_id, member_id), previous.get(member_id, NO_TASKS))
        active_count = sum(each.task_count for each in subtopologies.values())
        standby_count = sum(each.task_count for each in subtopologies.values() if each.is_stateful)
        self.active_quota = _Quota(active_count, len(processes))
        self.quota = _Quota(active_count + standby_count * standby_replicas, len(processes))

    def _remember(self, member: _Member, tasks: Tasks) -> None:
        for task in each_task(tasks.active):
            self.had_active[task] = member
        for task in each_task(tasks.standby):
            self.had_standby.setdefault(task, []).append(member)

    def _count(self, member: _Member) -> int:
        return self.processes[member.process_id].counts[member.member_id]

    def _give(self, task: Task, member: _Member, to: Mapping[str, set[Task]]) -> int:
        """Returns how many tasks the member has then."""
        process = self.processes[member.process_id]
        process.tasks.add(task)
        process.counts[member.member_id] += 1
        to[member.member_id].add(task)
        return process.counts[member.member_id]

    # active tasks

    def assign_active(self) -> None:
        tasks = [
            (subtopology, partition)
            for subtopology, each in self.subtopologies.items()
            for partition in range(each.task_count)
        ]
        tasks.sort(key=lambda task: (task[1], task[0]))
        tasks = [task for task in tasks if not self._may_give_active(task, self.had_active.get(task))]
        tasks = [
            task
            for task in tasks
            if not self._may_give_active(task, self._least_loaded(self.had_standby.get(task, [])))
        ]
        queue = self._by_load()
        for task in sorted(tasks):
            process_id = heapq.heappop(queue)[1]
            process = self.processes[process_id]
            self._give_active(task, process.least_loaded_member())
            heapq.heappush(queue, (process.load, process_id))

    def _by_load(self) -> list[tuple[float, str]]:
        queue = [(process.load, process_id) for process_id, process in self.processes.items()]
        heapq.heapify(queue)
        return queue

    def _may_give_active(self, task: Task, member: _Member | None) -> bool:
        if member is None or self._count(member) >= self.active_quota.limit:
            return False
        self._give_active(task, member)
        return True

    def _give_active(self, task: Task, member: _Member) -> None:
        count = self._give(task, member, self.active)
        self.active_quota.note(count)
        self.quota.note(count)

    def _least_loaded(self, members: Iterable[_Member]) -> _Member | None:
        return min(
            members,
            key=lambda member: (self.processes[member.process_id].load, self._count(member)),
            default=None,
        )

    # standbys

    def assign_standbys(self) -> None:
        tasks = [
            (subtopology, partition)
            for subtopology, each in self.subtopologies.items()
            if each.is_stateful
            for partition in range(each.task_count)
        ]
        tasks.sort(key=lambda task: (task[1], task[0]), reverse=True)
        open_copies: dict[Task, int] = {}
        for task in tasks:
            for number in range(self.standby_replicas):
                if not self._may_keep_standby(task):
                    open_copies[task] = self.standby_replicas - number
                    break
        queue = self._by_load()
        for task in sorted(open_copies, reverse=True):
            for _ in range(open_copies[task]):
                if not self._give_standby_to_least_loaded(task, queue):
                    break

    def _may_keep_standby(self, task: Task) -> bool:
        """With the member that had the active task, or else with one that had a standby."""
        candidates = [self.had_active[task]] if task in self.had_active else []
        candidates += sorted(
            self.had_standby.get(task, []), key=lambda member: self.processes[member.process_id].load
        )
        for member in candidates:
            is_free = task not in self.processes[member.process_id].tasks
            if is_free and self._count(member) < self.quota.limit:
                self.quota.note(self._give(task, member, self.standby))
                return True
        return False

    def _give_standby_to_least_loaded(self, task: Task, queue: list[tuple[float, str]]) -> bool:
        """False if each process has the task already."""
        seen = []
        while queue and task in self.processes[queue[0][1]].tasks:
            seen.append(heapq.heappop(queue))
        is_found = bool(queue)
        if is_found:
            process = self.processes[heapq.heappop(queue)[1]]
            self.quota.note(self._give(task, process.least_loaded_member(), self.standby))
            seen.append((process.load, process.process_id))
        for entry in seen:
            heapq.heappush(queue, entry)
        return is_found


def assign_tasks(
    processes: Mapping[str, str],
    subtopologies: Mapping[str, ConfiguredSubtopology],
    previous: Mapping[str, Tasks],
    standby_replicas: int,
) -> dict[str, Tasks]:
    """The tasks of each member; `processes` says of each member in which process it is."""
    if not processes:
        return {}
    assignment = _Assignment(processes, subtopologies, previous, standby_replicas)
    assignment.assign_active()
    if standby_replicas:
        assignment.assign_standbys()
    return {
        member_id: Tasks(_grouped(assignment.active[member_id]), _grouped(assignment.standby[member_id]), {})
        for member_id in processes
    }


def _grouped(tasks: Iterable[Task]) -> dict[str, frozenset[int]]:
    grouped: dict[str, set[int]] = {}
    for subtopology, partition in tasks:
        grouped.setdefault(subtopology, set()).add(partition)
    return {subtopology: frozenset(partitions) for subtopology, partitions in grouped.items()}
