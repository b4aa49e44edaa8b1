"""A server with quick coordinators (Apache Kafka with PENSTOCK_TEST_PEER=apache), topics, and consumers.

What is read was written by librdkafka's own producer, so that these tests stand on nothing but the consumer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.client.consumer.kafka_consumer import KafkaConsumer
from tests.support.cluster_fixture import KafkaServer, running_kafka
from tools.suite.processes import starts_processes

SETTINGS = {
    "auto.create.topics.enable": "false",
    "log.retention.ms": "-1",  # some send records of long ago
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "300",
    "group.consumer.heartbeat.interval.ms": "300",
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "2",
}

MakeConsumer = Callable[..., KafkaConsumer]
Produce = Callable[..., None]
_numbers = itertools.count()


@pytest.fixture(scope="session")
@starts_processes
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    with running_kafka(tmp_path_factory.mktemp("kafka"), SETTINGS) as server:
        yield server


@pytest.fixture(scope="session")
def administrator(kafka: KafkaServer) -> AdminClient:
    return AdminClient({"bootstrap.servers": kafka.bootstrap})


@pytest.fixture
def make_topic(administrator: AdminClient) -> Callable[[int], str]:
    def make(partitions: int = 1, prefix: str = "topic") -> str:
        name = f"{prefix}-{next(_numbers)}"
        for future in administrator.create_topics([NewTopic(name, partitions, 1)]).values():
            future.result(30)
        return name

    return make


@pytest.fixture
def topic(make_topic: Callable[[int], str]) -> str:
    return make_topic(1)


@pytest.fixture
def group() -> str:
    return f"group-{next(_numbers)}"


@pytest.fixture(scope="session")
def produce(kafka: KafkaServer) -> Produce:
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "linger.ms": 0})

    def send(topic: str, values: Iterable[bytes], partition: int = 0, **fields: Any) -> None:
        for value in values:
            producer.produce(topic, value, partition=partition, **fields)
        assert producer.flush(30) == 0

    return send


@pytest.fixture
def consumer(kafka: KafkaServer) -> Iterator[MakeConsumer]:
    """Makes consumers of the server that start at the beginning; all are closed in the end."""
    made: list[KafkaConsumer] = []

    def make(*topics: Any, **settings: Any) -> KafkaConsumer:
        settings = {"bootstrap_servers": kafka.bootstrap, "auto_offset_reset": "earliest", **settings}
        made.append(KafkaConsumer(*topics, **settings))
        return made[-1]

    yield make
    for one in made:
        one.close()
