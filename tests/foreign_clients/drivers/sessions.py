"""What stays open between two steps of a test: a member of a group, a transactional producer, a share consumer.

A member reads on by itself in the background, as an application would, and remembers what it saw; the test looks
at it until it has seen enough. A transactional producer and a share consumer move only when they are told to.
"""

from __future__ import annotations

import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from tests.support.processes import wait_for

if TYPE_CHECKING:
    from tests.foreign_clients.drivers.model import Client, Consumed, Record

TopicAndPartition = tuple[str, int]
T = TypeVar("T")

SESSION_TIMEOUT_MS = 30_000
HEARTBEAT_INTERVAL_MS = 300  # of members that choose it themselves: a rebalance is noticed soon
METADATA_MAX_AGE_MS = 1_000  # a new topic is noticed soon
ANSWER_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class Committed:
    offset: int
    metadata: str = ""


Offsets = Mapping[TopicAndPartition, Committed]


def offsets_to_json(offsets: Offsets) -> list[list[Any]]:
    return [[topic, partition, at.offset, at.metadata] for (topic, partition), at in offsets.items()]


def offsets_from_json(nodes: Iterable[Sequence[Any]]) -> dict[TopicAndPartition, Committed]:
    return {(node[0], node[1]): Committed(node[2], node[3] or "") for node in nodes}


@dataclass(frozen=True)
class Membership:
    """How to take part in a group. Protocol is classic (eager), cooperative (classic as well) or consumer.

    With `assigned` the consumer does not join: it reads these partitions and uses the group for offsets only.
    """

    group: str
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    assigned: tuple[TopicAndPartition, ...] = ()
    protocol: str = "classic"
    instance_id: str | None = None
    isolation: str = "read_uncommitted"

    def to_json(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "topics": list(self.topics),
            "pattern": self.pattern,
            "places": [list(each) for each in self.assigned],
            "protocol": self.protocol,
            "instance_id": self.instance_id,
            "isolation": self.isolation,
        }


class Member(ABC):
    """One consumer; starts at the committed offset, or at the earliest."""

    @abstractmethod
    def assignment(self) -> set[TopicAndPartition]: ...

    @abstractmethod
    def records(self) -> list[Consumed]:
        """All that it has read so far."""

    @abstractmethod
    def rebalances(self) -> int:
        """How often its library has told it what it owns."""

    @abstractmethod
    def revoked(self) -> list[TopicAndPartition]:
        """Every partition that it was told to give up, as often as it was told."""

    @abstractmethod
    def commit(self, offsets: Offsets) -> None: ...

    @abstractmethod
    def committed(self, partitions: Sequence[TopicAndPartition]) -> dict[TopicAndPartition, Committed]:
        """What a consumer sees; partitions without a committed offset are left out."""

    @abstractmethod
    def close(self) -> None:
        """Leaves the group, unless it is a static member."""


class TransactionalProducer(ABC):
    @abstractmethod
    def begin(self) -> None: ...

    @abstractmethod
    def send(self, topic: str, records: Sequence[Record]) -> None:
        """Returns when the broker has them all."""

    def send_offsets(self, offsets: Offsets, member: Member) -> None:
        raise NotImplementedError

    @abstractmethod
    def commit(self) -> None: ...

    @abstractmethod
    def abort(self) -> None: ...

    @abstractmethod
    def close(self) -> None:
        """Goes away without ending the transaction, as far as the library lets it."""


@dataclass(frozen=True)
class Shared:
    """A record as a share group delivers it."""

    topic: str
    partition: int
    offset: int
    value: bytes | None
    delivery_count: int


class ShareMember(ABC):
    @abstractmethod
    def poll(self) -> list[Shared]:
        """What comes within a moment; maybe nothing."""

    @abstractmethod
    def acknowledge(self, record: Shared, how: str) -> None:
        """How is accept, release or reject."""

    @abstractmethod
    def commit(self) -> None:
        """Returns when the broker has the acknowledgements."""

    @abstractmethod
    def close(self) -> None: ...


class PolledMember(Member):
    """For a library that wants to be polled, by one thread only: that thread also does what the test asks for.

    A subclass says how to open, poll and close; a failure ends the thread and meets the test at its next look.
    """

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
        self._seen: list[Consumed] = []
        self._owned: set[TopicAndPartition] = set()
        self._rebalances = 0
        self._revoked: list[TopicAndPartition] = []
        self._failure: BaseException | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> PolledMember:
        self._thread.start()
        return self

    @abstractmethod
    def _open(self) -> None: ...

    @abstractmethod
    def _poll(self) -> list[Consumed]: ...

    @abstractmethod
    def _assigned(self) -> set[TopicAndPartition]: ...

    @abstractmethod
    def _shut(self) -> None: ...

    def _run(self) -> None:
        try:
            self._open()
        except BaseException as failure:
            self._failure = failure
            return
        try:
            while not self._closing:
                self._do_tasks()
                self._seen += self._poll()
                self._owned = self._assigned()
        except BaseException as failure:
            self._failure = failure
        finally:
            self._do_tasks()
            self._shut()

    def _do_tasks(self) -> None:
        while not self._tasks.empty():
            task, future = self._tasks.get()
            try:
                future.set_result(task())
            except BaseException as failure:
                future.set_exception(failure)

    def in_its_thread(self, task: Callable[[], T]) -> T:
        self._raise_failure()
        future: Future[T] = Future()
        self._tasks.put((task, future))
        return future.result(ANSWER_TIMEOUT_SECONDS)

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def assignment(self) -> set[TopicAndPartition]:
        self._raise_failure()
        return set(self._owned)

    def records(self) -> list[Consumed]:
        self._raise_failure()
        return list(self._seen)

    def rebalances(self) -> int:
        return self._rebalances

    def revoked(self) -> list[TopicAndPartition]:
        return list(self._revoked)

    def close(self) -> None:
        self._closing = True
        self._thread.join(ANSWER_TIMEOUT_SECONDS)
        assert not self._thread.is_alive(), "the consumer does not close"


def transform_step_by_step(
    client: Client, source: str, target: str, group: str, transactional_id: str, count: int, commit: bool
) -> None:
    """Reads `count` records in the group and writes them on, with the offsets, in one transaction."""
    member = client.open_member(Membership(group, (source,), isolation="read_committed"))
    producer = client.open_transactional_producer(transactional_id)
    try:
        wait_for(lambda: len(member.records()) >= count, what="the records to transform")
        taken = member.records()[:count]
        producer.begin()
        producer.send(target, [each.record for each in taken])
        producer.send_offsets({(source, 0): Committed(taken[-1].offset + 1, "transformed")}, member)
        if commit:
            producer.commit()
        else:
            producer.abort()
    finally:
        producer.close()
        member.close()
