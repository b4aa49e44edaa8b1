"""Kafka's records as files or Delta tables: the connector and its task. Positions are committed only for what lies
there, so records that wait when the task ends are read again by the next one (see `partition_records`)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from penstock.errors import ConfigError
from penstock.pipeline.connect.api import ConfigDef, SinkConnector, SinkTask
from penstock.pipeline.connect.connectors.lake.delta_tables import require_delta_package, require_delta_place
from penstock.pipeline.connect.connectors.lake.formats import is_delta
from penstock.pipeline.connect.connectors.lake.lake_config import SINK_KEYS, require_place
from penstock.pipeline.connect.connectors.lake.partition_records import PartitionRecords
from penstock.pipeline.connect.connectors.lake.partitioners import delta_columns, folder_of
from penstock.pipeline.connect.connectors.lake.places import Stream, TopicPartition, lake_of
from penstock.pipeline.connect.data import SinkRecord
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError

_CHECKS = (require_place, folder_of)
_DELTA_CHECKS = (require_delta_package, require_delta_place, delta_columns)


class LakeSinkTask(SinkTask):
    def start(self, configs: Mapping[str, str]) -> None:
        self._settings = settings = SINK_KEYS.parse(configs)
        self._lake = lake_of(settings, configs.get("name", "lake"))
        self.takes_columns = self._lake.takes_columns
        self._streams: dict[Stream, PartitionRecords] = {}

    def put(self, records: Sequence[SinkRecord]) -> None:
        """The store is asked for a partition when its first record comes: idle ones cost nothing."""
        try:
            for stream, of_stream in self._lake.streams(records):
                self._of(stream).put(of_stream)
        except RetriableConnectError:
            self.context.timeout(self._settings["retry.backoff.ms"])
            raise

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        now_ms = time.time_ns() // 1_000_000
        for each in self._streams.values():
            each.write_old(now_ms)
        return {partition: self._safe(partition, offset) for partition, offset in offsets.items()}

    def close(self, partitions: Sequence[TopicPartition]) -> None:
        self._streams = {
            stream: each for stream, each in self._streams.items() if stream[:2] not in partitions
        }

    def _of(self, stream: Stream) -> PartitionRecords:
        found = self._streams.get(stream)
        if found is None:
            found = PartitionRecords(self._lake.store(stream), self._settings, self._refuse)
            self._streams[stream] = found
        return found

    def _safe(self, partition: TopicPartition, offset: int) -> int:
        waiting = [each.first_waiting for stream, each in self._streams.items() if stream[:2] == partition]
        return min([offset, *(each for each in waiting if each is not None)])

    def _refuse(self, record: SinkRecord, error: ConnectError) -> None:
        if self.context.report is None:
            raise error
        self.context.report(record, error)


class LakeSinkConnector(SinkConnector):
    """Writes records to Parquet, JSON or CSV files or to Delta tables, each exactly once."""

    task_class = LakeSinkTask
    config_def: ClassVar[ConfigDef] = SINK_KEYS

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self.configs)] * max_tasks

    def validate(self, configs: Mapping[str, str]) -> dict[str, list[str]]:
        settings: dict[str, Any] = SINK_KEYS.parse(configs)
        errors: dict[str, list[str]] = {}
        for check in _CHECKS + (_DELTA_CHECKS if is_delta(settings["format.class"]) else ()):
            try:
                check(settings)
            except ConfigError as error:
                errors.setdefault(str(error).partition(":")[0], []).append(str(error))
        return errors

    def alter_offsets(self, configs: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """What lies there stays there: records that are read again are written again."""
        lake = lake_of(SINK_KEYS.parse(configs), configs.get("name", "lake"))
        for partition, offset in offsets.items():
            lake.go_on_at(partition, offset)
        return True
