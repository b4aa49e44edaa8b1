"""Producing in Python: bare confluent-kafka and `KafkaProducer`, each in a process of its own.

`python -m bench.producer_client '{"command": "send", "bootstrap": ..., "topic": ..., "records": ..., ...}'` answers
each line of its input with the seconds of one lap, from its first record to the last acknowledgement. Both have the
same settings of librdkafka, and have sent a record before, so that connections and the producer's id are there.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from bench.job_process import Job, serve_jobs
from penstock import KafkaProducer, ProducerConfig, RecordBatch

MODULE = "bench.producer_client"
TIMEOUT_SECONDS = 300.0
POLL_EVERY = 1_000  # as often as a bare producer looks for acknowledgements
BATCH_RECORDS = 1_000

Lap = Callable[[], None]


# --- bare confluent-kafka: the loop that its documentation shows, twice, so that neither pays for the other


def bare(job: Job) -> Lap:
    """Fire and forget."""
    producer, topic, value, records = open_bare(job)

    def lap() -> None:
        for number in range(records):
            while True:
                try:
                    producer.produce(topic, value)
                    break
                except BufferError:
                    producer.poll(0.05)
            if number % POLL_EVERY == 0:
                producer.poll(0)
        assert not producer.flush(TIMEOUT_SECONDS)

    return lap


def bare_callback(job: Job) -> Lap:
    """With a callback for each record, which is how it tells where records went."""
    producer, topic, value, records = open_bare(job)
    offsets: list[int | None] = []

    def on_delivery(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            raise KafkaException(error)
        offsets.append(message.offset())

    def lap() -> None:
        offsets.clear()
        for number in range(records):
            while True:
                try:
                    producer.produce(topic, value, on_delivery=on_delivery)
                    break
                except BufferError:
                    producer.poll(0.05)
            if number % POLL_EVERY == 0:
                producer.poll(0)
        assert not producer.flush(TIMEOUT_SECONDS)
        assert len(offsets) == records

    return lap


def open_bare(job: Job) -> tuple[Producer, str, bytes, int]:
    config = ProducerConfig(bootstrap_servers=job["bootstrap"]).for_librdkafka()
    producer = Producer({**config, "partitioner": "murmur2_random"})
    value = os.urandom(job["record_bytes"])
    producer.produce(job["topic"], value)
    assert not producer.flush(TIMEOUT_SECONDS)
    return producer, job["topic"], value, job["records"]


# --- ours


def produce(job: Job) -> Lap:
    producer, topic, value, records = open_ours(job)

    def lap() -> None:
        for _ in range(records):
            producer.produce(topic, value)
        finish(producer)

    return lap


def send_batch(job: Job) -> Lap:
    producer, topic, value, records = open_ours(job)

    def lap() -> None:
        for _ in range(records // BATCH_RECORDS):
            producer.send_batch(RecordBatch(topic, [value] * BATCH_RECORDS))
        finish(producer)

    return lap


def send(job: Job) -> Lap:
    """With a future for each record, the last of which is looked at."""
    producer, topic, value, records = open_ours(job)

    def lap() -> None:
        for _ in range(records):
            future = producer.send(topic, value)
        assert future.result(TIMEOUT_SECONDS).offset >= 0
        finish(producer)

    return lap


def open_ours(job: Job) -> tuple[KafkaProducer, str, bytes, int]:
    producer = KafkaProducer(bootstrap_servers=job["bootstrap"])
    value = os.urandom(job["record_bytes"])
    producer.send(job["topic"], value).result(TIMEOUT_SECONDS)
    return producer, job["topic"], value, job["records"]


def finish(producer: KafkaProducer) -> None:
    producer.flush(TIMEOUT_SECONDS)
    assert not producer.failed_records


COMMANDS = {
    "bare": bare,
    "bare_callback": bare_callback,
    "produce": produce,
    "send_batch": send_batch,
    "send": send,
}


def main() -> None:
    told = json.loads(sys.argv[1])
    lap = COMMANDS[told["command"]](told)

    def run(_job: Job) -> Job:
        started = time.perf_counter()
        lap()
        return {"seconds": time.perf_counter() - started}

    serve_jobs(run)


if __name__ == "__main__":
    main()
