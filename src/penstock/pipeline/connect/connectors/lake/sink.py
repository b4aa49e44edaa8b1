"""Kafka's records as files: the connector and its task. Positions are committed only for what lies in files, so
records that wait when the task ends are read again by the next one (see `partition_files`)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from penstock.errors import ConfigError
from penstock.pipeline.connect.api import ConfigDef, SinkConnector, SinkTask
from penstock.pipeline.connect.connectors.lake.commits import PartitionCommits
from penstock.pipeline.connect.connectors.lake.file_systems import files_of
from penstock.pipeline.connect.connectors.lake.lake_config import require_place, sink_keys
from penstock.pipeline.connect.connectors.lake.partition_files import PartitionFiles
from penstock.pipeline.connect.connectors.lake.partitioners import folder_of
from penstock.pipeline.connect.data import SinkRecord
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError

TopicPartition = tuple[str, int]


class LakeSinkTask(SinkTask):
    def start(self, configs: Mapping[str, str]) -> None:
        self._settings = settings = sink_keys().parse(configs)
        self._connector = configs.get("name", "lake")
        self._files = files_of(settings)
        self._partitions: dict[TopicPartition, PartitionFiles] = {}

    def put(self, records: Sequence[SinkRecord]) -> None:
        """The store is asked for a partition when its first record comes: idle ones cost nothing."""
        by_partition: dict[TopicPartition, list[SinkRecord]] = {}
        for record in records:
            by_partition.setdefault((record.original_topic, record.original_partition), []).append(record)
        try:
            for partition, of_partition in by_partition.items():
                self._of(partition).put(of_partition)
        except RetriableConnectError:
            self.context.timeout(self._settings["retry.backoff.ms"])
            raise

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        now_ms = time.time_ns() // 1_000_000
        for each in self._partitions.values():
            each.write_old(now_ms)
        return {partition: self._safe(partition, offset) for partition, offset in offsets.items()}

    def close(self, partitions: Sequence[TopicPartition]) -> None:
        for each in partitions:
            self._partitions.pop(each, None)

    def _of(self, partition: TopicPartition) -> PartitionFiles:
        found = self._partitions.get(partition)
        if found is None:
            commits = PartitionCommits(self._files, self._connector, *partition)
            name = "+".join(map(str, partition))
            found = PartitionFiles(commits, self._settings, name, self._refuse)
            self._partitions[partition] = found
        return found

    def _safe(self, partition: TopicPartition, offset: int) -> int:
        known = self._partitions.get(partition)
        waiting = None if known is None else known.first_waiting
        return offset if waiting is None else min(waiting, offset)

    def _refuse(self, record: SinkRecord, error: ConnectError) -> None:
        if self.context.report is None:
            raise error
        self.context.report(record, error)


class LakeSinkConnector(SinkConnector):
    """Writes records to Parquet, JSON or CSV files, each exactly once."""

    task_class = LakeSinkTask
    config_def: ClassVar[ConfigDef] = sink_keys()

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self.configs)] * max_tasks

    def validate(self, configs: Mapping[str, str]) -> dict[str, list[str]]:
        settings: dict[str, Any] = sink_keys().parse(configs)
        errors: dict[str, list[str]] = {}
        for check in (require_place, folder_of):
            try:
                check(settings)
            except ConfigError as error:
                errors.setdefault(str(error).partition(":")[0], []).append(str(error))
        return errors

    def alter_offsets(self, configs: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """What lies in files stays there: records that are read again are written again."""
        files = files_of(sink_keys().parse(configs))
        for (topic, partition), offset in offsets.items():
            PartitionCommits(files, configs.get("name", "lake"), topic, partition).go_on_at(offset)
        return True
