"""From the moment that an event is due to the moment that its count is read: one of each, in the same order.

`python -m bench.streams.latency_client latency '{"bootstrap": ..., ...}'` prints nanoseconds. Readers take what is
committed.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any

from confluent_kafka import OFFSET_END, Consumer, Producer, TopicPartition

from bench.client import raise_on_error
from bench.streams.records import EVENT, EVENTS, PARTITIONS

KEY, PARTITION = b"key-0", 0
PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.5


def latency(job: dict[str, Any]) -> dict[str, Any]:
    total, warm_up = job["warm_up_records"] + job["records"], job["warm_up_records"]
    due: list[int] = []
    consumer = _consumer(job)
    sending = threading.Thread(target=_send, args=(job, total, due))
    sending.start()
    arrived: list[int] = []
    deadline = time.monotonic() + PATIENCE_SECONDS + total / job["records_per_second"]
    while len(arrived) < total and time.monotonic() < deadline:
        message = consumer.poll(POLL_SECONDS)
        if message is not None and message.error() is None:
            arrived.append(time.perf_counter_ns())
    sending.join()
    consumer.close()
    if len(arrived) < total:
        raise RuntimeError(f"{len(arrived)} of {total} counts came")
    return {"nanoseconds": [late - early for early, late in zip(due, arrived, strict=True)][warm_up:]}


def _consumer(job: dict[str, Any]) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": job["bootstrap"],
            "group.id": "latency",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(job["topic"], number, OFFSET_END) for number in range(PARTITIONS)])
    ends = 0
    while ends < PARTITIONS and (message := consumer.poll(PATIENCE_SECONDS)) is not None:
        ends += message.error() is not None
    return consumer


def _send(job: dict[str, Any], total: int, due: list[int]) -> None:
    producer = Producer({"bootstrap.servers": job["bootstrap"], "linger.ms": 0})
    pause = 1_000_000_000 // job["records_per_second"]
    start = time.perf_counter_ns()
    for number in range(total):
        moment = start + number * pause
        while (wait := moment - time.perf_counter_ns()) > 0:
            producer.poll(0)
            time.sleep(min(wait / 1e9, 0.01))
        due.append(moment)
        value = EVENT % (number, number, 1, 1)
        producer.produce(EVENTS, value, KEY, PARTITION, raise_on_error)
        producer.poll(0)
    producer.flush(PATIENCE_SECONDS)


if __name__ == "__main__":
    print(json.dumps(latency(json.loads(sys.argv[2]))))
