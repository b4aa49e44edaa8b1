"""Creates the topics that Kafka Streams programs keep for themselves: changelogs and repartition topics.

A program's members ask for them with every heartbeat until they are there, so nobody waits. Why one can't be created is
told to the members for a while, in which it is not tried again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from penstock.broker.topics import DEFAULT
from penstock.clock import Clock
from penstock.errors import ApiError
from penstock.group.streams.topics import MISSING_INTERNAL_TOPICS, InternalTopic
from penstock.wire.messages.streams_group_heartbeat import StreamsGroupHeartbeatResponse

log = logging.getLogger("penstock.broker.streams_topics")

MOST_AT_ONCE = 100
MOST_FAILURES_REMEMBERED = 1000
MOST_FAILURES_TOLD = 3

CreateTopic = Callable[[str, int, int, dict[str, str]], Awaitable[None]]
"""Of its name, partitions, replicas and configs."""


class StreamsTopics:
    def __init__(self, loop: asyncio.AbstractEventLoop, clock: Clock, create: CreateTopic) -> None:
        self._loop = loop
        self._clock = clock
        self._create_topic = create
        self._creating: dict[str, asyncio.Task[None]] = {}
        self._failures: dict[str, tuple[str, int]] = {}
        """What went wrong, and until when that counts."""

    def create(
        self, response: StreamsGroupHeartbeatResponse, topics: Mapping[str, InternalTopic], patience_ms: int
    ) -> None:
        """Begins to create what is not about to be; the response tells of what failed lately."""
        now_ms = self._clock.now_ms()
        failed = [name for name in topics if self._has_failed(name, now_ms)]
        for name, topic in topics.items():
            if len(self._creating) == MOST_AT_ONCE:
                break  # the others have their turn with the next heartbeat
            if name not in self._creating and name not in failed:
                task = self._loop.create_task(self._create(topic, patience_ms))
                self._creating[name] = task
        if failed:
            self._tell(response, failed)

    def _has_failed(self, name: str, now_ms: int) -> bool:
        known = self._failures.get(name)
        return known is not None and now_ms < known[1]

    def _tell(self, response: StreamsGroupHeartbeatResponse, failed: list[str]) -> None:
        told = ", ".join(f"{name} ({self._failures[name][0]})" for name in failed[:MOST_FAILURES_TOLD])
        more = len(failed) - MOST_FAILURES_TOLD
        if more > 0:
            told += f" and {more} more"
        for status in response.status or ():
            if status.status_code == MISSING_INTERNAL_TOPICS:
                status.status_detail += f"; Creation failed: {told}."

    async def _create(self, topic: InternalTopic, patience_ms: int) -> None:
        replicas = topic.replication_factor or DEFAULT
        try:
            await self._create_topic(topic.name, topic.partitions, replicas, dict(topic.configs))
        except ApiError as error:
            log.warning("the topic %s of a streams group can't be created: %s", topic.name, error.message)
            self._note_failure(topic.name, error.message or error.code.name, patience_ms)
        finally:
            del self._creating[topic.name]

    def _note_failure(self, name: str, message: str, patience_ms: int) -> None:
        now_ms = self._clock.now_ms()
        self._failures = {known: failure for known, failure in self._failures.items() if now_ms < failure[1]}
        while len(self._failures) >= MOST_FAILURES_REMEMBERED:
            del self._failures[next(iter(self._failures))]
        self._failures[name] = message, now_ms + patience_ms

    def close(self) -> None:
        for task in self._creating.values():
            task.cancel()
