"""A topic comes into being on first use, unless the client says that it must not."""

from __future__ import annotations

import pytest

from tests.foreign_clients.drivers.model import UNKNOWN_TOPIC_OR_PARTITION, Client, ClientError, Record
from tests.foreign_clients.drivers.registry import every_client


@every_client("produce", where=lambda kind: kind.name != "kafkajs")
def test_first_produce_creates_the_topic(client: Client, reader: Client, topic: str) -> None:
    client.produce(topic, [Record(b"first", partition=None)])
    assert reader.consume(topic, 1)[0].record.value == b"first"
    assert len(reader.describe_topic(topic)) == 1


@every_client("produce", where=lambda kind: kind.name == "kafkajs")
def test_first_produce_of_a_client_that_must_ask_twice(client: Client, reader: Client, topic: str) -> None:
    """kafkajs retries its send when the metadata does not name the topic yet; the record arrives once."""
    client.produce(topic, [Record(b"first", partition=None)])
    assert [each.record.value for each in reader.consume(topic, 1)] == [b"first"]
    assert reader.offsets(topic).end == 1


@every_client("partitions_of", where=lambda kind: kind.name != "kafka-python")  # asks for all topics at once
def test_a_consumer_that_may_create(client: Client, reader: Client, topic: str) -> None:
    for _ in range(20):  # the first answer may come before the topic is there
        try:
            if client.partitions_of(topic, auto_create=True) == [0]:
                break
        except ClientError:
            pass
    assert len(reader.describe_topic(topic)) == 1


@every_client("partitions_of")
def test_a_consumer_that_must_not_create(client: Client, reader: Client, topic: str) -> None:
    if client.name in ("java", "kafka-python"):  # they leave out what they cannot see
        assert client.partitions_of(topic, auto_create=False) == []
    else:
        with pytest.raises(ClientError) as raised:
            client.partitions_of(topic, auto_create=False)
        assert raised.value.code == UNKNOWN_TOPIC_OR_PARTITION
    assert topic not in reader.list_topics()


@every_client("produce", where=lambda kind: kind.chooses_auto_creation)
def test_a_producer_that_must_not_create(client: Client, reader: Client, topic: str) -> None:
    with pytest.raises(ClientError) as raised:
        client.produce(topic, [Record(b"nowhere")], auto_create=False)
    assert raised.value.code == UNKNOWN_TOPIC_OR_PARTITION
    assert topic not in reader.list_topics()
