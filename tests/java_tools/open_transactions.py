"""Transactions that stay open: one that its coordinator knows of, and one that nobody knows of."""

from __future__ import annotations

import time

from confluent_kafka import Producer

from penstock.records.builder import build_batch
from penstock.records.reader import Record
from penstock.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.support.cluster_fixture import KafkaServer
from tests.support.wire_client import WireClient

TIMEOUT_MS = 600_000  # nothing here may be aborted for being slow
TIMEOUT_SECONDS = 30.0
HOUR_MS = 3_600_000
PRODUCE_VERSION_BEFORE_TRANSACTIONS_2 = 11
# A server that verifies transactions lets in none that its coordinator does not know.
UNVERIFIED_SETTINGS = {
    "transaction.partition.verification.enable": "false",
    "transaction.state.log.num.partitions": "3",
    "offsets.topic.num.partitions": "3",
}
EPOCH = 3


def begin(kafka: KafkaServer, topic: str, transactional_id: str, partitions: tuple[int, ...]) -> Producer:
    """A transaction with one record in each of the partitions."""
    settings = {"transactional.id": transactional_id, "transaction.timeout.ms": TIMEOUT_MS, "log_level": 0}
    producer = Producer({"bootstrap.servers": kafka.bootstrap, **settings})
    producer.init_transactions(TIMEOUT_SECONDS)
    producer.begin_transaction()
    for partition in partitions:
        producer.produce(topic, transactional_id.encode(), partition=partition)
    assert producer.flush(TIMEOUT_SECONDS) == 0
    return producer


def producer_id_of(topic: str) -> int:
    return 1_000_000 + sum(topic.encode())


def append_unknown_transaction(kafka: KafkaServer, topic: str) -> int:
    """An hour ago, in the way of older producers, for an id that never began anything; its offset."""
    an_hour_ago = time.time_ns() // 1_000_000 - HOUR_MS
    batch = build_batch(
        [Record(0, an_hour_ago, None, b"never committed")],
        producer_id=producer_id_of(topic),
        producer_epoch=EPOCH,
        base_sequence=0,
        is_transactional=True,
    )
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=batch.view)])
    request = ProduceRequest(transactional_id="ghost", acks=-1, timeout_ms=10_000, topic_data=[data])
    with WireClient(kafka.bootstrap) as connection:
        answer = connection.send(request, PRODUCE_VERSION_BEFORE_TRANSACTIONS_2)
    [partition] = answer.responses[0].partition_responses
    assert partition.error_code == 0
    return int(partition.base_offset)
