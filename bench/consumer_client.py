"""Consuming in Python: bare confluent-kafka and `KafkaConsumer`, each in a process of its own.

`python -m bench.consumer_client '{"command": "poll", "bootstrap": ..., "topic": ..., "records": ..., ...}'` answers
each line of its input with the seconds of one lap, by a new consumer, from the assignment to the last record. Both have
the same settings of librdkafka, and look at the same: whether there is an error, and the value.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import islice

from confluent_kafka import Consumer, KafkaException, TopicPartition

import penstock
from bench.job_process import Job, serve_jobs
from penstock import ConsumerConfig, KafkaConsumer

MODULE = "bench.consumer_client"
RECORDS_AT_ONCE = 500  # max.poll.records
TIMEOUT_SECONDS = 1.0


def config_of(job: Job) -> ConsumerConfig:
    return ConsumerConfig(bootstrap_servers=job["bootstrap"], group_id="bench", enable_auto_commit=False)


def bare(job: Job) -> float:
    """The loop that confluent-kafka's documentation shows."""
    consumer = Consumer(config_of(job).for_librdkafka())
    started = time.perf_counter()
    consumer.assign([TopicPartition(job["topic"], number, 0) for number in range(job["partitions"])])
    count = size = 0
    while count < job["records"]:
        for message in consumer.consume(RECORDS_AT_ONCE, TIMEOUT_SECONDS):
            if (error := message.error()) is not None:
                raise KafkaException(error)
            size += len(message.value() or b"")
            count += 1
    seconds = time.perf_counter() - started
    consumer.close()
    return seconds


def assign(consumer: KafkaConsumer, job: Job) -> None:
    consumer.assign({penstock.TopicPartition(job["topic"], number): 0 for number in range(job["partitions"])})


def poll(job: Job) -> float:
    with KafkaConsumer(config_of(job)) as consumer:
        started = time.perf_counter()
        assign(consumer, job)
        count = size = 0
        while count < job["records"]:
            for record in consumer.poll(TIMEOUT_SECONDS):
                size += len(record.value)
                count += 1
        return time.perf_counter() - started


def iterate(job: Job) -> float:
    with KafkaConsumer(config_of(job)) as consumer:
        started = time.perf_counter()
        assign(consumer, job)
        size = 0
        for record in islice(consumer, job["records"]):
            size += len(record.value)
        return time.perf_counter() - started


def poll_batch(job: Job) -> float:
    with KafkaConsumer(config_of(job)) as consumer:
        started = time.perf_counter()
        assign(consumer, job)
        count = size = 0
        while count < job["records"]:
            for value in consumer.poll_batch(TIMEOUT_SECONDS).values:
                size += len(value)
                count += 1
        return time.perf_counter() - started


COMMANDS = {"bare": bare, "poll": poll, "iterate": iterate, "poll_batch": poll_batch}


def main() -> None:
    told = json.loads(sys.argv[1])
    serve_jobs(lambda _job: {"seconds": COMMANDS[told["command"]](told)})


if __name__ == "__main__":
    main()
