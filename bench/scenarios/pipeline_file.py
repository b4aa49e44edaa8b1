"""A file to Kafka: FileStreamSource of Penstock's Connect and of Apache's, both into the same broker.

Penstock writes lines and positions in transactions, Apache as it comes without configuration: at least once. Each
round reads the file into a new topic, from the creation of the connector until the topic has as many records as the
file has lines (the markers of transactions, one for each, count as well; whether all lines are there is looked at
afterwards). A round before them that does not count warms both up.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from bench import pipeline_records
from bench.connect_workers import JSON, STRING, Worker, running_worker
from bench.pipeline_loads import PipelineLoad
from bench.servers import Server
from bench.session import Session

CONNECTOR = "lines"
ANSWER_SECONDS = 30.0
CONVERTERS = {
    "pipeline_file": {"value.converter": STRING},
    "pipeline_file_json": {"value.converter": JSON, "value.converter.schemas.enable": "true"},
}


def run(session: Session) -> None:
    directory = session.directory("file")
    directory.mkdir()
    lines = directory / "lines.txt"
    pipeline_records.write_lines(lines, session.sizes.pipeline_records)
    with session.fresh("penstock") as server, ExitStack() as stack:
        server.start()
        workers = [
            stack.enter_context(running_worker(name, directory, server.bootstrap)) for name in session.names
        ]
        for counts in (False, *[True] * session.sizes.rounds):
            for prefix in CONVERTERS:
                for worker in workers:
                    measure(session, server, worker, lines, prefix, counts=counts)


def measure(
    session: Session, server: Server, worker: Worker, lines: Path, prefix: str, *, counts: bool
) -> None:
    records = session.sizes.pipeline_records
    with session.topic(server, 1) as topic:
        load = copy(server, worker, lines, topic, prefix, records)
    if counts:
        load.record(session, prefix, worker.name, records)


def copy(server: Server, worker: Worker, lines: Path, topic: str, prefix: str, records: int) -> PipelineLoad:
    config = {"connector.class": "FileStreamSource", "file": str(lines), "topic": topic, **CONVERTERS[prefix]}
    name = f"{CONNECTOR}-{topic}"
    where = TopicPartition(topic, 0)
    consumer = Consumer(
        {"bootstrap.servers": server.bootstrap, "group.id": "bench", "auto.offset.reset": "error"}
    )
    load = PipelineLoad(worker.tree, server)
    try:
        with worker.connector(name, config):
            worker.wait_until(name, lambda: end_offset(consumer, where) >= records)
            load.end()
            require_records(consumer, where, records)
    finally:
        consumer.close()
    return load


def end_offset(consumer: Consumer, where: TopicPartition) -> int:
    """Of what is committed."""
    return consumer.get_watermark_offsets(where, timeout=ANSWER_SECONDS)[1]


def require_records(consumer: Consumer, where: TopicPartition, records: int) -> None:
    """That there are so many and not more, by their number."""
    consumer.assign([TopicPartition(where.topic, where.partition, OFFSET_BEGINNING)])
    found = 0
    while found < records:
        messages = consumer.consume(min(records - found, 10_000), timeout=ANSWER_SECONDS)
        if not messages:
            raise RuntimeError(f"{where.topic} has {found} records in place of {records}")
        found += len(messages)
    if consumer.consume(1, timeout=1.0):
        raise RuntimeError(f"{where.topic} has more than {records} records")
