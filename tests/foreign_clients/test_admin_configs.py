"""Configs as clients describe and alter them, and what a change does at once."""

from __future__ import annotations

import pytest

from tests.foreign_clients.drivers.model import (
    INVALID_CONFIG,
    MESSAGE_TOO_LARGE,
    UNKNOWN_TOPIC_OR_PARTITION,
    Change,
    Client,
    ClientError,
    Record,
)
from tests.foreign_clients.drivers.registry import every_client
from tests.foreign_clients.samples import numbered_records
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for

TOPIC_DEFAULTS = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
    "delete.retention.ms": "86400000",
    "file.delete.delay.ms": "60000",
    "flush.messages": "9223372036854775807",
    "flush.ms": "9223372036854775807",
    "index.interval.bytes": "4096",
    "max.compaction.lag.ms": "9223372036854775807",
    "max.message.bytes": "1048588",
    "message.timestamp.after.max.ms": "3600000",
    "message.timestamp.before.max.ms": "9223372036854775807",
    "message.timestamp.type": "CreateTime",
    "min.cleanable.dirty.ratio": "0.5",
    "min.compaction.lag.ms": "0",
    "min.insync.replicas": "1",
    "preallocate": "false",
    "retention.bytes": "-1",
    "retention.ms": "604800000",
    "segment.bytes": "1073741824",
    "segment.index.bytes": "10485760",
    "segment.jitter.ms": "0",
    "segment.ms": "604800000",
    "unclean.leader.election.enable": "false",
}


def values(client: Client, topic: str) -> dict[str, str | None]:
    return {name: entry.value for name, entry in client.describe_configs("TOPIC", topic).items()}


@every_client("describe_configs")
def test_every_topic_config_with_its_default(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic)
    configs = client.describe_configs("TOPIC", topic)
    assert {name: configs[name].value for name in TOPIC_DEFAULTS} == TOPIC_DEFAULTS
    # Apache Kafka with eligible leader replicas sets min.insync.replicas for the whole cluster by itself
    others = {entry.source for name, entry in configs.items() if name != "min.insync.replicas"}
    assert others == {"DEFAULT_CONFIG"}
    assert not any(entry.sensitive for entry in configs.values())


@every_client("create_topic", "describe_configs")
def test_configs_given_at_creation(client: Client, topic: str) -> None:
    client.create_topic(topic, configs={"retention.ms": "5000000", "cleanup.policy": "compact"})
    configs = client.describe_configs("TOPIC", topic)
    changed = {name: entry.value for name, entry in configs.items() if entry.source == "DYNAMIC_TOPIC_CONFIG"}
    assert changed == {"retention.ms": "5000000", "cleanup.policy": "compact"}


@every_client("describe_configs")
def test_broker_configs(client: Client, kafka: KafkaServer) -> None:
    configs = client.describe_configs("BROKER", str(kafka.broker_id))
    assert configs["log.dirs"].value == str(kafka.log_dir)
    assert configs["log.dirs"].source == "STATIC_BROKER_CONFIG"
    assert configs["num.partitions"].value == "1"
    assert configs["log.retention.hours"].value == "168"
    assert configs["log.retention.hours"].source == "DEFAULT_CONFIG"
    assert configs["ssl.keystore.password"].sensitive
    assert configs["ssl.keystore.password"].value is None


@every_client("alter_configs", "describe_configs", where=lambda kind: kind.name != "kafka-python")
def test_altering_resets_what_is_not_named(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs={"retention.ms": "5000000"})
    client.alter_configs("TOPIC", topic, {"segment.bytes": "2000000"})
    wait_for(lambda: values(client, topic)["segment.bytes"] == "2000000", what="the new value")
    assert values(client, topic)["retention.ms"] == TOPIC_DEFAULTS["retention.ms"]


@every_client("alter_configs", "describe_configs", where=lambda kind: kind.name == "kafka-python")
def test_altering_by_a_client_that_fills_in_the_rest(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs={"retention.ms": "5000000"})
    client.alter_configs("TOPIC", topic, {"segment.bytes": "2000000"})
    wait_for(lambda: values(client, topic)["segment.bytes"] == "2000000", what="the new value")
    assert values(client, topic)["retention.ms"] == "5000000"


@every_client("incremental_alter_configs", "describe_configs")
def test_incremental_changes(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs={"retention.ms": "5000000", "flush.ms": "777"})
    changes = [
        Change("SET", "segment.bytes", "2000000"),
        Change("DELETE", "flush.ms"),
        Change("APPEND", "cleanup.policy", "compact"),
    ]
    client.incremental_alter_configs("TOPIC", topic, changes)
    wait_for(lambda: values(client, topic)["segment.bytes"] == "2000000", what="the new value")
    found = values(client, topic)
    assert found["retention.ms"] == "5000000"
    assert found["flush.ms"] == TOPIC_DEFAULTS["flush.ms"]
    assert found["cleanup.policy"] == "delete,compact"
    client.incremental_alter_configs("TOPIC", topic, [Change("SUBTRACT", "cleanup.policy", "delete")])
    wait_for(lambda: values(client, topic)["cleanup.policy"] == "compact", what="the shorter list")


@every_client("incremental_alter_configs", "produce")
def test_a_change_takes_effect_at_once(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic)
    client.produce(topic, [Record(b"x" * 5000)])
    client.incremental_alter_configs("TOPIC", topic, [Change("SET", "max.message.bytes", "1000")])
    wait_for(lambda: values(reader, topic)["max.message.bytes"] == "1000", what="the new value")
    with pytest.raises(ClientError) as raised:
        client.produce(topic, [Record(b"x" * 5000)])
    assert raised.value.code == MESSAGE_TOO_LARGE
    assert reader.offsets(topic).end == 1


@every_client("incremental_alter_configs", "describe_configs", where=lambda kind: kind.name == "java")
def test_a_brokers_dynamic_config(client: Client, kafka: KafkaServer, reader: Client, topic: str) -> None:
    """One client only: the setting is the whole broker's."""
    broker = str(kafka.broker_id)
    reader.create_topic(topic)
    client.incremental_alter_configs("BROKER", broker, [Change("SET", "log.flush.interval.ms", "123456")])
    wait_for(
        lambda: client.describe_configs("BROKER", broker)["log.flush.interval.ms"].value == "123456",
        what="the broker's new value",
    )
    described = client.describe_configs("BROKER", broker)["log.flush.interval.ms"]
    assert described.source == "DYNAMIC_BROKER_CONFIG"
    assert values(client, topic)["flush.ms"] == "123456"
    assert client.describe_configs("TOPIC", topic)["flush.ms"].source == "DYNAMIC_BROKER_CONFIG"
    client.incremental_alter_configs("BROKER", broker, [Change("DELETE", "log.flush.interval.ms")])
    wait_for(
        lambda: client.describe_configs("BROKER", broker)["log.flush.interval.ms"].value is None,
        what="the broker's old value",
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [("retention.ms", "soon"), ("segment.bytes", "-5"), ("cleanup.policy", "shred"), ("no.such.config", "1")],
)
@every_client("create_topic")
def test_a_bad_config_at_creation(client: Client, name: str, value: str, reader: Client, topic: str) -> None:
    with pytest.raises(ClientError) as raised:
        client.create_topic(topic, configs={name: value})
    assert raised.value.code == INVALID_CONFIG
    assert topic not in reader.list_topics()


@every_client("incremental_alter_configs", "describe_configs")
def test_a_bad_incremental_change(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic)
    changes = [Change("SET", "segment.bytes", "2000000"), Change("SET", "retention.ms", "soon")]
    with pytest.raises(ClientError) as raised:
        client.incremental_alter_configs("TOPIC", topic, changes)
    assert raised.value.code == INVALID_CONFIG
    assert values(client, topic)["segment.bytes"] == TOPIC_DEFAULTS["segment.bytes"]


@every_client("alter_configs")
def test_a_bad_change(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic)
    with pytest.raises(ClientError) as raised:
        client.alter_configs("TOPIC", topic, {"min.cleanable.dirty.ratio": "1.5"})
    assert raised.value.code == INVALID_CONFIG


@every_client("describe_configs")
def test_configs_of_no_such_topic(client: Client, topic: str) -> None:
    with pytest.raises(ClientError) as raised:
        client.describe_configs("TOPIC", topic)
    assert raised.value.code == UNKNOWN_TOPIC_OR_PARTITION


@every_client("incremental_alter_configs")
def test_changing_configs_of_no_such_topic(client: Client, topic: str) -> None:
    with pytest.raises(ClientError) as raised:
        client.incremental_alter_configs("TOPIC", topic, [Change("SET", "retention.ms", "1000")])
    assert raised.value.code == UNKNOWN_TOPIC_OR_PARTITION


@every_client("produce")
def test_broker_side_recompression(client: Client, reader: Client, kafka: KafkaServer, topic: str) -> None:
    """A topic with a codec of its own stores with that one, whatever the producer used."""
    reader.create_topic(topic, configs={"compression.type": "zstd", "retention.ms": "-1"})
    records = numbered_records(50, size=500)
    client.produce(topic, records, codec="gzip")
    assert [each.record for each in reader.consume(topic, 50)] == records
    [segment] = kafka.partition_dir(topic).glob("*.log")
    attributes = int.from_bytes(segment.read_bytes()[21:23], "big")
    assert attributes & 7 == 4
