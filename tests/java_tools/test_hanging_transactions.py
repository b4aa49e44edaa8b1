"""kafka-transactions finds transactions that no coordinator knows of, and ends them.

A server that verifies transactions lets none in, so this one does not: it is asked to append, in the way of older
producers, for an id that never began anything.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.foreign_clients.drivers.confluent import ConfluentClient
from tests.foreign_clients.drivers.model import Record as Message
from tests.java_tools.conftest import Tool, tool_for
from tests.java_tools.open_transactions import (
    EPOCH,
    UNVERIFIED_SETTINGS,
    append_unknown_transaction,
    producer_id_of,
)
from tests.java_tools.tables import records, rows
from tests.support.cluster_fixture import KafkaServer, running_kafka
from tools.suite.processes import starts_processes

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("hanging-transactions")]


@pytest.fixture(scope="module")
@starts_processes
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    with running_kafka(tmp_path_factory.mktemp("unverified"), UNVERIFIED_SETTINGS) as server:
        yield server


@pytest.fixture(scope="module")
def tool(kafka: KafkaServer) -> Tool:
    return tool_for(kafka)


@pytest.fixture
def haunted(kafka: KafkaServer, topic: str) -> Iterator[str]:
    """A topic of two partitions; 0 has one record, an open transaction from an hour ago, one record more."""
    client = ConfluentClient(kafka.bootstrap)
    client.create_topic(topic, partitions=2)
    client.produce(topic, [Message(b"before")])
    assert append_unknown_transaction(kafka, topic) == 1
    client.produce(topic, [Message(b"after")])
    yield topic
    client.close()


def committed_values(kafka: KafkaServer, topic: str) -> tuple[list[bytes | None], int | None]:
    """All that a reader of committed records gets before it meets the end, and where that is."""
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "group.id": "unused",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        values: list[bytes | None] = []
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            message = consumer.poll(1.0)
            if message is not None and message.error() is not None:  # the end of the partition
                return values, message.offset()
            if message is not None:
                values.append(message.value())
        raise TimeoutError("no end of the partition")
    finally:
        consumer.close()


def test_find_hanging(tool: Tool, kafka: KafkaServer, haunted: str) -> None:
    producer_id = str(producer_id_of(haunted))
    places = (("--topic", haunted), ("--broker-id", str(kafka.broker_id)))
    for where in places:
        found = [
            line
            for line in records(tool("kafka-transactions", "find-hanging", *where).stdout)
            if line["Topic"] == haunted
        ]
        [line] = found
        assert int(line.pop("Duration(min)")) >= 60
        assert int(line.pop("LastTimestamp")) > 0
        assert line == {
            "Topic": haunted,
            "Partition": "0",
            "ProducerId": producer_id,
            "ProducerEpoch": str(EPOCH),
            "CoordinatorEpoch": "-1",
            "StartOffset": "1",
        }
    narrow = ("--topic", haunted, "--partition", "0", "--max-transaction-timeout", "120")
    assert len(rows(tool("kafka-transactions", "find-hanging", *narrow).stdout)) == 1


@pytest.mark.parametrize("form", ["by-offset", "by-producer"])
def test_abort(tool: Tool, kafka: KafkaServer, haunted: str, form: str) -> None:
    """Readers of committed records stop at the open transaction, and go on once it is aborted."""
    assert committed_values(kafka, haunted) == ([b"before"], 1)
    by_producer = {"producer-id": producer_id_of(haunted), "producer-epoch": EPOCH, "coordinator-epoch": 0}
    named = {"start-offset": 1} if form == "by-offset" else by_producer
    which = [part for name, value in named.items() for part in (f"--{name}", str(value))]
    tool("kafka-transactions", "abort", "--topic", haunted, "--partition", "0", *which)
    assert committed_values(kafka, haunted) == ([b"before", b"after"], 4)
    assert len(rows(tool("kafka-transactions", "find-hanging", "--topic", haunted).stdout)) == 1
