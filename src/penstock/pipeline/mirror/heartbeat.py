"""`MirrorHeartbeatConnector`: a record now and then to the target's `heartbeats`. Copies of it show which clusters a
cluster is mirrored from, and that mirroring goes on."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from penstock.pipeline.connect.api.connector import Configs, SourceConnector
from penstock.pipeline.connect.api.task import SourceTask
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.data.schema import BYTES
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.mirror import remembered
from penstock.pipeline.mirror.clusters import cluster_of, ensure_compacted_topic
from penstock.pipeline.mirror.configs import HEARTBEAT_CONFIG, TARGET, missing_clusters, replication_policy
from penstock.pipeline.mirror.formats import Heartbeat
from penstock.pipeline.mirror.pace import Pace, wait_for
from penstock.pipeline.mirror.source_offsets import TEXT, ZERO, check_offsets
from penstock.wire_client.errors import KafkaError


class MirrorHeartbeatTask(SourceTask):
    def start(self, configs: Mapping[str, str]) -> None:
        self.configs = configs
        parsed = HEARTBEAT_CONFIG.parse(configs)
        self._source: str = parsed["source.cluster.alias"]
        self._target: str = parsed["target.cluster.alias"]
        self._topic = replication_policy(configs).heartbeats_topic
        seconds: int = parsed["emit.heartbeats.interval.seconds"]
        self._pace = remembered.take(configs, lambda: Pace(seconds))

    def poll(self) -> list[SourceRecord] | None:
        wait_for(self._pace.seconds_left, self.context)
        if not self._pace.is_due():
            return None
        self._pace.done()
        heartbeat = Heartbeat(self._source, self._target, int(time.time() * 1000))
        key, value = heartbeat.encode()
        where = heartbeat.source_partition, {"offset": 0}
        return [SourceRecord(*where, self._topic, value, BYTES, key, BYTES, 0, heartbeat.timestamp)]

    def stop(self) -> None:
        remembered.leave(self.configs, self._pace)


class MirrorHeartbeatConnector(SourceConnector):
    config_def = HEARTBEAT_CONFIG
    version = "4.3.1"
    task_class = MirrorHeartbeatTask

    def start(self, configs: Configs) -> None:
        self.configs = configs
        self._parsed = HEARTBEAT_CONFIG.parse(configs)
        if not self._parsed["emit.heartbeats.enabled"]:
            return
        topic, replicas = (
            replication_policy(configs).heartbeats_topic,
            self._parsed["heartbeats.topic.replication.factor"],
        )
        try:
            with cluster_of(configs, TARGET, "heartbeats") as target:
                ensure_compacted_topic(target, topic, replicas)
        except KafkaError as error:
            raise ConnectError(f"heartbeats to {self._parsed['target.cluster.alias']}: {error}") from error

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self.configs)] if self._parsed["emit.heartbeats.enabled"] else []

    def validate(self, configs: Configs) -> dict[str, list[str]]:
        return missing_clusters(configs, TARGET)

    def alter_offsets(
        self, configs: Configs, offsets: Mapping[str, Mapping[str, Any] | None] | list[Any]
    ) -> bool:
        check_offsets(list(offsets), {"sourceClusterAlias": TEXT, "targetClusterAlias": TEXT}, ZERO)
        return True
