"""The programs that were deployed, as their topic says. The topic is made with the first of them, and not before."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from penstock.client.admin.topic_descriptions import TopicDescription, describe_topics
from penstock.client.table.topic import TableTopic, prepare_topic
from penstock.client.table.topic_log import TopicLog
from penstock.client.table.writer import PlainWriter
from penstock.pipeline.programs.deployed import DeployedProgram, UnreadableProgram, decode
from penstock.records.reader import Record
from penstock.wire_client import ClusterConfig, asyncio_cluster
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.programs")

LOOK_SECONDS: Final = 2.0
CONFIGS: Final = {"cleanup.policy": "compact"}


def programs_topic(name: str, replication_factor: int) -> TableTopic:
    return TableTopic(
        "program.storage.topic",
        name,
        1,
        replication_factor,
        "deployed programs",
        "platform",
        "pipeline's settings",
        has_one_partition=True,
        configs=CONFIGS,
    )


class ProgramStore:
    def __init__(
        self, client_configs: Mapping[str, str], topic: TableTopic, on_change: Callable[[], None]
    ) -> None:
        self.programs: dict[str, DeployedProgram] = {}
        self._configs, self._topic, self._on_change = client_configs, topic, on_change
        self._log = TopicLog(client_configs, topic, self._replay, self._forget)
        self._writer: PlainWriter | None = None
        self._is_there = asyncio.Event()

    async def run(self) -> None:
        """Until cancelled."""
        looking = asyncio.create_task(self._look_for_topic())
        try:
            await self._is_there.wait()
            await self._log.run()
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking
            if self._writer is not None:
                await self._writer.close()

    async def _look_for_topic(self) -> None:
        """Another process may make it."""
        async with asyncio_cluster(ClusterConfig.from_configs(self._configs)) as cluster:
            while not self._is_there.is_set():
                with suppress(KafkaError):
                    found = (await describe_topics(cluster, [self._topic.name]))[self._topic.name]
                    if isinstance(found, TopicDescription):
                        self._is_there.set()
                await asyncio.sleep(LOOK_SECONDS)

    async def write(self, program: DeployedProgram) -> None:
        await self._write(*program.record())

    async def delete(self, name: str) -> None:
        await self._write(name.encode(), None)

    async def _write(self, key: bytes, value: bytes | None) -> None:
        if not self._is_there.is_set():
            async with asyncio_cluster(ClusterConfig.from_configs(self._configs)) as cluster:
                await prepare_topic(cluster, self._topic)
            self._is_there.set()
        await self._log.ready.wait()
        if self._writer is None:
            self._writer = PlainWriter(self._configs, "penstock-programs", self._topic.name)
        written = await self._writer.write(key, value)
        await self._log.replayed(written.partition, written.offset)

    def _replay(self, record: Record) -> None:
        try:
            name, program = decode(record)
        except UnreadableProgram as error:
            log.warning("topic %s: %s; it is passed over", self._topic.name, error)
            return
        if program is None:
            self.programs.pop(name, None)
        else:
            self.programs[name] = program
        self._on_change()

    def _forget(self) -> None:
        self.programs.clear()
        self._on_change()
