"""Translates the offsets of consumer groups, and writes them down as checkpoints; if told to, it commits them for the
groups in the target, too.

All that it knows is in two topics, the offset syncs and its own checkpoints, which are read to their ends before
anything is decided. A checkpoint never takes a group back in the copy unless the group itself went back in the source.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from contextlib import ExitStack

from penstock.client.admin.consumer_groups import describe_consumer_group
from penstock.client.admin.group_offsets import CommittedOffset, alter_group_offsets, list_group_offsets
from penstock.client.admin.groups import GroupState
from penstock.errors import ErrorCode
from penstock.pipeline.connect.api.task import SourceTask
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.data.schema import BYTES
from penstock.pipeline.connect.errors import DataError, RetriableConnectError
from penstock.pipeline.mirror import remembered
from penstock.pipeline.mirror.clusters import cluster_of
from penstock.pipeline.mirror.configs import (
    CHECKPOINT_CONFIG,
    SOURCE,
    TARGET,
    TASK_GROUPS,
    offset_syncs_topic,
    replication_policy,
)
from penstock.pipeline.mirror.filters import topic_filter
from penstock.pipeline.mirror.formats import Checkpoint, OffsetSync
from penstock.pipeline.mirror.pace import Pace, wait_for
from penstock.pipeline.mirror.topic_tail import TopicTail
from penstock.pipeline.mirror.translation import OffsetTranslation
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.mirror")


class _Knowledge:
    """What the two topics say, and when what was done."""

    def __init__(
        self, syncs_topic: str, checkpoints_topic: str, emit_seconds: int, sync_seconds: int
    ) -> None:
        self._syncs, self._checkpoints = TopicTail(syncs_topic), TopicTail(checkpoints_topic)
        self.translation = OffsetTranslation()
        self.checkpoints: dict[str, dict[TopicPartition, Checkpoint]] = {}
        self.emission, self.group_sync = Pace(emit_seconds), Pace(sync_seconds)

    def read_syncs(self, cluster: Cluster) -> None:
        records = self._syncs.read(cluster)
        self.translation.add(
            OffsetSync.decode(record.key, record.value) for record in records if record.value
        )

    def read_checkpoints(self, target: Cluster) -> None:
        for record in self._checkpoints.read(target):
            try:
                checkpoint = Checkpoint.decode(record.key, record.value)
            except DataError as error:
                log.warning("%s, offset %d: %s", self._checkpoints.topic, record.offset, error)
            else:
                self.checkpoints.setdefault(checkpoint.group, {})[checkpoint.partition] = checkpoint

    def is_news(self, checkpoint: Checkpoint) -> bool:
        last = self.checkpoints.get(checkpoint.group, {}).get(checkpoint.partition)
        return (
            last is None
            or checkpoint.upstream_offset < last.upstream_offset
            or checkpoint.downstream_offset > last.downstream_offset
        )


class MirrorCheckpointTask(SourceTask):
    def start(self, configs: Mapping[str, str]) -> None:
        self.configs = configs
        parsed = CHECKPOINT_CONFIG.parse(configs)
        self._source_alias: str = parsed["source.cluster.alias"]
        self._target_alias: str = parsed["target.cluster.alias"]
        self._policy, self._topics = replication_policy(configs), topic_filter(configs)
        self._groups: list[str] = json.loads(configs[TASK_GROUPS])
        self._checkpoints_topic = self._policy.checkpoints_topic(self._source_alias)
        self._syncs_side, syncs_topic = offset_syncs_topic(configs)
        self._syncs_groups: bool = parsed["sync.group.offsets.enabled"]
        self._known = remembered.take(
            configs,
            lambda: _Knowledge(
                *(syncs_topic, self._checkpoints_topic),
                parsed["emit.checkpoints.interval.seconds"],
                parsed["sync.group.offsets.interval.seconds"],
            ),
        )
        self._open = ExitStack()
        self._source = self._open.enter_context(cluster_of(configs, SOURCE, "checkpoint"))
        self._target = self._open.enter_context(cluster_of(configs, TARGET, "checkpoint"))

    def stop(self) -> None:
        self._open.close()
        remembered.leave(self.configs, self._known)

    def poll(self) -> list[SourceRecord] | None:
        wait_for(self._seconds_left(), self.context)
        try:
            if self._known.emission.is_due() and (records := self._new_records()):
                return records
            if self._syncs_groups and self._known.group_sync.is_due():
                self._sync_groups()
        except KafkaError as error:
            raise RetriableConnectError(
                f"checkpoints of {self._source_alias}->{self._target_alias}: {error}"
            ) from error
        return None

    def _seconds_left(self) -> float:
        emission = self._known.emission.seconds_left
        return min(emission, self._known.group_sync.seconds_left) if self._syncs_groups else emission

    # --- checkpoints

    def _new_records(self) -> list[SourceRecord]:
        known = self._known
        known.read_syncs(self._source if self._syncs_side == SOURCE else self._target)
        known.read_checkpoints(self._target)
        news = [each for group in self._groups for each in self._translated(group) if known.is_news(each)]
        known.emission.done()
        timestamp = int(time.time() * 1000)
        return [self._record(checkpoint, timestamp) for checkpoint in news]

    def _translated(self, group: str) -> list[Checkpoint]:
        found: list[Checkpoint] = []
        for partition, committed in now(list_group_offsets(self._source, group)).items():
            if committed is None or not self._topics.takes(partition.topic):
                continue
            downstream = self._known.translation.translate(partition, committed.offset)
            if downstream is not None:
                copy = self._copy_of(partition)
                found.append(Checkpoint(group, copy, committed.offset, downstream, committed.metadata or ""))
        return found

    def _copy_of(self, partition: TopicPartition) -> TopicPartition:
        """In the target; what came from there has its own name there."""
        topic = partition.topic
        if self._policy.topic_source(topic) == self._target_alias:
            return partition._replace(topic=self._policy.original_topic(topic))
        return partition._replace(topic=self._policy.remote_topic(self._source_alias, topic))

    def _record(self, checkpoint: Checkpoint, timestamp: int) -> SourceRecord:
        key, value = checkpoint.encode()
        where = checkpoint.source_partition, {"offset": 0}
        return SourceRecord(*where, self._checkpoints_topic, value, BYTES, key, BYTES, 0, timestamp)

    # --- groups in the target

    def _sync_groups(self) -> None:
        self._known.read_checkpoints(self._target)
        for group in self._groups:
            checkpoints = self._known.checkpoints.get(group)
            if checkpoints and self._is_idle(group):
                self._sync_group(group, checkpoints)
        self._known.group_sync.done()

    def _is_idle(self, group: str) -> bool:
        """Nobody is in it, or there is no such group yet."""
        try:
            state = now(describe_consumer_group(self._target, group)).state
        except KafkaError as error:
            if error.code == ErrorCode.GROUP_ID_NOT_FOUND:
                return True
            raise
        return state in (GroupState.EMPTY, GroupState.DEAD)

    def _sync_group(self, group: str, checkpoints: Mapping[TopicPartition, Checkpoint]) -> None:
        there = now(list_group_offsets(self._target, group, checkpoints))
        wanted = {
            partition: CommittedOffset(each.downstream_offset, metadata=each.metadata)
            for partition, each in checkpoints.items()
            if _offset(there.get(partition)) < each.downstream_offset
        }
        for partition, error in (
            now(alter_group_offsets(self._target, group, wanted)).items() if wanted else ()
        ):
            if error is not None:
                log.warning("group %s of %s, %s: %s", group, self._target_alias, partition, error)


def _offset(committed: CommittedOffset | None) -> int:
    return -1 if committed is None else committed.offset
