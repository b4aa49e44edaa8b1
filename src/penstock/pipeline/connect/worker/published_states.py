"""The states of a connector and its tasks in the status topic: what differs from what is there is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from penstock.pipeline.connect.storage.cluster_storage import ClusterStorage
from penstock.pipeline.connect.storage.status_state import (
    UNASSIGNED,
    Status,
    TopicStatus,
    connector_key,
    task_key,
    topic_key,
)

Record = tuple[bytes, bytes | None]


@dataclass(frozen=True, slots=True)
class Shown:
    task: int | None
    """None for the connector itself."""
    state: str
    trace: str | None
    version: str | None
    restart: Mapping[str, int]


class PublishedStates:
    def __init__(
        self, name: str, storage: ClusterStorage, worker_id: str, generation: Callable[[], int]
    ) -> None:
        self._name = name
        self._storage = storage
        self._worker_id = worker_id
        self._generation = generation

    async def publish(self, shown: Sequence[Shown], config_offset: int | None) -> None:
        """Tasks that are not shown any more are removed."""
        await self._storage.write_statuses(
            [*self._changed(shown, config_offset), *self._removed_tasks(shown)]
        )

    def _changed(self, shown: Iterable[Shown], config_offset: int | None) -> Iterator[Record]:
        for each in shown:
            status = Status(
                each.state,
                self._worker_id,
                self._generation(),
                each.trace,
                each.version,
                dict(each.restart),
                config_offset,
            )
            known = self._known(each.task)
            if known is None or replace(known, generation=status.generation) != status:
                yield self._key(each.task), status.encoded()

    def _removed_tasks(self, shown: Iterable[Shown]) -> Iterator[Record]:
        kept = {each.task for each in shown}
        for number in sorted(self._storage.statuses.tasks.get(self._name, {})):
            if number not in kept:
                yield task_key(self._name, number), None

    async def release(self) -> None:
        """This worker does not run it any more; what another says of it already stays."""
        await self._storage.write_statuses([*self._released()])

    def _released(self) -> Iterator[Record]:
        statuses = self._storage.statuses
        for task in (None, *sorted(statuses.tasks.get(self._name, {}))):
            known = self._known(task)
            if known is not None and known.worker_id == self._worker_id:
                released = Status(
                    UNASSIGNED,
                    self._worker_id,
                    self._generation(),
                    version=known.version,
                    config_offset=known.config_offset,
                )
                yield self._key(task), released.encoded()

    async def remove(self) -> None:
        await self._storage.write_statuses(removal_of(self._name, self._storage))

    async def track(self, used: Iterable[tuple[str, int]], now_ms: int) -> None:
        """Topics and the task that used each."""
        known = self._storage.statuses.topics.get(self._name, {})
        new = {topic: task for topic, task in sorted(used, reverse=True) if topic not in known}
        await self._storage.write_statuses(
            [
                (topic_key(topic, self._name), TopicStatus(topic, self._name, task, now_ms).encoded())
                for topic, task in new.items()
            ]
        )

    def _known(self, task: int | None) -> Status | None:
        statuses = self._storage.statuses
        if task is None:
            return statuses.connectors.get(self._name)
        return statuses.tasks.get(self._name, {}).get(task)

    def _key(self, task: int | None) -> bytes:
        return connector_key(self._name) if task is None else task_key(self._name, task)


def removal_of(name: str, storage: ClusterStorage) -> list[Record]:
    """Of all that the status topic says of a connector that is gone."""
    statuses = storage.statuses
    return [
        *((task_key(name, task), None) for task in sorted(statuses.tasks.get(name, {}))),
        *((topic_key(topic, name), None) for topic in sorted(statuses.topics.get(name, {}))),
        *([(connector_key(name), None)] if name in statuses.connectors else []),
    ]
