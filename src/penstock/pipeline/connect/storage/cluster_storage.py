"""The three topics of a Connect cluster as a worker sees them: what they say now, and how to write to them.

States change only when their records come back from Kafka. A write returns when it has been replayed; after
a write of one's own with a `FencedWriter`, `replayed` waits for that.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress

from penstock.client.table.topic_log import TopicLog
from penstock.client.table.writer import FencedWriter, PlainWriter
from penstock.pipeline.connect.settings import ConnectSettings
from penstock.pipeline.connect.storage import config_records
from penstock.pipeline.connect.storage.config_state import ConfigState, Said, Unreadable
from penstock.pipeline.connect.storage.offset_topics import OffsetTopics
from penstock.pipeline.connect.storage.status_state import StatusState
from penstock.pipeline.connect.storage.topic import config_topic, status_topic
from penstock.records.reader import Record
from penstock.wire_client import Cluster

log = logging.getLogger("penstock.connect.storage")


class ClusterStorage:
    """`on_said` hears what the config topic says, once all that was there at the start is read."""

    def __init__(self, settings: ConnectSettings, on_said: Callable[[Said], None]) -> None:
        self.settings = settings
        self.configs = ConfigState()
        self.statuses = StatusState()
        self.offset_topics = OffsetTopics(settings)
        self._on_said = on_said
        clients = settings.client_configs
        self.config_log = TopicLog(clients, config_topic(settings), self._replay_config, self._forget_configs)
        self.status_log = TopicLog(
            clients, status_topic(settings), self._replay_status, self._forget_statuses
        )
        self.logs = (self.config_log, self.status_log, self.offset_topics.main.log)
        self._plain: dict[str, PlainWriter] = {}

    # reading

    @property
    def is_ready(self) -> bool:
        return all(each.ready.is_set() for each in self.logs)

    @property
    def trouble(self) -> str:
        return next((each.trouble for each in self.logs if each.trouble), "")

    async def until_ready(self) -> None:
        for each in self.logs:
            await each.ready.wait()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.Task[None]]:
        """The task in the yielded value ends only if a topic is not fit to keep state."""
        task = asyncio.create_task(self._run())
        try:
            yield task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await self.offset_topics.close()
            for writer in self._plain.values():
                await writer.close()

    async def _run(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for each in self.logs:
                    group.create_task(each.run())
        except ExceptionGroup as several:
            raise several.exceptions[0] from None

    def _replay_config(self, record: Record) -> None:
        said = self.configs.replay(record.key, record.value, record.offset)
        if isinstance(said, Unreadable):
            log.warning("%s, offset %d: %s", self.config_log.name, record.offset, said.reason)
        elif said is not None and self.config_log.ready.is_set():
            self._on_said(said)

    def _replay_status(self, record: Record) -> None:
        problem = self.statuses.replay(record.key, record.value)
        if problem is not None:
            log.warning("%s, offset %d: %s", self.status_log.name, record.offset, problem)

    def _forget_configs(self) -> None:
        self.configs = ConfigState()

    def _forget_statuses(self) -> None:
        self.statuses = StatusState()

    async def read_configs_to_end(self, admin: Cluster) -> None:
        await self.config_log.read_to_end(admin)

    async def replayed(self, topic_log: TopicLog, last: Mapping[int, int]) -> None:
        for partition, offset in last.items():
            await topic_log.replayed(partition, offset)

    # writing

    def leader_writer(self) -> FencedWriter:
        """Of connectors' configs."""
        transactional_id = f"connect-cluster-{self.settings.group_id}"
        return FencedWriter(self.settings.client_configs, transactional_id, self.config_log.name)

    def owner_writer(self, name: str) -> FencedWriter:
        """Of what only the worker that runs a connector says: the configs of its tasks, and a sink's positions."""
        transactional_id = f"connect-cluster-{self.settings.group_id}:{name}"
        return FencedWriter(self.settings.client_configs, transactional_id, self.config_log.name)

    def offset_writer(self, name: str, topic: str) -> FencedWriter:
        transactional_id = f"connect-cluster-{self.settings.group_id}:{name}:offsets"
        return FencedWriter(self.settings.client_configs, transactional_id, topic)

    async def write_target_state(self, name: str, state: str) -> None:
        await self._write(self.config_log, [config_records.target_state(name, state)])

    async def write_logger_level(self, namespace: str, level: str) -> None:
        await self._write(self.config_log, [config_records.logger_level(namespace, level)])

    async def write_statuses(self, records: Iterable[tuple[bytes, bytes | None]]) -> None:
        await self._write(self.status_log, records)

    async def _write(self, topic_log: TopicLog, records: Iterable[tuple[bytes, bytes | None]]) -> None:
        writer = self._writer(topic_log.name)
        for key, value in records:
            partition, offset = await writer.write(key, value)
            await topic_log.replayed(partition, offset)

    def _writer(self, topic: str) -> PlainWriter:
        if topic not in self._plain:
            self._plain[topic] = PlainWriter(self.settings.client_configs, f"connect-{topic}", topic)
        return self._plain[topic]
