"""What these tests do with consumers again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from penstock.client.consumer.kafka_consumer import KafkaConsumer
from penstock.client.records import ConsumerRecord
from penstock.types import TopicPartition
from tests.support.processes import wait_for

PATIENCE_SECONDS = 30.0


def numbers(count: int, start: int = 0) -> list[bytes]:
    return [b"%d" % number for number in range(start, start + count)]


def values(records: Iterable[ConsumerRecord]) -> list[bytes]:
    return [record.value for record in records]


def read(consumer: KafkaConsumer, count: int) -> list[ConsumerRecord]:
    """So many records; what came too much fails the test."""
    records: list[ConsumerRecord] = []
    wait_for(
        lambda: records.extend(consumer.poll(0.1)) or len(records) >= count,
        PATIENCE_SECONDS,
        lambda: f"{count} records; got {len(records)}; {consumer.state}",
        interval=0,
    )
    assert len(records) == count
    return records


def poll_until(condition: Callable[[], object], *consumers: KafkaConsumer) -> list[ConsumerRecord]:
    """Polls all of them until the condition holds; returns what they got."""
    records: list[ConsumerRecord] = []

    def turn() -> object:
        for consumer in consumers:
            records.extend(consumer.poll(0.02))
        return condition()

    wait_for(turn, PATIENCE_SECONDS, lambda: "; ".join(str(each.state) for each in consumers), interval=0)
    return records


def committed_offset(consumer: KafkaConsumer, topic: str, partition: int = 0) -> int | None:
    found = consumer.committed([TopicPartition(topic, partition)])[TopicPartition(topic, partition)]
    return None if found is None else found.offset
