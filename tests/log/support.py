"""Batches and logs for the tests of the log."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from penstock.log.fs import FileSystem
from penstock.log.partition_log import PartitionLog
from penstock.records.batch import Batch, split_batches
from penstock.records.builder import build_batch
from penstock.records.reader import Record, iterate_records
from penstock.settings.topic import TopicSettings
from penstock.types import TopicPartition

PARTITION = TopicPartition("topic", 0)
DIRECTORY = "/logs/topic-0"
NOW = 1_700_000_000_000


def topic(**overrides: Any) -> TopicSettings:
    return replace(TopicSettings(), **overrides)


def open_log(fs: FileSystem, directory: str = DIRECTORY, **options: Any) -> PartitionLog:
    settings = options.pop("settings", None) or topic()
    options = {"topic_id": None, "now_ms": NOW} | options
    return PartitionLog.open(fs, directory, PARTITION, settings, **options)


def batch_of(
    *values: bytes | None, timestamp: int = NOW, keys: Sequence[bytes | None] | None = None, **fields: Any
) -> Batch:
    keys = keys or [b"k"] * len(values)
    records = [
        Record(n, timestamp, key, value) for n, (key, value) in enumerate(zip(keys, values, strict=True))
    ]
    return build_batch(records, **fields)


def append(
    log: PartitionLog, *values: bytes | None, leader_epoch: int = 0, now_ms: int = NOW, **fields: Any
) -> int:
    """Append one batch; returns its first offset."""
    batch = batch_of(*values, **fields)
    return log.append_as_leader([batch], leader_epoch=leader_epoch, now_ms=now_ms).first_offset


def read_batches(
    log: PartitionLog, offset: int, max_offset: int | None = None, max_bytes: int = 1 << 20
) -> list[Batch]:
    end = log.log_end_offset if max_offset is None else max_offset
    found = log.read(offset, max_bytes, max_offset=end, at_least_one=True)
    return split_batches(memoryview(found.read())) if found is not None else []


def read_all(log: PartitionLog) -> list[Record]:
    """Every record from the log's start to its end, fetched as a consumer would."""
    records: list[Record] = []
    offset = log.log_start_offset
    while batches := read_batches(log, offset, max_bytes=300):
        for batch in batches:
            assert batch.is_valid()
            records += [record for record in iterate_records(batch) if record.offset >= log.log_start_offset]
        offset = batches[-1].next_offset
    return records


def values(log: PartitionLog) -> dict[int, bytes | None]:
    return {record.offset: record.value for record in read_all(log)}
