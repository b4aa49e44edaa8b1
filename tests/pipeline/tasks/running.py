"""Programs on a broker and on Spark, for tests: what goes in, and what comes out."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from penstock import KafkaAdmin, KafkaProducer
from penstock.pipeline.spark.engine import Engine
from penstock.pipeline.tasks.application import StreamsApplication
from penstock.pipeline.tasks.program import ProgramFile
from penstock.testing import InProcessBroker
from tests.support.kafka_streams import Piped
from tests.support.spark import REPOSITORY
from tests.support.topic_records import records_to_end

START_SECONDS = 60.0
SETTINGS = {"session.timeout.ms": "6000", "replication.factor": "1"}


def program_of(name: str, application_id: str, folder: Path, prefix: str = "") -> ProgramFile:
    """One of the topologies that are compared with Java's, on topics whose names begin with a prefix."""
    path = folder / f"{application_id}.py"
    path.write_text(
        f"import sys\n"
        f"sys.path.insert(0, {REPOSITORY!r})\n"
        f"from penstock.streams import Program\n"
        f"from tests.pipeline.streams.beside_java import kinds\n"
        f"from tests.pipeline.streams.beside_java.runs import built\n"
        f"from tests.pipeline.tasks.prefixed import with_prefix\n"
        f"program = Program({application_id!r}, with_prefix(built({name!r}), {prefix!r}))\n"
    )
    return ProgramFile.read(path)


def program_from(text: str, folder: Path) -> ProgramFile:
    path = folder / f"program_{uuid.uuid4().hex[:8]}.py"
    path.write_text(text)
    return ProgramFile.read(path)


@contextmanager
def running(
    broker: InProcessBroker,
    engine: Engine,
    file: ProgramFile,
    settings: Mapping[str, str] | None = None,
    *,
    packs: int = 2,
    waits: bool = True,
) -> Iterator[StreamsApplication]:
    configs = {**SETTINGS, "bootstrap.servers": broker.bootstrap_servers, **(settings or {})}
    application = StreamsApplication(file, configs, engine, packs=packs)
    try:
        application.start()
        assert not waits or application.wait_until_running(START_SECONDS), "it does not begin"
        yield application
    finally:
        application.stop()


def make_topics(broker: InProcessBroker, partitions: Mapping[str, int]) -> None:
    with KafkaAdmin(bootstrap_servers=broker.bootstrap_servers) as admin:
        for topic, count in partitions.items():
            admin.create_topic(topic, partitions=count, configs={"retention.ms": "-1"})


def pipe(broker: InProcessBroker, records: Iterable[Piped], partition: int | None = None) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for each in records:
            producer.produce(
                each.topic, each.value, each.key, partition, each.timestamp, list(each.headers) or None
            )


def produced(broker: InProcessBroker, topic: str, partitions: int = 1) -> list[Piped]:
    """What is committed, partition by partition."""
    return [
        Piped(topic, each.timestamp_ms, each.key, each.value, tuple(each.headers))
        for number in range(partitions)
        for each in records_to_end(broker.bootstrap_servers, topic, [number])
    ]
