"""Live members of a group, in the process of the test, for the tools to look at.

All calls to a consumer come from one thread, its own: a call that another thread makes while this one polls
may wait for ever, with Python's lock held.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    KafkaError,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

from tests.support.processes import wait_for

PROTOCOLS = ("classic", "consumer")
POLL_SECONDS = 0.1
TIMEOUT_SECONDS = 30.0

Offsets = Mapping[tuple[str, int], int]


def _partitions(offsets: Offsets) -> list[TopicPartition]:
    return [TopicPartition(topic, partition, offset) for (topic, partition), offset in offsets.items()]


class Member:
    """A consumer that polls in a thread of its own, and thus takes part in every rebalance."""

    def __init__(self, bootstrap: str, group: str, topics: Sequence[str], **settings: Any) -> None:
        named = {key.replace("_", "."): value for key, value in settings.items()}
        self.consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "log_level": 0,
                **named,
            }
        )
        self.consumer.subscribe(list(topics))
        self.assignment: set[tuple[str, int]] = set()
        self.id = ""
        self._to_commit: queue.SimpleQueue[tuple[Offsets, threading.Event]] = queue.SimpleQueue()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ending.is_set():
            self.consumer.poll(POLL_SECONDS)
            self.assignment = {(each.topic, each.partition) for each in self.consumer.assignment()}
            self.id = str(self.consumer.memberid())
            while not self._to_commit.empty():
                offsets, done = self._to_commit.get()
                self.consumer.commit(offsets=_partitions(offsets), asynchronous=False)
                done.set()
        self.consumer.close()

    def commit(self, offsets: Offsets) -> None:
        done = threading.Event()
        self._to_commit.put((offsets, done))
        assert done.wait(TIMEOUT_SECONDS), f"no answer to the commit of {offsets}"

    def close(self) -> None:
        """Leaves the group, unless it is a static member."""
        self._ending.set()
        self._thread.join()


@contextmanager
def member(
    bootstrap: str, group: str, topics: Sequence[str], *, partitions: int, **settings: Any
) -> Iterator[Member]:
    """A member that has been assigned so many partitions, of a group that has settled."""
    joined = Member(bootstrap, group, topics, **settings)
    try:
        wait_for(lambda: len(joined.assignment) == partitions, what=f"{partitions} partitions")
        wait_until_stable(bootstrap, group)
        yield joined
    finally:
        joined.close()


def _admin(bootstrap: str) -> AdminClient:
    """To be kept while it works: one that is let go ends the calls that are under way."""
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})


def wait_until_stable(bootstrap: str, group: str) -> None:
    admin = _admin(bootstrap)

    def is_stable() -> bool:
        described = admin.describe_consumer_groups([group])[group].result(TIMEOUT_SECONDS)
        return bool(described.state == ConsumerGroupState.STABLE)

    wait_for(is_stable, what=f"group {group} to settle")


# What a coordinator answers that has yet to take up its work.
NOT_YET = (KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_LOAD_IN_PROGRESS)


def commit_alone(bootstrap: str, group: str, offsets: Offsets) -> None:
    """Commits without a member, which makes the group if there is none."""
    admin = _admin(bootstrap)
    request = ConsumerGroupTopicPartitions(group, _partitions(offsets))

    def is_accepted() -> bool:
        [answer] = admin.alter_consumer_group_offsets([request]).values()
        errors = [each.error for each in answer.result(TIMEOUT_SECONDS).topic_partitions]
        assert all(error is None or error.code() in NOT_YET for error in errors), errors
        return not any(errors)

    wait_for(is_accepted, what="the coordinator")


def committed(bootstrap: str, group: str) -> dict[tuple[str, int], int]:
    """Every offset that the group has committed."""
    admin = _admin(bootstrap)
    [answer] = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
    found = answer.result(TIMEOUT_SECONDS).topic_partitions
    return {(each.topic, each.partition): each.offset for each in found}
