"""Kafka as a Python data source on librdkafka: no jar needed.

The driver's part asks for the ends of partitions; a task reads one partition between two offsets. A Python worker
that is used again still has its consumer, which is why consumers are kept here, in a module that workers import.

Spark does not keep the offsets that such a source begins with: should the very first batch fail, it asks for them
again. With `latest` that skips what came in between; whoever can't have that names offsets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, DataSourceStreamWriter, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows

from penstock.client import (
    ConsumerConfig,
    FetchedBatch,
    KafkaConsumer,
    KafkaError,
    TimestampType,
    TopicPartition,
)
from penstock.client.librdkafka import Consumer, Message, NativeTopicPartition
from penstock.pipeline.spark.kafka import CLIENT_PREFIX, PYTHON_FORMAT, READING

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

Offsets = dict[str, dict[str, int]]
RECORDS_PER_ARROW_BATCH = 10_000
POLL_S = 0.5
END_OF_PARTITION = "_PARTITION_EOF"
NO_PROGRESS_TIMEOUT_S = 60.0
SCHEMA = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    "timestampType int, headers array<struct<key: string, value: binary>>"
)
ARROW_SCHEMA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("timestampType", pa.int32()),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
    ]
)


class KafkaDataSource(DataSource):
    @classmethod
    def name(cls) -> str:
        return PYTHON_FORMAT

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 (Spark's names)
        return KafkaStreamReader(dict(self.options))

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        from penstock.pipeline.spark.kafka_sink import KafkaStreamWriter

        return KafkaStreamWriter(dict(self.options))


def client_configs_of(options: Mapping[str, str]) -> dict[str, str]:
    """Spark hands options over with names in small letters, as Kafka's are anyway."""
    return {
        name.removeprefix(CLIENT_PREFIX): value
        for name, value in options.items()
        if name.startswith(CLIENT_PREFIX)
    }


@dataclass
class PartitionRange(InputPartition):
    topic: str
    partition: int
    start: int
    end: int


class KafkaStreamReader(DataSourceStreamReader):
    def __init__(self, options: Mapping[str, str]) -> None:
        self._configs = client_configs_of(options)
        self._options = {name.lower(): value for name, value in options.items()}

    def initialOffset(self) -> Offsets:  # noqa: N802
        wanted = self._options.get("startingoffsets", "earliest")
        consumer = consumer_for(self._configs)
        partitions = self._partitions(consumer)
        if wanted == "latest":
            return _nested(consumer.end_offsets(partitions))
        found = _nested(consumer.beginning_offsets(partitions))
        if wanted != "earliest":
            for topic, offsets in json.loads(wanted).items():
                found.setdefault(topic, {}).update(offsets)
        return found

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        most = self._options.get("maxoffsetspertrigger")
        return ReadMaxRows(int(most)) if most else ReadAllAvailable()

    def latestOffset(self, start: Offsets, limit: ReadLimit) -> Offsets:  # noqa: N802
        consumer = consumer_for(self._configs)
        ends = _nested(consumer.end_offsets(self._partitions(consumer)))
        if isinstance(limit, ReadMaxRows):
            return limited(start, ends, limit.max_rows)
        return ends

    def partitions(self, start: Offsets, end: Offsets) -> list[InputPartition]:
        return [
            PartitionRange(topic, int(partition), first, last)
            for topic, offsets in end.items()
            for partition, last in offsets.items()
            if (first := start.get(topic, {}).get(partition, 0)) < last
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, PartitionRange)
        consumer = native_consumer_for(self._configs)
        consumer.assign([NativeTopicPartition(partition.topic, partition.partition, partition.start)])
        try:
            for messages in messages_until(consumer, partition):
                yield as_arrow(FetchedBatch(messages))
        finally:
            consumer.unassign()

    def _partitions(self, consumer: KafkaConsumer) -> list[TopicPartition]:
        pattern = self._options.get("subscribepattern")
        if pattern is not None:
            named = re.compile(pattern)
            return [
                each for name, some in consumer.topics().items() if named.fullmatch(name) for each in some
            ]
        names = self._options["subscribe"].split(",")
        return [each for name in names for each in consumer.partitions_for(name.strip())]


def limited(start: Offsets, ends: Offsets, most: int) -> Offsets:
    """Ends that leave at most so many records, shared out as the partitions need them."""
    behind = {
        (topic, partition): end - start.get(topic, {}).get(partition, 0)
        for topic, offsets in ends.items()
        for partition, end in offsets.items()
    }
    total = sum(max(0, each) for each in behind.values())
    if total <= most:
        return ends
    found: Offsets = {}
    for (topic, partition), missing in behind.items():
        share = max(1, most * missing // total) if missing > 0 else 0
        found.setdefault(topic, {})[partition] = ends[topic][partition] - missing + share
    return found


def _nested(offsets: Mapping[TopicPartition, int]) -> Offsets:
    found: Offsets = {}
    for (topic, partition), offset in sorted(offsets.items()):
        found.setdefault(topic, {})[str(partition)] = offset
    return found


def messages_until(consumer: Consumer, wanted: PartitionRange) -> Iterator[list[Message]]:
    """Until a record or the end of the partition is met at the wanted offset or behind it: the last offsets before it
    may be markers of transactions, of which nothing is heard, or records that compaction has removed."""
    moved = monotonic()
    while True:
        events = consumer.consume(RECORDS_PER_ARROW_BATCH, POLL_S)
        messages = [event for event in events if not _is_end(event)]
        if messages:
            yield [message for message in messages if _offset(message) < wanted.end]
        if any(_offset(event) + (not _is_end(event)) >= wanted.end for event in events):
            return
        if events:
            moved = monotonic()
        elif monotonic() - moved > NO_PROGRESS_TIMEOUT_S:
            raise KafkaError(f"nothing came of {wanted} for {NO_PROGRESS_TIMEOUT_S:g} s")


def _is_end(event: Message) -> bool:
    """Whether it is the end of a partition and not a record; raises for other events."""
    error = event.error()
    if error is None:
        return False
    if error.name() == END_OF_PARTITION:
        return True
    raise KafkaError(f"{event.topic()}-{event.partition()} can't be read: {error.str()}")


def _offset(event: Message) -> int:
    offset = event.offset()
    assert offset is not None
    return offset


def as_arrow(fetched: FetchedBatch) -> pa.RecordBatch:
    records = list(fetched.records())
    columns: list[list[Any]] = [
        [record.key for record in records],
        [record.value for record in records],
        [record.topic for record in records],
        [record.partition for record in records],
        [record.offset for record in records],
        [1000 * record.timestamp_ms for record in records],
        [record.timestamp_type - TimestampType.CREATE_TIME for record in records],
        [[{"key": name, "value": value} for name, value in record.headers] or None for record in records],
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, ARROW_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=ARROW_SCHEMA)


_consumers: dict[str, KafkaConsumer] = {}
_native_consumers: dict[str, Consumer] = {}


def consumer_for(configs: Mapping[str, str]) -> KafkaConsumer:
    """That of this process, which asks for offsets."""
    key = json.dumps(configs, sort_keys=True)
    if key not in _consumers:
        _consumers[key] = KafkaConsumer(_reader_configs(configs))
    return _consumers[key]


def native_consumer_for(configs: Mapping[str, str]) -> Consumer:
    """That of this process, which reads; it says where a partition ends."""
    key = json.dumps(configs, sort_keys=True)
    if key not in _native_consumers:
        native = ConsumerConfig(_reader_configs(configs)).for_librdkafka()
        native |= {"enable.partition.eof": "true", "group.id": PYTHON_FORMAT, "enable.auto.commit": "false"}
        _native_consumers[key] = Consumer(native)
    return _native_consumers[key]


def _reader_configs(configs: Mapping[str, str]) -> dict[str, str]:
    """An offset that is gone is an error, not a reason to read from elsewhere."""
    without_group = {name: value for name, value in configs.items() if name != "group.id"}
    return {**READING, **without_group, "auto.offset.reset": "none"}
