"""Records of transactions, and a consumer whose offsets are part of one."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer
from confluent_kafka import TopicPartition as NativeTopicPartition

from penstock.client.records import OffsetAndMetadata
from penstock.types import TopicPartition
from tests.client.consumer.conftest import MakeConsumer, Produce
from tests.client.consumer.reading import committed_offset, numbers, poll_until, read, values
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for


@pytest.fixture
def transactional(kafka: KafkaServer, topic: str) -> Producer:
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": f"of-{topic}"})
    producer.init_transactions(30)
    return producer


def send(producer: Producer, topic: str, values: list[bytes]) -> None:
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(30) == 0


def test_read_committed_sees_what_was_committed_only(
    consumer: MakeConsumer, topic: str, group: str, transactional: Producer
) -> None:
    send(transactional, topic, numbers(3))
    transactional.commit_transaction(30)
    send(transactional, topic, numbers(3, 100))
    transactional.abort_transaction(30)
    send(transactional, topic, numbers(3, 10))
    transactional.commit_transaction(30)
    one = consumer(topic, group_id=group, isolation_level="read_committed")
    assert values(read(one, 6)) == [*numbers(3), *numbers(3, 10)]
    poll_until(lambda: one.state.waits_for.name == "RECORDS", one)
    all_of_them = consumer()
    all_of_them.assign([TopicPartition(topic, 0)])
    assert len(read(all_of_them, 9)) == 9


def test_an_open_transaction_holds_back_what_follows(
    consumer: MakeConsumer, topic: str, group: str, transactional: Producer, produce: Produce
) -> None:
    send(transactional, topic, numbers(2))
    produce(topic, [b"after"])
    one = consumer(topic, group_id=group, isolation_level="read_committed")
    poll_until(lambda: one.assignment(), one)
    assert one.poll(0.3) == []
    assert one.end_offsets([TopicPartition(topic, 0)])[TopicPartition(topic, 0)] in (0, 3)
    transactional.abort_transaction(30)
    assert values(read(one, 1)) == [b"after"]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_offsets_in_a_transaction_count_when_it_is_committed(
    consumer: MakeConsumer, topic: str, group: str, transactional: Producer, produce: Produce, protocol: str
) -> None:
    produce(topic, numbers(4))
    one = consumer(topic, group_id=group, enable_auto_commit=False, group_protocol=protocol)
    read(one, 4)
    positions = one.positions()
    assert {key: each.offset for key, each in positions.items()} == {TopicPartition(topic, 0): 4}
    assert all(isinstance(each, OffsetAndMetadata) for each in positions.values())
    native = [NativeTopicPartition(*key, each.offset) for key, each in positions.items()]
    for end, expected in ((transactional.abort_transaction, None), (transactional.commit_transaction, 4)):
        transactional.begin_transaction()
        transactional.send_offsets_to_transaction(native, one.group_metadata(), 30)
        end(30)
        # the coordinators tell each other after the producer has heard
        wait_for(
            lambda expected=expected: committed_offset(one, topic) == expected, what=f"offset {expected}"
        )
