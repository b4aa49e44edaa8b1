"""Kafka as input and output of Spark's queries, in two ways behind one interface.

Spark's own connector (a jar) is the fastest, and the only one in real-time mode. Where the jar is missing, and for
output that is exactly once, records go through librdkafka in Python workers (`kafka_source`, `kafka_sink`). Both give
and take the same columns: key, value, topic, partition, offset, timestamp, timestampType, headers.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from penstock.pipeline.spark.settings import EngineError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

logger = logging.getLogger(__name__)

Guarantee = Literal["at_least_once", "exactly_once_v2"]
PYTHON_FORMAT = "penstock-kafka"
CLIENT_PREFIX = "kafka."
READING = {"isolation.level": "read_committed"}
"""What every query's consumer has unless it is told otherwise."""
_SET_BY_SPARK = {
    "auto.offset.reset",
    "enable.auto.commit",
    "interceptor.classes",
    "key.deserializer",
    "key.serializer",
    "value.deserializer",
    "value.serializer",
}
"""Spark refuses to be told these."""


@dataclass(frozen=True, slots=True)
class KafkaInput:
    client_configs: Mapping[str, str]
    """bootstrap.servers, security ..., by Kafka's names; without `isolation.level` what is committed is read."""
    topics: tuple[str, ...] = ()
    topic_pattern: str | None = None
    """A regular expression, in place of `topics`."""
    starting_offsets: str = "earliest"
    """`earliest`, `latest`, or Spark's JSON `{"topic": {"0": 17}}`; of a query without a checkpoint."""
    max_records_per_batch: int | None = None
    fail_on_data_loss: bool = True


@dataclass(frozen=True, slots=True)
class KafkaOutput:
    client_configs: Mapping[str, str]
    topic: str | None = None
    """Where a row without a column `topic` goes."""
    guarantee: Guarantee = "at_least_once"
    transactional_id: str | None = None
    """The beginning of the ids, one for each task; the query's name if None."""
    options: Mapping[str, str] = field(default_factory=dict)


def read_kafka(session: SparkSession, source: KafkaInput, *, with_jars: bool) -> DataFrame:
    """A stream of records; real-time mode needs `with_jars`."""
    if bool(source.topics) == (source.topic_pattern is not None):
        raise EngineError("either topics or topic_pattern must be given, and not both")
    if not with_jars:
        _register(session)
    reader = session.readStream.format("kafka" if with_jars else PYTHON_FORMAT)
    return reader.options(**_input_options(source)).load()


def _input_options(source: KafkaInput) -> dict[str, str]:
    options = _client_options({**READING, **source.client_configs})
    options["startingOffsets"] = source.starting_offsets
    options["includeHeaders"] = "true"
    options["failOnDataLoss"] = "true" if source.fail_on_data_loss else "false"
    if source.topic_pattern is not None:
        options["subscribePattern"] = source.topic_pattern
    else:
        options["subscribe"] = ",".join(source.topics)
    if source.max_records_per_batch is not None:
        options["maxOffsetsPerTrigger"] = str(source.max_records_per_batch)
    return options


def write_kafka(
    frame: DataFrame,
    output: KafkaOutput,
    *,
    query_name: str,
    checkpoint: str,
    with_jars: bool,
    real_time: str | None = None,
    output_mode: str | None = None,
) -> StreamingQuery:
    """Starts a query that writes rows with `value`, and if they have them key, topic, partition and headers. A
    timestamp is kept by librdkafka only; Spark's connector leaves it to the broker.
    `real_time` is how long one of its long batches lasts, as "5 seconds"."""
    exactly_once = output.guarantee == "exactly_once_v2"
    if real_time is not None and (exactly_once or not with_jars):
        why = "is at_least_once" if exactly_once else "needs the jars of Spark's Kafka connector"
        raise EngineError(f"query {query_name!r}: real-time mode {why}")
    writer = frame.writeStream.queryName(query_name).option("checkpointLocation", checkpoint)
    mode = output_mode or ("update" if real_time is not None else "append")
    writer = _with_trigger(writer.outputMode(mode), real_time)
    options = {**_client_options(output.client_configs), **output.options}
    if output.topic is not None:
        options["topic"] = output.topic
    if with_jars and not exactly_once:
        return writer.format("kafka").options(**options).start()
    _register(frame.sparkSession)
    if exactly_once:
        options["transactionalId"] = output.transactional_id or query_name
    return writer.format(PYTHON_FORMAT).options(**options).start()


def _with_trigger(writer: DataStreamWriter, real_time: str | None) -> DataStreamWriter:
    return writer if real_time is None else writer.trigger(realTime=real_time)  # type: ignore[call-overload]


def _client_options(configs: Mapping[str, str]) -> dict[str, str]:
    return {f"{CLIENT_PREFIX}{name}": value for name, value in configs.items() if name not in _SET_BY_SPARK}


def _register(session: SparkSession) -> None:
    from penstock.pipeline.spark.kafka_source import KafkaDataSource

    session.dataSource.register(KafkaDataSource)
