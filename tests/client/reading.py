"""Reads what a producer has written, with bare librdkafka."""

from collections.abc import Iterator
from contextlib import closing

from confluent_kafka import Consumer, Message, TopicPartition

TIMEOUT_SECONDS = 30.0


def records_of(
    servers: str, topic: str, count: int, isolation_level: str = "read_uncommitted"
) -> list[Message]:
    """The first `count` records, in the order of partition and offset."""
    with closing(Consumer(_config(servers, isolation_level))) as consumer:
        partitions = consumer.list_topics(topic, timeout=TIMEOUT_SECONDS).topics[topic].partitions
        consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
        found = consumer.consume(count, timeout=TIMEOUT_SECONDS)
    assert not [message.error() for message in found if message.error()]
    assert len(found) == count, f"{len(found)} of {count} records came"
    return sorted(found, key=lambda message: (message.partition(), message.offset()))


def all_committed_values(servers: str, topic: str) -> list[bytes | None]:
    """The values of a one-partition topic that a reader of committed records sees, up to its end."""
    return [message.value() for message in _up_to_end(servers, topic)]


def _up_to_end(servers: str, topic: str) -> Iterator[Message]:
    config = {**_config(servers, "read_committed"), "enable.partition.eof": True}
    with closing(Consumer(config)) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        while True:
            message = consumer.poll(TIMEOUT_SECONDS)
            assert message is not None, "nothing came"
            if message.error():
                return
            yield message


def _config(servers: str, isolation_level: str) -> dict[str, object]:
    group = {"group.id": "reader", "enable.auto.commit": False, "isolation.level": isolation_level}
    return {"bootstrap.servers": servers, "auto.offset.reset": "earliest", **group}
