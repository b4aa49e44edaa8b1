"""Tasks, the units of work of a Kafka Streams program: a subtopology and a partition of what it reads.

An *active* task processes records; a *standby* keeps a copy of an active task's state; a *warm-up* builds one for a
member that shall get the active task.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

Partitions = Mapping[str, frozenset[int]]
"""Of each subtopology; none is empty."""
PartitionEpochs = Mapping[str, Mapping[int, int]]
"""Partitions of each subtopology, each with the epoch in which its owner got it."""

Task = tuple[str, int]
"""Subtopology and partition."""


class Tasks(NamedTuple):
    active: Partitions
    standby: Partitions
    warmup: Partitions


class HeldTasks(NamedTuple):
    """Tasks that a member has; of the active ones it is known since when."""

    active: PartitionEpochs
    standby: Partitions
    warmup: Partitions

    @property
    def is_empty(self) -> bool:
        return not (self.active or self.standby or self.warmup)

    def overlaps(self, tasks: Tasks) -> bool:
        pairs = zip(self, tasks, strict=True)
        return any(
            not set(mine[subtopology]).isdisjoint(theirs[subtopology])
            for mine, theirs in pairs
            for subtopology in mine.keys() & theirs.keys()
        )

    def are_just(self, tasks: Tasks) -> bool:
        """Whether these are all, and the only ones."""
        active = {subtopology: frozenset(epochs) for subtopology, epochs in self.active.items()}
        return Tasks(active, self.standby, self.warmup) == tasks


NO_TASKS = Tasks({}, {}, {})
HOLDS_NOTHING = HeldTasks({}, {}, {})


def decode_partitions(entries: Iterable[Any]) -> Partitions:
    """Of messages that have a `subtopology_id` and `partitions`."""
    return {entry.subtopology_id: frozenset(entry.partitions) for entry in entries if entry.partitions}


def in_order(tasks: Mapping[str, Iterable[int]]) -> Iterator[tuple[str, list[int]]]:
    """As it is told and stored: subtopologies by name, each with its partitions."""
    return ((subtopology, sorted(tasks[subtopology])) for subtopology in sorted(tasks))


def each_task(tasks: Mapping[str, Iterable[int]]) -> Iterator[Task]:
    return ((subtopology, partition) for subtopology, partitions in tasks.items() for partition in partitions)
