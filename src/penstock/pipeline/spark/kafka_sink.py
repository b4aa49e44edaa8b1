"""Rows to Kafka through librdkafka, at least once or exactly once.

Exactly once: each task of a batch has a transactional id of its own, and one transaction holds all of its records
and the batch's number, committed as an offset of a group of its own (on partition 0 of a topic that it writes to). A
task that is run again, because Spark did not hear of its end, first fences its earlier attempt, whose transaction is
then either aborted or complete, and if the number is there it has nothing left to do. That needs a batch to be cut
into the same parts each time, as Spark does for one that it repeats from its checkpoint.

A transactional producer is never kept for another task: whoever begins anew with its id fences it.
"""

from __future__ import annotations

import atexit
import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage

from penstock.client import KafkaAdmin, KafkaConsumer, KafkaError, KafkaProducer, TopicPartition
from penstock.pipeline.spark.kafka_source import client_configs_of
from penstock.pipeline.spark.settings import EngineError

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ID = "streaming.sql.batchId"
GROUP_PREFIX = "penstock-sink-"
CLOSE_SECONDS = 10.0
COLUMNS = ("topic", "key", "value", "partition", "timestamp", "headers")
Outgoing = tuple[str, Any, Any, int | None, int | None, Any]
"""Topic, value, key, partition, timestamp, headers: what a producer takes."""


class KafkaStreamWriter(DataSourceStreamArrowWriter):
    def __init__(self, options: Mapping[str, str]) -> None:
        self._configs = client_configs_of(options)
        lower = {name.lower(): value for name, value in options.items()}
        self._topic = lower.get("topic")
        self._transactional_id = lower.get("transactionalid")

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        records = chain.from_iterable(rows_of(batch, self._topic) for batch in iterator)
        if self._transactional_id is None:
            send_all(_producer_for(self._configs), records)
        else:
            context = TaskContext.get()
            assert context is not None
            task = f"{self._transactional_id}-{context.partitionId()}"
            write_once(self._configs, task, int(context.getLocalProperty(BATCH_ID) or 0), records)
        return WriterCommitMessage()


def rows_of(batch: pa.RecordBatch, default_topic: str | None) -> Iterator[Outgoing]:
    columns = {name.lower(): number for number, name in enumerate(batch.schema.names)}
    if "value" not in columns:
        raise EngineError(f"rows for Kafka need a column value; got {', '.join(batch.schema.names)}")
    values = {name: _values(batch, columns, name) for name in COLUMNS}
    for row in zip(*(values[name] for name in COLUMNS), strict=True):
        topic, key, value, partition, timestamp, headers = row
        name = topic if topic is not None else default_topic
        if name is None:
            raise EngineError("a row for Kafka has no topic, and the output names none")
        pairs = [(header["key"], header["value"]) for header in headers] if headers else ()
        yield name, value, key, partition, timestamp, pairs


def _values(batch: pa.RecordBatch, columns: Mapping[str, int], name: str) -> list[Any]:
    if name not in columns:
        return [None] * batch.num_rows
    column = batch.column(columns[name])
    if name != "timestamp":
        found: list[Any] = column.to_pylist()
        return found
    micros: list[int | None] = column.cast("int64").to_pylist()
    return [None if each is None else each // 1000 for each in micros]


def send_all(producer: KafkaProducer, records: Iterator[Outgoing]) -> None:
    producer.watch_every_record()  # a batch of rows must not be done while one of them is lost
    failed_before = producer.failed_records
    for record in records:
        producer.produce(*record)
    producer.flush()
    failed = producer.failed_records - failed_before
    if failed:
        raise KafkaError(f"{failed} records were not delivered; the log of the executor says why")


def write_once(configs: Mapping[str, str], task: str, batch: int, records: Iterator[Outgoing]) -> bool:
    """Whether they were written now; if the batch's number is there already, nothing is."""
    first = next(records, None)
    if first is None:
        return False
    mark, group_id = TopicPartition(first[0], 0), f"{GROUP_PREFIX}{task}"
    with KafkaProducer({**configs, "transactional.id": task}) as producer:
        producer.init_transactions()
        with KafkaConsumer({**_for_reaching(configs), "group.id": group_id}) as group:
            if is_done(configs, group_id, batch):
                return False
            with producer.transaction():
                for record in chain([first], records):
                    producer.produce(*record)
                producer.send_offsets_to_transaction({mark: batch + 1}, group)
    return True


def is_done(configs: Mapping[str, str], group_id: str, batch: int) -> bool:
    """On whichever topic the number was committed: the order of rows, and so the first topic, may have changed."""
    with KafkaAdmin(_for_reaching(configs)) as admin:
        marks = admin.committed_offsets(group_id).values()
    return any(mark is not None and mark.offset > batch for mark in marks)


def _for_reaching(configs: Mapping[str, str]) -> dict[str, str]:
    """Only how Kafka is reached: the rest is meant for the producer."""
    reaching = ("bootstrap.servers", "security.", "sasl.", "ssl.")
    return {name: value for name, value in configs.items() if name.startswith(reaching)}


_producers: dict[str, KafkaProducer] = {}


def _producer_for(configs: Mapping[str, str]) -> KafkaProducer:
    """That of this process."""
    key = json.dumps(dict(configs), sort_keys=True)
    if key not in _producers:
        _producers[key] = KafkaProducer(dict(configs))
    return _producers[key]


@atexit.register
def _close_producers() -> None:
    """Each batch has waited for its own records, so there is hardly anything left to wait for."""
    for producer in _producers.values():
        producer.close(CLOSE_SECONDS)
