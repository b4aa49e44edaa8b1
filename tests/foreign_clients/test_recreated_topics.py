"""A topic that is deleted and created again at once, while a producer of librdkafka's still knows it.

The producer asks for the topic's metadata all the while, which makes a topic that is not there, since it may create
topics; it must not take the name from whoever deleted the topic in order to create it anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.support.cluster_fixture import KafkaServer

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
