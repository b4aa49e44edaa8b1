"""Producing in Python: bare confluent-kafka and `KafkaProducer`, each in a process of its own.

`python -m bench.producer_client send '{"bootstrap": ..., "topic": ..., "records": ..., "laps": ..., ...}'` prints the
seconds of each lap, from its first record to the last acknowledgement, as JSON. Both have the same settings of
librdkafka, and have sent a record before, so that connections and the producer's id are there. A lap is short, and
there are several: what else the machine does now and then is in some of them, not in all.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from penstock import KafkaProducer, ProducerConfig, RecordBatch

MODULE = "bench.producer_client"
TIMEOUT_SECONDS = 300.0
POLL_EVERY = 1_000  # as often as a bare producer looks for acknowledgements
BATCH_RECORDS = 1_000

Job = dict[str, Any]


# --- bare confluent-kafka: the loop that its documentation shows, twice, so that neither pays for the other


def bare(job: Job) -> list[float]:
    """Fire and forget."""

    def work(producer: Producer, topic: str, value: bytes, records: int) -> None:
        for number in range(records):
            while True:
                try:
                    producer.produce(topic, value)
                    break
                except BufferError:
                    producer.poll(0.05)
            if number % POLL_EVERY == 0:
                producer.poll(0)

    return run_bare(job, work)


def bare_callback(job: Job) -> list[float]:
    """With a callback for each record, which is how it tells where records went."""
    offsets: list[int | None] = []

    def on_delivery(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            raise KafkaException(error)
        offsets.append(message.offset())

    def work(producer: Producer, topic: str, value: bytes, records: int) -> None:
        for number in range(records):
            while True:
                try:
                    producer.produce(topic, value, on_delivery=on_delivery)
                    break
                except BufferError:
                    producer.poll(0.05)
            if number % POLL_EVERY == 0:
                producer.poll(0)

    seconds = run_bare(job, work)
    assert len(offsets) == job["records"] * job["laps"]
    return seconds


def run_bare(job: Job, work: Callable[[Producer, str, bytes, int], None]) -> list[float]:
    config = ProducerConfig(bootstrap_servers=job["bootstrap"]).for_librdkafka()
    producer = Producer({**config, "partitioner": "murmur2_random"})
    value = os.urandom(job["record_bytes"])
    producer.produce(job["topic"], value)
    producer.flush(TIMEOUT_SECONDS)
    seconds = []
    for _ in range(job["laps"]):
        started = time.perf_counter()
        work(producer, job["topic"], value, job["records"])
        assert not producer.flush(TIMEOUT_SECONDS)
        seconds.append(time.perf_counter() - started)
    return seconds


# --- ours


def produce(job: Job) -> list[float]:
    def work(producer: KafkaProducer, topic: str, value: bytes, records: int) -> None:
        for _ in range(records):
            producer.produce(topic, value)

    return run_ours(job, work)


def send_batch(job: Job) -> list[float]:
    def work(producer: KafkaProducer, topic: str, value: bytes, records: int) -> None:
        for _ in range(records // BATCH_RECORDS):
            producer.send_batch(RecordBatch(topic, [value] * BATCH_RECORDS))

    return run_ours(job, work)


def send(job: Job) -> list[float]:
    """With a future for each record, the last of which is looked at."""

    def work(producer: KafkaProducer, topic: str, value: bytes, records: int) -> None:
        for _ in range(records):
            future = producer.send(topic, value)
        assert future.result(TIMEOUT_SECONDS).offset >= 0

    return run_ours(job, work)


def run_ours(job: Job, work: Callable[[KafkaProducer, str, bytes, int], None]) -> list[float]:
    value = os.urandom(job["record_bytes"])
    seconds = []
    with KafkaProducer(bootstrap_servers=job["bootstrap"]) as producer:
        producer.send(job["topic"], value).result(TIMEOUT_SECONDS)
        for _ in range(job["laps"]):
            started = time.perf_counter()
            work(producer, job["topic"], value, job["records"])
            producer.flush(TIMEOUT_SECONDS)
            seconds.append(time.perf_counter() - started)
        assert not producer.failed_records
    return seconds


COMMANDS = {
    "bare": bare,
    "bare_callback": bare_callback,
    "produce": produce,
    "send_batch": send_batch,
    "send": send,
}

if __name__ == "__main__":
    print(json.dumps({"seconds": COMMANDS[sys.argv[1]](json.loads(sys.argv[2]))}))
