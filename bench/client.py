"""The load: librdkafka in a process of its own, so that its work is never counted as the server's.

`python -m bench.client produce '{"bootstrap": ..., ...}'` does one job and prints its result as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT_SECONDS = 900
RECORDS_PER_TURN = 1_000  # that many records go to one partition before the next has its turn
SMALL_VALUE_SIZES = range(80, 144)
SETTLE_SECONDS = 2.0

Job = dict[str, Any]


def run_client(command: str, **job: Any) -> Job:
    """Runs one job in a new process and returns what it printed."""
    return run_module("bench.client", command, job)


def run_module(module: str, command: str, job: Job) -> Job:
    done = subprocess.run(
        [sys.executable, "-m", module, command, json.dumps(job)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{module} {command} failed:\n{done.stdout}{done.stderr}")
    result: Job = json.loads(done.stdout)
    return result


def raise_on_error(error: KafkaError | None, _message: Message) -> None:
    if error is not None:
        raise KafkaException(error)


def produce_all(
    producer: Producer, job: Job, values: list[bytes], records_per_turn: int = RECORDS_PER_TURN
) -> float:
    """Seconds until every record is acknowledged."""
    started = time.perf_counter()
    topic, partitions = job["topic"], job["partitions"]
    for number in range(job["records"]):
        partition = number // records_per_turn % partitions
        value = values[number % len(values)]
        while True:
            try:
                producer.produce(topic, value, partition=partition, on_delivery=raise_on_error)
                break
            except BufferError:
                producer.poll(0.1)
    if producer.flush(TIMEOUT_SECONDS):
        raise RuntimeError("not every record was acknowledged")
    return time.perf_counter() - started


def produce(job: Job) -> Job:
    """Large batches, as a busy producer makes them."""
    producer = Producer(
        {
            "bootstrap.servers": job["bootstrap"],
            "acks": job["acks"],
            "compression.type": "none",
            "batch.size": 1_000_000,
            "linger.ms": 50,
            "queue.buffering.max.messages": 100_000,
        }
    )
    return {"seconds": produce_all(producer, job, [os.urandom(job["record_bytes"])])}


def produce_one_by_one(job: Job) -> Job:
    """One record in each request; values differ, and so do most of their sizes."""
    producer = Producer(
        {
            "bootstrap.servers": job["bootstrap"],
            "acks": 1,
            "batch.num.messages": 1,
            "linger.ms": 0,
            "max.in.flight": job["max_in_flight"],
            "socket.nagle.disable": True,
        }
    )
    values = [os.urandom(size) for size in SMALL_VALUE_SIZES]
    return {"seconds": produce_all(producer, job, values, records_per_turn=1)}


def assigned_consumer(job: Job, offset: int) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": job["bootstrap"],
            "group.id": "bench",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "fetch.queue.backoff.ms": 10,  # else a full queue stops fetching for a second
            "socket.nagle.disable": True,
        }
    )
    partitions = range(job["partitions"])
    consumer.assign([TopicPartition(job["topic"], partition, offset) for partition in partitions])
    return consumer


def consume(job: Job) -> Job:
    """Everything from the start of the topic, as a consumer that starts cold."""
    started = time.perf_counter()
    consumer = assigned_consumer(job, offset=0)
    left = job["records"]
    while left > 0:
        messages = consumer.consume(min(left, 10_000), timeout=30.0)
        if not messages:
            raise RuntimeError(f"nothing arrives any more, {left} records to go")
        for message in messages:
            raise_on_error(message.error(), message)
        left -= len(messages)
    consumer.close()
    return {"seconds": time.perf_counter() - started}


def latency(job: Job) -> Job:
    """Nanoseconds from produce() to the consumer's poll() that returns it, by one clock, at a gentle rate.

    Where something carries the records on, `arrival` says where they come out: another topic, another bootstrap.
    """
    total = job["warm_up_records"] + job["records"]
    latencies: list[int] = []
    consumer = assigned_consumer({**job, **job.get("arrival", {})}, offset=job.get("offset", 0))

    def receive() -> None:
        while len(latencies) < total:
            message = consumer.poll(30.0)
            if message is None:
                return
            raise_on_error(message.error(), message)
            latencies.append(time.perf_counter_ns() - int(message.value() or 0))

    receiver = threading.Thread(target=receive)
    receiver.start()
    time.sleep(SETTLE_SECONDS)
    send_at_rate(job, total)
    receiver.join()
    consumer.close()
    if len(latencies) < total:
        raise RuntimeError(f"only {len(latencies)} of {total} records arrived")
    return {"nanoseconds": latencies[job["warm_up_records"] :]}


def send_at_rate(job: Job, count: int) -> None:
    producer = Producer(
        {"bootstrap.servers": job["bootstrap"], "acks": 1, "linger.ms": 0, "socket.nagle.disable": True}
    )
    next_at = time.perf_counter()
    for _ in range(count):
        producer.produce(job["topic"], str(time.perf_counter_ns()).encode(), partition=0)
        producer.poll(0)
        next_at += 1 / job["records_per_second"]
        time.sleep(max(0.0, next_at - time.perf_counter()))
    producer.flush(30.0)


def transactions(job: Job) -> Job:
    """Seconds for transactions one after the other, each with its records spread over the partitions."""
    producer = Producer(
        {
            "bootstrap.servers": job["bootstrap"],
            "transactional.id": f"bench-{uuid.uuid4()}",
            "linger.ms": 5 if job["records"] > 1 else 0,
            "batch.size": 1_000_000,
            "socket.nagle.disable": True,
        }
    )
    producer.init_transactions(TIMEOUT_SECONDS)
    value = os.urandom(job["record_bytes"])
    started = time.perf_counter()
    for number in range(job["transactions"]):
        producer.begin_transaction()
        for record in range(job["records"]):
            producer.produce(
                job["topic"],
                value,
                partition=(number + record) % job["partitions"],
                on_delivery=raise_on_error,
            )
        producer.commit_transaction(TIMEOUT_SECONDS)
    return {"seconds": time.perf_counter() - started}


COMMANDS = {
    "produce": produce,
    "produce_one_by_one": produce_one_by_one,
    "consume": consume,
    "latency": latency,
    "transactions": transactions,
}

if __name__ == "__main__":
    print(json.dumps(COMMANDS[sys.argv[1]](json.loads(sys.argv[2]))))
