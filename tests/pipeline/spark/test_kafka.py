"""Kafka as input and output of a query: through Spark's connector and through librdkafka, and exactly once."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from time import time_ns
from typing import Any

import pytest
from pyspark.sql.functions import arrow_udf

from penstock.client import ConsumerRecord, KafkaAdmin, KafkaProducer, OffsetSpec, TopicPartition
from penstock.pipeline.spark.engine import Engine
from penstock.pipeline.spark.kafka import KafkaInput, KafkaOutput, read_kafka, write_kafka
from penstock.pipeline.spark.kafka_sink import write_once
from penstock.pipeline.spark.kafka_source import limited
from penstock.pipeline.spark.settings import EngineError
from tests.pipeline.spark import works
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for
from tests.support.topic_records import abort_records, records_to_end

PATIENCE_S = 60.0
_numbers = count()


class Topics:
    """Two fresh topics of two partitions each, and what is written to the first."""

    def __init__(self, bootstrap: str) -> None:
        number = next(_numbers)
        self.began_ms = time_ns() // 1_000_000 - 60_000
        self.configs = {"bootstrap.servers": bootstrap}
        self.source, self.target = f"source-{number}", f"target-{number}"
        with KafkaAdmin(self.configs) as admin:
            for name in (self.source, self.target):
                admin.create_topic(name, partitions=2)

    def send(self, first: int, end: int) -> None:
        with KafkaProducer(self.configs) as producer:
            for number in range(first, end):
                headers = {"number": b"%d" % number}
                text = b"%d" % number
                producer.produce(self.source, text, text, number % 2, self.began_ms + number, headers)

    def arrived(self, isolation: str = "read_committed") -> list[ConsumerRecord]:
        return records_to_end(self.configs["bootstrap.servers"], self.target, range(2), isolation)

    def values(self) -> list[int]:
        return sorted(int(record.value) for record in self.arrived())

    def ends(self) -> int:
        """With what was aborted, and markers."""
        wanted = {TopicPartition(self.source, number): OffsetSpec.LATEST for number in range(2)}
        with KafkaAdmin(self.configs) as admin:
            return sum(each.offset for each in admin.list_offsets(wanted).values())

    def lag(self, group: str) -> int:
        with KafkaAdmin(self.configs) as admin:
            committed = admin.committed_offsets(group)
        return sum(offset.offset for offset in committed.values() if offset is not None)


@pytest.fixture
def topics(kafka: KafkaServer) -> Topics:
    return Topics(kafka.bootstrap)


def _require_jars(engine: Engine) -> None:
    if not engine.has_kafka_jars:
        pytest.skip("the jars of Spark's Kafka connector can't be had")


def _passing(engine: Engine, topics: Topics, name: str, **choices: Any) -> Any:
    guarantee = choices.pop("guarantee", "at_least_once")
    with_jars = choices.pop("with_jars", True)

    def build(session: Any, checkpoint: str) -> Any:
        rows = read_kafka(session, KafkaInput(topics.configs, (topics.source,)), with_jars=with_jars)
        chosen = rows.select("key", "value", "partition", "headers", "timestamp")
        output = KafkaOutput(topics.configs, topics.target, guarantee)
        return write_kafka(
            chosen, output, query_name=name, checkpoint=checkpoint, with_jars=with_jars, **choices
        )

    return engine.run_native(
        name, build, positions_group=f"group of {name}", positions_configs=topics.configs
    )


@pytest.mark.parametrize("with_jars", [True, False])
def test_records_pass_with_all_that_they_have(engine: Engine, topics: Topics, with_jars: bool) -> None:
    if with_jars:
        _require_jars(engine)
    topics.send(0, 10)
    abort_records(topics.configs["bootstrap.servers"], topics.source, "666", "667")
    topics.send(10, 20)
    name = f"passing {'jars' if with_jars else 'librdkafka'}"
    query = _passing(engine, topics, name, with_jars=with_jars)
    wait_for(lambda: len(topics.values()) >= 20, PATIENCE_S, lambda: f"records: {query.progress()}")
    wait_for(lambda: topics.lag(f"group of {name}") == topics.ends(), PATIENCE_S, "the positions of a group")
    assert query.progress()["batch_ms"] > 0
    assert query.progress()["offsets_behind"] == 0
    assert f'penstock_query_batch_seconds{{query="{name}"}}' in engine.metrics_text()
    query.stop()
    assert topics.values() == list(range(20))
    seven = next(record for record in topics.arrived() if record.value == b"7")
    assert (seven.key, seven.partition) == (b"7", 1)
    assert with_jars or seven.timestamp_ms == topics.began_ms + 7  # Spark's connector writes none
    assert list(seven.headers) == [("number", b"7")]


def test_real_time_mode_passes_records_at_once(engine: Engine, topics: Topics) -> None:
    _require_jars(engine)
    query = _passing(engine, topics, "real time", real_time="5 seconds")
    topics.send(0, 5)
    wait_for(lambda: len(topics.values()) >= 5, PATIENCE_S, lambda: f"records: {query.progress()}")
    topics.send(5, 10)
    wait_for(lambda: len(topics.values()) >= 10, PATIENCE_S, "more records")
    query.stop()
    assert topics.values() == list(range(10))


def test_real_time_mode_refuses_what_it_cannot(engine: Engine, topics: Topics) -> None:
    rows = engine.wait_until_ready().readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    output = KafkaOutput(topics.configs, topics.target, "exactly_once_v2")
    with pytest.raises(EngineError, match="query 'q': real-time mode is at_least_once"):
        write_kafka(rows, output, query_name="q", checkpoint="", with_jars=True, real_time="5 seconds")


def test_too_many_slots_are_refused_with_the_count(engine: Engine) -> None:
    with pytest.raises(
        EngineError, match="query 'wide' needs 33 slots of Spark for good, and 32 of 32 are free"
    ):
        engine.run_native("wide", lambda session, checkpoint: session.range(1), slots=33)  # type: ignore[arg-type, return-value]


def test_a_batch_that_failed_half_way_arrives_exactly_once(
    engine: Engine, topics: Topics, tmp_path: Path
) -> None:
    """One of two tasks commits its transaction, the other dies; the batch is repeated."""
    topics.send(0, 40)

    def build(session: Any, checkpoint: str) -> Any:
        rows = read_kafka(session, KafkaInput(topics.configs, (topics.source,)), with_jars=False)
        dying = arrow_udf(
            works.DieOnce(str(tmp_path / "died"), topics.configs, topics.target).pass_on, "binary"
        )
        mapped = rows.select("key", dying("value", "partition").alias("value"), "partition")
        output = KafkaOutput(topics.configs, topics.target, "exactly_once_v2")
        return write_kafka(mapped, output, query_name="once", checkpoint=checkpoint, with_jars=False)

    query = engine.run_native("once", build)
    wait_for(lambda: len(topics.values()) >= 40, PATIENCE_S, lambda: f"records: {query.progress()}")
    topics.send(40, 50)
    wait_for(lambda: len(topics.values()) >= 50, PATIENCE_S, lambda: f"records: {query.progress()}")
    query.stop()
    assert (tmp_path / "died").exists()
    assert query.progress()["restarts"] == 1
    assert topics.values() == list(range(50))


def test_a_number_that_was_committed_is_not_written_again(topics: Topics) -> None:
    def rows(first: int) -> Any:
        return iter(
            [(topics.target, b"%d" % number, None, 0, None, ()) for number in range(first, first + 3)]
        )

    task = f"task of {topics.target}"
    assert write_once(topics.configs, task, 0, rows(0))
    assert not write_once(topics.configs, task, 0, rows(0))
    assert not write_once(topics.configs, task, 1, iter(()))
    assert write_once(topics.configs, task, 1, rows(3))
    assert topics.values() == [0, 1, 2, 3, 4, 5]


def test_a_limit_is_shared_out_as_partitions_need_it() -> None:
    ends = {"a": {"0": 100, "1": 10}, "b": {"0": 5}}
    assert limited({"a": {"0": 0, "1": 0}, "b": {"0": 5}}, ends, 1000) == ends
    assert limited({"a": {"0": 0, "1": 0}, "b": {"0": 5}}, ends, 11) == {
        "a": {"0": 10, "1": 1},
        "b": {"0": 5},
    }
