"""A topic that is deleted and created again at once, while a producer of librdkafka's still knows it.

The producer asks for the topic's metadata all the while, which makes a topic that is not there, since it may create
topics; it must not take the name from whoever deleted the topic in order to create it anew. Apache Kafka 4.3.1 lets it:
there, too, eight rounds of the first of these tests have ended with TOPIC_ALREADY_EXISTS.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from threading import Event, Thread

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, ShareConsumer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from tests.support.cluster_fixture import PEER, KafkaServer
from tests.support.processes import wait_for

pytestmark = pytest.mark.skipif(PEER == "apache", reason="Apache Kafka gives the name to the producer")

ROUNDS = 8
PARTITIONS = 3
SECONDS = 30.0


@contextmanager
def served(producer: Producer) -> Iterator[None]:
    stopping = Event()

    def poll() -> None:
        while not stopping.is_set():
            producer.poll(0.01)

    thread = Thread(target=poll)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


def values_in(kafka: KafkaServer, topic: str, count: int) -> list[bytes | None]:
    consumer = Consumer(
        {"bootstrap.servers": kafka.bootstrap, "group.id": "none", "enable.auto.commit": False}
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    messages = consumer.consume(count, SECONDS)
    consumer.close()
    return [message.value() for message in messages]


def test_a_topic_is_created_again_under_a_living_producer(kafka: KafkaServer, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    producer = Producer(
        {"bootstrap.servers": kafka.bootstrap, "topic.metadata.refresh.interval.ms": 20, "linger.ms": 0}
    )
    failed: list[KafkaError] = []

    def note(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            failed.append(error)

    with served(producer):
        for number in range(ROUNDS):
            admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(SECONDS)
            producer.produce(topic, b"%d" % number, partition=0, on_delivery=note)
            assert producer.flush(SECONDS) == 0
            assert failed == []
            assert values_in(kafka, topic, 1) == [b"%d" % number]
            assert len(admin.list_topics(topic, SECONDS).topics[topic].partitions) == PARTITIONS
            admin.delete_topics([topic])[topic].result(SECONDS)
        admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(SECONDS)
        assert len(admin.list_topics(topic, SECONDS).topics[topic].partitions) == PARTITIONS


def begin_at_the_earliest(admin: AdminClient, group: str) -> None:
    entry = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.GROUP, group, incremental_configs=[entry])
    admin.incremental_alter_configs([resource])[resource].result(SECONDS)


def shared(consumer: ShareConsumer, values: set[bytes]) -> dict[bytes, int]:
    """How often each was delivered when it was first seen; of all that come until these have."""
    found: dict[bytes, int] = {}
    deadline = time.monotonic() + SECONDS
    while not values <= found.keys() and time.monotonic() < deadline:
        for message in consumer.poll(timeout=0.5):
            if message.error() is None:
                found.setdefault(message.value(), message.delivery_count())
    return found


def test_a_topic_is_created_again_under_a_share_group(kafka: KafkaServer, topic: str) -> None:
    """As confluent-kafka-python's own test goes: who deletes the topic looks until it is gone, once a second, while a
    producer and a share consumer that know it look twice a second."""
    often = {
        "bootstrap.servers": kafka.bootstrap,
        "topic.metadata.refresh.interval.ms": 500,
        "topic.metadata.propagation.max.ms": 0,
    }
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    begin_at_the_earliest(admin, f"group-{topic}")
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(SECONDS)
    old_producer = Producer(often)
    with closing(ShareConsumer({**often, "group.id": f"group-{topic}"})) as consumer:
        consumer.subscribe([topic])
        old_producer.produce(topic, b"before")
        assert old_producer.flush(SECONDS) == 0
        assert shared(consumer, {b"before"}) == {b"before": 1}
        with served(old_producer):
            for _ in range(ROUNDS):
                admin.delete_topics([topic])[topic].result(SECONDS)
                wait_for(lambda: topic not in admin.list_topics(timeout=SECONDS).topics, interval=1.0)
                admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(SECONDS)
                consumer.poll(timeout=0.3)
        producer = Producer(often)
        producer.produce(topic, b"after")
        assert producer.flush(SECONDS) == 0
        assert shared(consumer, {b"after"}) == {b"after": 1}
