"""Records and replicas as an administrator sees them: deletion, log directories, producers, the cluster."""

from __future__ import annotations

import os

import pytest

from tests.foreign_clients.drivers.model import (
    INVALID_RECORD,
    MESSAGE_TOO_LARGE,
    OFFSET_OUT_OF_RANGE,
    Client,
    ClientError,
    Record,
)
from tests.foreign_clients.drivers.registry import every_client
from tests.foreign_clients.samples import BASE_TIMESTAMP, KEEP_FOR_EVER, numbered_records
from tests.support.cluster_fixture import KafkaServer


@every_client("describe_cluster")
def test_the_cluster(client: Client, reader: Client, kafka: KafkaServer) -> None:
    cluster = client.describe_cluster()
    assert cluster.brokers == {kafka.broker_id: kafka.bootstrap}
    if cluster.cluster_id is not None:
        assert cluster.cluster_id == reader.describe_cluster().cluster_id
        assert len(cluster.cluster_id) == 22
    if cluster.controller is not None:
        assert cluster.controller == kafka.broker_id


@every_client("delete_records")
def test_records_are_deleted_up_to_an_offset(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    reader.produce(topic, numbered_records(20))
    assert client.delete_records(topic, 12) == 12
    found = reader.offsets(topic, [0])
    assert (found.beginning, found.end) == (12, 20)
    assert found.for_times[0].offset == 12
    assert [each.offset for each in reader.consume(topic, 8, offset=12)] == list(range(12, 20))
    with pytest.raises(ClientError) as raised:
        reader.consume(topic, 1, offset=5)
    assert raised.value.code == OFFSET_OUT_OF_RANGE


@every_client("delete_records")
def test_records_are_deleted_up_to_the_end(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    reader.produce(topic, numbered_records(6))
    assert client.delete_records(topic, -1) == 6
    found = reader.offsets(topic)
    assert (found.beginning, found.end) == (6, 6)
    assert reader.produce(topic, [Record(b"next")])[0].offset == 6


@every_client("delete_records")
def test_records_beyond_the_end(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    reader.produce(topic, numbered_records(6))
    with pytest.raises(ClientError) as raised:
        client.delete_records(topic, 7)
    assert raised.value.code in (OFFSET_OUT_OF_RANGE, -1)
    assert reader.offsets(topic).beginning == 0


@every_client("describe_log_dirs")
def test_log_dirs(client: Client, reader: Client, kafka: KafkaServer, topic: str) -> None:
    reader.create_topic(topic, partitions=2, configs=KEEP_FOR_EVER)
    reader.produce(topic, numbered_records(10))
    replicas = {
        replica.partition: replica
        for replica in client.describe_log_dirs(kafka.broker_id)
        if replica.topic == topic
    }
    assert sorted(replicas) == [0, 1]
    assert {os.path.realpath(each.path) for each in replicas.values()} == {os.path.realpath(kafka.log_dir)}
    [segment] = kafka.partition_dir(topic).glob("*.log")
    assert replicas[0].size == segment.stat().st_size
    assert replicas[1].size == 0


@every_client("describe_producers")
def test_producers_of_a_partition(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    assert client.describe_producers(topic) == []
    reader.produce(topic, numbered_records(10), idempotent=True)
    reader.produce(topic, numbered_records(4), idempotent=True)
    producers = client.describe_producers(topic)
    assert sorted(each.last_sequence for each in producers) == [3, 9]
    assert {each.epoch for each in producers} == {0}
    assert len({each.producer_id for each in producers}) == 2
    assert {each.last_timestamp for each in producers} == {BASE_TIMESTAMP + 9_000, BASE_TIMESTAMP + 3_000}


@every_client("produce")
def test_a_record_above_the_limit(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs={"max.message.bytes": "10000", **KEEP_FOR_EVER})
    with pytest.raises(ClientError) as raised:
        client.produce(topic, [Record(os.urandom(20_000), timestamp=BASE_TIMESTAMP)])
    assert raised.value.code == MESSAGE_TOO_LARGE
    client.produce(topic, [Record(b"fits", timestamp=BASE_TIMESTAMP)])
    assert [each.offset for each in reader.consume(topic, 1)] == [0]


@every_client("produce")
def test_a_compacted_topic_wants_keys(client: Client, reader: Client, topic: str) -> None:
    reader.create_topic(topic, configs={"cleanup.policy": "compact"})
    with pytest.raises(ClientError) as raised:
        client.produce(topic, [Record(b"no key")])
    assert raised.value.code == INVALID_RECORD or client.name == "aiokafka"  # it does not know that code
    client.produce(topic, [Record(b"value", b"key")])
    assert reader.offsets(topic).end == 1
