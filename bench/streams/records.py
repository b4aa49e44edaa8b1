"""What programs of streams read: events of a thousand keys over ten minutes, and one row of a table for each key.

`python -m bench.streams.records fill '{"bootstrap": ..., ...}'` writes them; a key has its partition by its number.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

from confluent_kafka import Producer

from bench import topics
from bench.client import TIMEOUT_SECONDS, raise_on_error, run_module
from bench.servers import Server

PARTITIONS = 4
KEYS = 1_000
WINDOW_MS = 60_000
WINDOWS = 10
EVENTS, CUSTOMERS = "events", "customers"
EVENT = b'{"id": %d, "item": "item %d", "amount": %d.5, "store": "store %d"}'
CUSTOMER = b'{"name": "customer %d", "city": "city %d"}'
EARLIER_MS = 1_000
"""Customers than the first event: among records of one time, either may come first."""
AGE_MS = 15 * 60_000
"""Old enough to be over, and recent enough for topics that keep a day."""

Record = tuple[str, bytes, bytes, int, int]
"""Topic, key, value, partition, timestamp."""


def create_filled(server: Server, records: int, *, customers: bool = True, keys: int = KEYS) -> None:
    topics.create(server, {EVENTS: PARTITIONS, CUSTOMERS: PARTITIONS})
    job = {"bootstrap": server.bootstrap, "records": records, "customers": customers, "keys": keys}
    run_module(__name__, "fill", job)


def add_events(server: Server, records: int) -> None:
    """Of the first keys, one each."""
    job = {"bootstrap": server.bootstrap, "records": records, "customers": False, "keys": records}
    run_module(__name__, "fill", job)


def fill(job: dict[str, Any]) -> dict[str, Any]:
    producer = Producer({"bootstrap.servers": job["bootstrap"], "batch.size": 1_000_000, "linger.ms": 50})
    start = (time.time_ns() // 1_000_000 - AGE_MS) // WINDOW_MS * WINDOW_MS
    if job["customers"]:
        _send(producer, customers_at(start - EARLIER_MS, job["keys"]))
    _send(producer, events_from(start, job["records"], job["keys"]))
    if producer.flush(TIMEOUT_SECONDS):
        raise RuntimeError("not every record was acknowledged")
    return {}


def customers_at(start: int, keys: int) -> Iterator[Record]:
    for key in range(keys):
        yield CUSTOMERS, b"key-%d" % key, CUSTOMER % (key, key % 50), key % PARTITIONS, start


def events_from(start: int, records: int, keys: int) -> Iterator[Record]:
    for number in range(records):
        key = number % keys
        value = EVENT % (number, number % 777, number % 1_000, number % 13)
        timestamp = start + number * WINDOWS * WINDOW_MS // records
        yield EVENTS, b"key-%d" % key, value, key % PARTITIONS, timestamp


def _send(producer: Producer, records: Iterator[Record]) -> None:
    for topic, key, value, partition, timestamp in records:
        while True:
            try:
                producer.produce(topic, value, key, partition, raise_on_error, timestamp=timestamp)
                break
            except BufferError:
                producer.poll(0.1)


if __name__ == "__main__":
    print(json.dumps(fill(json.loads(sys.argv[2]))))
