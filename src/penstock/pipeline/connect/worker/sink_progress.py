"""How far a sink connector has come: its partitions, where to go on in each, and what its group has committed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from penstock.client.admin.group_offsets import CommittedOffset, alter_group_offsets, list_group_offsets
from penstock.pipeline.connect.tasks.work import TaskReport
from penstock.pipeline.connect.worker.sink_partitions import find_partitions, group_of
from penstock.pipeline.connect.worker.ticks import ConnectorTasks
from penstock.types import TopicPartition
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.connect.worker")


class SinkProgress:
    def __init__(
        self, name: str, configs: Mapping[str, str], admin: Cluster, refresh_interval_ms: int
    ) -> None:
        self._name = name
        self._configs = configs
        self._group = group_of(name, configs)
        self._admin = admin
        self._refresh_seconds = refresh_interval_ms / 1000
        self._refreshed_at = float("-inf")
        self._uncommitted: dict[TopicPartition, int] = {}

    async def refresh(self, tasks: ConnectorTasks, now: float, *, is_forced: bool) -> None:
        """Partitions come and go; where to go on in new ones is what the group has committed."""
        if not is_forced and now < self._refreshed_at + self._refresh_seconds:
            return
        found = await find_partitions(self._admin, self._configs)
        new = [TopicPartition(*each) for each in found if each not in tasks.positions]
        committed = await list_group_offsets(self._admin, self._group, new) if new else {}
        for (topic, partition), at in committed.items():
            if at is not None:
                tasks.positions[topic, partition] = at.offset
        tasks.partitions = found
        self._refreshed_at = now

    async def commit(self, reports: Iterable[TaskReport]) -> None:
        """What cannot be committed now is tried again with the next reports."""
        for report in reports:
            self._uncommitted |= {TopicPartition(*each): offset for each, offset in report.positions.items()}
        if not self._uncommitted:
            return
        wanted = {each: CommittedOffset(offset) for each, offset in self._uncommitted.items()}
        try:
            refusals = await alter_group_offsets(self._admin, self._group, wanted)
        except KafkaError as error:
            log.warning("connector %s: offsets of %s wait: %s", self._name, self._group, error)
            return
        for partition, refusal in refusals.items():
            if refusal is None:
                self._uncommitted.pop(partition, None)
            else:
                log.warning("connector %s: %s of %s waits: %s", self._name, partition, self._group, refusal)
