from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from penstock.testing import InProcessBroker
from tests.cli.running import Cli


@pytest.fixture
def cli(penstock_broker: InProcessBroker, tmp_path: Path) -> Cli:
    return Cli(penstock_broker.bootstrap_servers, tmp_path)


@pytest.fixture
def produce(penstock_bootstrap_servers: str) -> Callable[..., None]:
    """Sends values, or (key, value) pairs, to a topic."""
    producer = Producer({"bootstrap.servers": penstock_bootstrap_servers, "linger.ms": 0})

    def send(topic: str, *records: bytes | tuple[bytes | None, bytes | None], **more: object) -> None:
        for record in records:
            key, value = record if isinstance(record, tuple) else (None, record)
            producer.produce(topic, value, key, **more)
        assert producer.flush(30) == 0

    return send


@pytest.fixture
def group(penstock_bootstrap_servers: str, penstock_topic: str) -> Iterator[str]:
    """A group with one member, which has committed offset 1 of the test's topic."""
    name = f"{penstock_topic}-group"
    consumer = Consumer(
        {"bootstrap.servers": penstock_bootstrap_servers, "group.id": name, "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([penstock_topic])
    while not consumer.assignment():
        consumer.poll(0.1)
    consumer.commit(offsets=[TopicPartition(penstock_topic, 0, 1)], asynchronous=False)
    yield name
    consumer.close()
