"""All records of a topic, known to be all by the end that librdkafka tells of, not by a time without records; and
records that nobody who reads what is committed may ever see."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from penstock import ConsumerRecord, KafkaProducer
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


def abort_records(bootstrap: str, topic: str, *values: str) -> None:
    """They are in the topic, as a source leaves them that is killed before its transaction is committed."""
    with KafkaProducer(
        bootstrap_servers=bootstrap, transactional_id=f"aborts-{uuid.uuid4().hex}"
    ) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        for value in values:
            producer.produce(topic, value.encode())
        producer.flush(SECONDS)
        producer.abort_transaction()
