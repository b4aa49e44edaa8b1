"""All records of a topic, known to be all by the end that librdkafka tells of, not by a time without records."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from penstock import ConsumerRecord
from penstock.client.consumer.decode import plain_records

SECONDS: Final = 60.0
NO_TOPIC: Final = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC}


def records_to_end(
    bootstrap: str, topic: str, partitions: Iterable[int] = (0,), isolation: str = "read_committed"
) -> list[ConsumerRecord]:
    """None if there is no such topic."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reads-to-the-end",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
            "isolation.level": isolation,
            "topic.metadata.propagation.max.ms": 0,
        }
    )
    left, found = set(partitions), []
    deadline = time.monotonic() + SECONDS
    try:
        consumer.assign([TopicPartition(topic, each, 0) for each in left])
        while left:
            assert time.monotonic() < deadline, f"waited {SECONDS:g} s for the end of {topic}, {left}"
            for message in consumer.consume(1_000, 0.1):
                error = message.error()
                if error is None:
                    found.append(message)
                elif error.code() == KafkaError._PARTITION_EOF:
                    left.discard(message.partition())
                elif error.code() in NO_TOPIC:
                    return []
                else:
                    raise KafkaException(error)
        return plain_records(found)
    finally:
        consumer.close()
