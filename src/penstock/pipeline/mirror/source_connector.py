"""`MirrorSourceConnector`: finds the topics to mirror, sees to their copies, divides partitions among tasks."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from penstock.client.admin.list_offsets import IsolationLevel
from penstock.pipeline.connect.api.connector import Configs, SourceConnector
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.mirror.clusters import cluster_of, end_offsets, ensure_compacted_topic
from penstock.pipeline.mirror.configs import (
    READ_COMMITTED,
    SOURCE,
    SOURCE_CONFIG,
    TARGET,
    TASK_INDEX,
    TASK_PARTITIONS,
    TASK_STARTS,
    client_configs,
    missing_clusters,
    offset_syncs_topic,
)
from penstock.pipeline.mirror.schedule import Schedule
from penstock.pipeline.mirror.source_offsets import NATURAL, NUMBER, TEXT, check_offsets
from penstock.pipeline.mirror.source_task import MirrorSourceTask, encode_partitions
from penstock.pipeline.mirror.topic_sync import TopicSync
from penstock.types import TopicPartition
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.mirror")

STOP_SECONDS: Final = 5.0
_SYNC_PREFIXES: Final = ("offset-syncs-", "offset-syncs.topic.")


class MirrorSourceConnector(SourceConnector):
    config_def = SOURCE_CONFIG
    version = "4.3.1"
    task_class = MirrorSourceTask

    def start(self, configs: Configs) -> None:
        self.configs = configs
        self._parsed = SOURCE_CONFIG.parse(configs)
        self._topics: dict[str, int] = {}
        self._starts: dict[TopicPartition, int] = {}
        self._schedule = Schedule(str(configs.get("name", "source")))
        if not self._parsed["enabled"]:
            return
        self._sync = TopicSync(configs, self._parsed)
        with self._clusters() as (source, target):
            self._ensure_syncs_topic()
            self._topics = self._mirrored(source, target)
            self._look_where_to_start(source)
        self._plan_chores()
        self._schedule.start()

    def _plan_chores(self) -> None:
        chores = (
            ("refresh.topics", self._refresh_topics, False),
            ("sync.topic.configs", self._sync_configs, True),
            ("sync.topic.acls", self._sync_acls, True),
        )
        for key, do, at_once in chores:
            if self._parsed[f"{key}.enabled"]:
                self._schedule.every(self._parsed[f"{key}.interval.seconds"], key, do, at_once=at_once)

    def stop(self) -> None:
        self._schedule.stop(STOP_SECONDS)

    # --- topics

    @contextmanager
    def _clusters(self) -> Iterator[tuple[Cluster, Cluster]]:
        try:
            with (
                cluster_of(self.configs, SOURCE, "replication") as source,
                cluster_of(self.configs, TARGET, "replication") as target,
            ):
                yield source, target
        except KafkaError as error:
            raise ConnectError(f"mirroring {self._flow}: {error}") from error

    @property
    def _flow(self) -> str:
        return f"{self._parsed['source.cluster.alias']}->{self._parsed['target.cluster.alias']}"

    def _ensure_syncs_topic(self) -> None:
        if self._parsed["emit.offset-syncs.enabled"]:
            side, topic = offset_syncs_topic(self.configs)
            with cluster_of(self.configs, side, "offset-syncs") as cluster:
                ensure_compacted_topic(cluster, topic, self._parsed["offset-syncs.topic.replication.factor"])

    def _mirrored(self, source: Cluster, target: Cluster) -> dict[str, int]:
        """Topics whose copies are there; ConnectError if there are topics, and no copy can be had."""
        topics = self._sync.source_topics(source)
        refused = self._sync.ensure_copies(source, target, topics)
        for reason in refused.values():
            log.warning("%s: %s", self._flow, reason)
        if topics and len(refused) == len(topics):
            raise ConnectError(next(iter(refused.values())))
        return {topic: count for topic, count in sorted(topics.items()) if topic not in refused}

    def _look_where_to_start(self, source: Cluster) -> None:
        """With `auto.offset.reset=latest`: the end as it is now, for partitions that no task has copied from yet. Each
        task of a tick would else begin at the end of its own time, and miss what comes between ticks."""
        consumer = client_configs(self.configs, SOURCE, "consumer", "")
        new = [each for each in self._partitions() if each not in self._starts]
        if consumer["auto.offset.reset"] == "latest":
            level = IsolationLevel[consumer["isolation.level"].upper()]
            self._starts |= end_offsets(source, new, level)

    def _refresh_topics(self) -> None:
        with self._clusters() as (source, target):
            topics = self._mirrored(source, target)
            if topics == self._topics:
                return
            log.info("%s: topics are now %s", self._flow, ", ".join(topics))
            self._topics = topics
            self._look_where_to_start(source)
        self.context.request_task_reconfiguration()

    def _sync_configs(self) -> None:
        with self._clusters() as (source, target):
            self._sync.sync_configs(source, target, self._topics)

    def _sync_acls(self) -> None:
        with self._clusters() as (source, target):
            self._sync.sync_acls(source, target)

    # --- tasks

    def _partitions(self) -> list[TopicPartition]:
        return [
            TopicPartition(topic, number) for topic, count in self._topics.items() for number in range(count)
        ]

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Partitions are dealt out in turn, so that those of a large topic go to all tasks."""
        partitions = self._partitions()
        count = min(max_tasks, len(partitions))
        return [self._task_config(number, partitions[number::count]) for number in range(count)]

    def _task_config(self, number: int, partitions: list[TopicPartition]) -> dict[str, str]:
        starts = {str(each): self._starts[each] for each in partitions if each in self._starts}
        return {
            **self.configs,
            TASK_PARTITIONS: encode_partitions(partitions),
            TASK_INDEX: str(number),
            **({TASK_STARTS: json.dumps(starts)} if starts else {}),
        }

    # --- what may be configured

    def validate(self, configs: Configs) -> dict[str, list[str]]:
        errors = missing_clusters(configs, SOURCE, TARGET)
        if configs.get("exactly.once.support", "").lower() == "required" and not self.supports_exactly_once(
            configs
        ):
            errors["exactly.once.support"] = [
                "MirrorSourceConnector can only provide exactly-once guarantees when its source consumer is "
                "configured with isolation.level set to 'read_committed'; otherwise, records from aborted and "
                "uncommitted transactions will be replicated from the source cluster to the target cluster."
            ]
        has_sync_keys = any(name.startswith(_SYNC_PREFIXES) for name in configs)
        if configs.get("emit.offset-syncs.enabled") == "false" and has_sync_keys:
            errors["emit.offset-syncs.enabled"] = [
                "MirrorSourceConnector can't setup offset-syncs feature while "
                "emit.offset-syncs.enabled set to false"
            ]
        return errors

    def supports_exactly_once(self, configs: Configs) -> bool:
        given = {"source.cluster.bootstrap.servers": "unknown", **configs}
        return client_configs(given, SOURCE, "consumer", "")["isolation.level"] == READ_COMMITTED

    def alter_offsets(
        self, configs: Configs, offsets: Mapping[str, Mapping[str, Any] | None] | list[Any]
    ) -> bool:
        check_offsets(list(offsets), {"cluster": TEXT, "topic": TEXT, "partition": NUMBER}, NATURAL)
        return True
