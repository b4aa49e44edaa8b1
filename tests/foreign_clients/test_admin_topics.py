"""Topics as an administrator makes, sees, grows and removes them."""

from __future__ import annotations

import pytest

from tests.foreign_clients.drivers.model import (
    INVALID_PARTITIONS,
    INVALID_REPLICATION_FACTOR,
    INVALID_TOPIC_EXCEPTION,
    TOPIC_ALREADY_EXISTS,
    UNKNOWN_TOPIC_OR_PARTITION,
    Client,
    ClientError,
    PartitionInfo,
    Record,
)
from tests.foreign_clients.drivers.registry import every_client
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for


@every_client("create_topic", "describe_topic", "list_topics", "delete_topic")
def test_life_of_a_topic(client: Client, kafka: KafkaServer, topic: str) -> None:
    client.create_topic(topic, partitions=3)
    wait_for(lambda: topic in client.list_topics(), what="the topic to be listed")
    alone = (kafka.broker_id,)
    expected = [PartitionInfo(number, kafka.broker_id, alone, alone) for number in range(3)]
    assert client.describe_topic(topic) == expected
    client.delete_topic(topic)
    wait_for(lambda: topic not in client.list_topics(), what="the topic to be gone")


@every_client("create_topic", "delete_topic")
def test_a_topic_made_anew_is_empty(client: Client, reader: Client, topic: str) -> None:
    client.create_topic(topic, configs=KEEP_FOR_EVER)
    reader.produce(topic, numbered_records(5))
    client.delete_topic(topic)
    wait_for(lambda: topic not in reader.list_topics(), what="the topic to be gone")
    client.create_topic(topic)
    assert reader.offsets(topic).end == 0
    reader.produce(topic, [Record(b"new life")])
    assert [each.record.value for each in reader.consume(topic, 1)] == [b"new life"]


@every_client("create_topic", where=lambda kind: kind.name not in ("kafkajs", "aiokafka"))
def test_the_brokers_defaults(client: Client, reader: Client, topic: str) -> None:
    """kafkajs speaks too old a version to leave the numbers to the broker, and aiokafka does not let one."""
    client.create_topic(topic, partitions=-1, replication_factor=-1)
    assert [len(each.replicas) for each in reader.describe_topic(topic)] == [1]


@every_client("create_topic")
def test_validation_makes_nothing(client: Client, reader: Client, topic: str) -> None:
    client.create_topic(topic, validate_only=True)
    assert topic not in reader.list_topics()


@every_client("create_partitions")
def test_more_partitions(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    reader.produce(topic, numbered_records(2))
    client.create_partitions(topic, 4)
    wait_for(lambda: len(reader.describe_topic(topic)) == 4, what="four partitions")
    reader.produce(topic, [Record(b"in the new one", partition=3)])
    assert reader.consume(topic, 1, partition=3)[0].record.value == b"in the new one"
    assert reader.offsets(topic).end == 2


@every_client("create_topic")
def test_a_topic_that_exists(client: Client, topic: str) -> None:
    client.create_topic(topic)
    with pytest.raises(ClientError) as raised:
        client.create_topic(topic)
    assert raised.value.code == TOPIC_ALREADY_EXISTS


@pytest.mark.parametrize("name", ["with space", "with/slash", "..", "x" * 250])
@every_client("create_topic")
def test_a_bad_topic_name(client: Client, name: str) -> None:
    with pytest.raises(ClientError) as raised:
        client.create_topic(name)
    assert raised.value.code == INVALID_TOPIC_EXCEPTION


@every_client("create_topic")
def test_names_that_collide_as_metric_names(client: Client, topic: str) -> None:
    client.create_topic(f"{topic}.a_b")
    with pytest.raises(ClientError) as raised:
        client.create_topic(f"{topic}.a.b")
    assert raised.value.code == INVALID_TOPIC_EXCEPTION


@every_client("create_topic")
def test_more_replicas_than_brokers(client: Client, topic: str) -> None:
    with pytest.raises(ClientError) as raised:
        client.create_topic(topic, replication_factor=2)
    assert raised.value.code == INVALID_REPLICATION_FACTOR


@every_client("create_topic", where=lambda kind: kind.name != "confluent-kafka")
def test_no_partitions(client: Client, topic: str) -> None:
    """librdkafka refuses by itself."""
    with pytest.raises(ClientError) as raised:
        client.create_topic(topic, partitions=0)
    assert raised.value.code == INVALID_PARTITIONS


@pytest.mark.parametrize("total", [2, 1])
@every_client("create_partitions")
def test_as_many_or_fewer_partitions(client: Client, total: int, reader: Client, topic: str) -> None:
    reader.create_topic(topic, partitions=2)
    with pytest.raises(ClientError) as raised:
        client.create_partitions(topic, total)
    assert raised.value.code == INVALID_PARTITIONS


@pytest.mark.parametrize("operation", ["delete_topic", "create_partitions", "describe_topic"])
@every_client("delete_topic", "create_partitions", "describe_topic")
def test_no_such_topic(client: Client, operation: str, reader: Client, topic: str) -> None:
    if (client.name, operation) == ("aiokafka", "describe_topic"):
        client.describe_topic(topic)  # its request for metadata allows the broker to create the topic
        assert topic in reader.list_topics()
        return
    arguments = (topic, 3) if operation == "create_partitions" else (topic,)
    with pytest.raises(ClientError) as raised:
        getattr(client, operation)(*arguments)
    assert raised.value.code == UNKNOWN_TOPIC_OR_PARTITION
    assert topic not in reader.list_topics()
