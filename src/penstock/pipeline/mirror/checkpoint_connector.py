"""`MirrorCheckpointConnector`: finds the groups whose offsets are to be translated, and divides them among tasks."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from penstock.client.admin.group_offsets import list_group_offsets
from penstock.client.admin.groups import list_consumer_groups
from penstock.pipeline.connect.api.connector import Configs, SourceConnector
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.mirror.checkpoint_task import MirrorCheckpointTask
from penstock.pipeline.mirror.clusters import cluster_of, ensure_compacted_topic
from penstock.pipeline.mirror.configs import (
    CHECKPOINT_CONFIG,
    SOURCE,
    TARGET,
    TASK_GROUPS,
    TASK_INDEX,
    missing_clusters,
    replication_policy,
)
from penstock.pipeline.mirror.filters import group_filter, topic_filter
from penstock.pipeline.mirror.schedule import Schedule
from penstock.pipeline.mirror.source_offsets import NUMBER, TEXT, ZERO, check_offsets
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.mirror")

STOP_SECONDS: Final = 5.0


class MirrorCheckpointConnector(SourceConnector):
    config_def = CHECKPOINT_CONFIG
    version = "4.3.1"
    task_class = MirrorCheckpointTask

    def start(self, configs: Configs) -> None:
        self.configs = configs
        self._parsed = CHECKPOINT_CONFIG.parse(configs)
        self._groups: list[str] = []
        self._schedule = Schedule(str(configs.get("name", "checkpoint")))
        if not self._is_enabled():
            return
        self._takes_group, self._takes_topic = group_filter(configs), topic_filter(configs)
        self._ensure_topic()
        self._groups = self._find_groups()
        if self._parsed["refresh.groups.enabled"]:
            seconds = self._parsed["refresh.groups.interval.seconds"]
            self._schedule.every(seconds, "refresh.groups", self._refresh_groups)
        self._schedule.start()

    def _is_enabled(self) -> bool:
        return bool(self._parsed["enabled"] and self._parsed["emit.checkpoints.enabled"])

    def stop(self) -> None:
        self._schedule.stop(STOP_SECONDS)

    @contextmanager
    def _source(self) -> Iterator[Cluster]:
        try:
            with cluster_of(self.configs, SOURCE, "checkpoint") as source:
                yield source
        except KafkaError as error:
            raise ConnectError(f"groups of {self._parsed['source.cluster.alias']}: {error}") from error

    def _ensure_topic(self) -> None:
        topic = replication_policy(self.configs).checkpoints_topic(self._parsed["source.cluster.alias"])
        try:
            with cluster_of(self.configs, TARGET, "checkpoint") as target:
                ensure_compacted_topic(target, topic, self._parsed["checkpoints.topic.replication.factor"])
        except KafkaError as error:
            raise ConnectError(f"checkpoints to {self._parsed['target.cluster.alias']}: {error}") from error

    def _find_groups(self) -> list[str]:
        """Those to translate that have an offset in a topic that is mirrored."""
        with self._source() as source:
            groups = [each.group_id for each in now(list_consumer_groups(source))]
            return sorted(
                group
                for group in groups
                if self._takes_group.takes(group) and self._is_relevant(source, group)
            )

    def _is_relevant(self, source: Cluster, group: str) -> bool:
        offsets = now(list_group_offsets(source, group))
        return any(self._takes_topic.takes(partition.topic) for partition in offsets)

    def _refresh_groups(self) -> None:
        groups = self._find_groups()
        if groups != self._groups:
            log.info("groups of %s are now %s", self._parsed["source.cluster.alias"], ", ".join(groups))
            self._groups = groups
            self.context.request_task_reconfiguration()

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        count = min(max_tasks, len(self._groups))
        return [
            {**self.configs, TASK_GROUPS: json.dumps(self._groups[number::count]), TASK_INDEX: str(number)}
            for number in range(count)
        ]

    # --- what may be configured

    def validate(self, configs: Configs) -> dict[str, list[str]]:
        errors = missing_clusters(configs, SOURCE, TARGET)
        if configs.get("enabled", "true") == "false":
            return errors
        if configs.get("emit.checkpoints.enabled") == "false":
            errors["emit.checkpoints.enabled"] = [
                "MirrorCheckpointConnector can't run with emit.checkpoints.enabled set to false"
            ]
        if configs.get("emit.offset-syncs.enabled") == "false":
            errors["emit.offset-syncs.enabled"] = ["MirrorCheckpointConnector can't run without offset syncs"]
        return errors

    def alter_offsets(
        self, configs: Configs, offsets: Mapping[str, Mapping[str, Any] | None] | list[Any]
    ) -> bool:
        check_offsets(list(offsets), {"group": TEXT, "topic": TEXT, "partition": NUMBER}, ZERO)
        return True
