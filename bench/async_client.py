"""Producing in an event loop: confluent-kafka's `AIOProducer` and `AsyncKafkaProducer`, each in a process of its own.

`python -m bench.async_client ours '{"bootstrap": ..., "topic": ..., "records": ..., "record_bytes": ...}'` prints the
seconds from the first record to the last acknowledgement as JSON. Both have the same settings of librdkafka, the same
event loop, and do the same: a window of records is sent, and the future of each of them is awaited.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable
from typing import Any

from confluent_kafka.aio import AIOProducer

from penstock import AsyncKafkaProducer, ProducerConfig

MODULE = "bench.async_client"
WINDOW = 50_000

Job = dict[str, Any]


def config_of(job: Job) -> ProducerConfig:
    """Large batches, as a busy producer makes them, so that it is not the broker that is measured."""
    return ProducerConfig(bootstrap_servers=job["bootstrap"], batch_size=1_000_000, linger_ms=5)


async def aio(job: Job) -> float:
    producer = AIOProducer({**config_of(job).for_librdkafka(), "partitioner": "murmur2_random"})
    topic, value = job["topic"], os.urandom(job["record_bytes"])
    first = await producer.produce(topic, value)
    await producer.flush()
    await first
    started = time.perf_counter()
    for _ in range(job["records"] // WINDOW):
        futures = [await producer.produce(topic, value) for _ in range(WINDOW)]
        await producer.flush()  # what is left in its buffer
        await all_of(futures)
    seconds = time.perf_counter() - started
    await producer.close()
    return seconds


async def ours(job: Job) -> float:
    async with AsyncKafkaProducer(config_of(job)) as producer:
        topic, value = job["topic"], os.urandom(job["record_bytes"])
        await producer.send(topic, value)
        started = time.perf_counter()
        for _ in range(job["records"] // WINDOW):
            await all_of([producer.send_nowait(topic, value) for _ in range(WINDOW)])
        return time.perf_counter() - started


async def all_of(futures: list[Any] | list[Awaitable[Any]]) -> None:
    for future in futures:
        await future


COMMANDS = {"aio": aio, "ours": ours}

if __name__ == "__main__":
    print(json.dumps({"seconds": asyncio.run(COMMANDS[sys.argv[1]](json.loads(sys.argv[2])))}))
