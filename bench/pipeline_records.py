"""The records that pipelines are measured with: small items as JSON, without a schema and in Connect's envelope.

`python -m bench.pipeline_records fill '{"bootstrap": ..., ...}'` writes them, in turn to the partitions.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from confluent_kafka import Producer

from bench import topics
from bench.client import TIMEOUT_SECONDS, raise_on_error, run_module
from bench.servers import Server

PARTITIONS = 4
ITEM = b'{"id": %d, "name": "name %d", "price": %d.5}'
FIELDS = {"id": "int64", "name": "string", "price": "double"}
SCHEMA = {"type": "struct", "fields": [{"field": name, "type": kind} for name, kind in FIELDS.items()]}
SHAPES = {
    "plain": ITEM,
    "envelope": b'{"schema": %s, "payload": %s}' % (json.dumps(SCHEMA).encode(), ITEM),
}
LINE = (
    "line {} of a log file of a server, with enough of some text to make it about one hundred bytes long {}\n"
)


def create_filled(server: Server, topic: str, records: int, shape: str) -> None:
    topics.create(server, {topic: PARTITIONS})
    job = {"bootstrap": server.bootstrap, "topic": topic, "records": records, "shape": shape}
    run_module(__name__, "fill", job)


def fill(job: dict[str, Any]) -> dict[str, Any]:
    producer = Producer({"bootstrap.servers": job["bootstrap"], "batch.size": 1_000_000, "linger.ms": 50})
    topic, shape = job["topic"], SHAPES[job["shape"]]
    for number in range(job["records"]):
        value = shape % (number, number, number)
        while True:
            try:
                producer.produce(topic, value, partition=number % PARTITIONS, on_delivery=raise_on_error)
                break
            except BufferError:
                producer.poll(0.1)
    if producer.flush(TIMEOUT_SECONDS):
        raise RuntimeError("not every record was acknowledged")
    return {}


def write_lines(path: Path, count: int) -> None:
    with path.open("w") as file:
        file.writelines(LINE.format(number, number) for number in range(count))


def require_all(what: str, found: Iterable[int], records: int) -> None:
    """`found` is how many there are, and how many that differ."""
    if tuple(found) != (records, records):
        raise RuntimeError(f"{what}: {found} rows and distinct ids in place of {records}")


if __name__ == "__main__":
    print(json.dumps(fill(json.loads(sys.argv[2]))))
