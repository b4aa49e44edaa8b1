"""The topics of source offsets: the worker's, and those that connectors name with `offsets.storage.topic`.

A connector with a topic of its own still has what the worker's says where its own says nothing, as in Kafka Connect: it
may have got its own topic later.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from penstock.client.table.topic import WrongTopic
from penstock.client.table.topic_log import TopicLog
from penstock.pipeline.connect.settings import ConnectSettings
from penstock.pipeline.connect.storage.offset_state import KnownOffset, OffsetState
from penstock.pipeline.connect.storage.topic import offset_topic
from penstock.records.reader import Record

log = logging.getLogger("penstock.connect.storage")

OWN_TOPIC = "offsets.storage.topic"


class OffsetTopic:
    def __init__(self, settings: ConnectSettings, name: str) -> None:
        self.state = OffsetState()
        topic = replace(offset_topic(settings), name=name)
        self.log = TopicLog(settings.client_configs, topic, self._replay, self._forget)

    def _replay(self, record: Record) -> None:
        problem = self.state.replay(record.key, record.value)
        if problem is not None:
            log.warning("%s, offset %d: %s", self.log.name, record.offset, problem)

    def _forget(self) -> None:
        self.state = OffsetState()


class OffsetTopics:
    """`of` follows a connector's own topic from its first use on."""

    def __init__(self, settings: ConnectSettings) -> None:
        self._settings = settings
        self.main = OffsetTopic(settings, settings.offset_storage_topic)
        self._others: dict[str, tuple[OffsetTopic, asyncio.Task[None]]] = {}

    async def of(self, configs: Mapping[str, str]) -> list[OffsetTopic]:
        """Where a connector's offsets are, the one that it writes to first."""
        name = configs.get(OWN_TOPIC, "").strip()
        if not name or name == self.main.log.name:
            return [self.main]
        if name not in self._others or self._others[name][1].done():
            topic = OffsetTopic(self._settings, name)
            self._others[name] = topic, asyncio.create_task(topic.log.run())
        topic, running = self._others[name]
        ready = asyncio.create_task(topic.log.ready.wait())
        try:
            await asyncio.wait([running, ready], return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        if running.done():
            running.result()
        return [topic, self.main]

    async def close(self) -> None:
        for _, running in self._others.values():
            running.cancel()
            with suppress(asyncio.CancelledError, WrongTopic):
                await running


def merged(topics: list[OffsetTopic], name: str) -> list[KnownOffset]:
    """A connector's offsets; the first topic that has one counts."""
    found: dict[str, KnownOffset] = {}
    for topic in reversed(topics):
        found |= topic.state.connectors.get(name, {})
    return list(found.values())
