"""The tools that are themselves members of a group, or producers in transactions."""

from __future__ import annotations

import json
import re

import pytest
from confluent_kafka import Producer

from tests.foreign_clients.drivers.model import Client
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.java_tools.conftest import Tool
from tests.java_tools.members import PROTOCOLS, committed
from tests.java_tools.tables import records
from tests.support.cluster_fixture import KafkaServer

pytestmark = pytest.mark.processes

both_protocols = pytest.mark.parametrize("protocol", PROTOCOLS)


@both_protocols
def test_the_console_goes_on_where_its_group_left_off(
    tool: Tool, client: Client, kafka: KafkaServer, topic: str, protocol: str
) -> None:
    client.create_topic(topic, configs=KEEP_FOR_EVER)
    client.produce(topic, numbered_records(9))
    where = ("--topic", topic, "--group", f"{topic}-group", "--from-beginning", "--timeout-ms", "60000")
    how = ("--command-property", f"group.protocol={protocol}")
    printed = []
    for count in (4, 5):
        done = tool("kafka-console-consumer", *where, *how, "--max-messages", str(count))
        assert f"Processed a total of {count} messages" in done.stderr
        printed += done.stdout.split()
    assert printed == [record.value.decode() for record in numbered_records(9) if record.value]
    assert committed(kafka.bootstrap, f"{topic}-group") == {(topic, 0): 9}


def test_the_console_shows_what_was_committed(
    tool: Tool, client: Client, kafka: KafkaServer, topic: str
) -> None:
    client.create_topic(topic)
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": topic, "log_level": 0})
    producer.init_transactions(30)
    for name, end in (
        ("first", producer.commit_transaction),
        ("aborted", producer.abort_transaction),
        ("last", producer.commit_transaction),
    ):
        producer.begin_transaction()
        producer.produce(topic, name)
        producer.flush(30)
        end(30)
    where = ("--topic", topic, "--partition", "0", "--offset", "earliest")
    committed_only = tool(
        "kafka-console-consumer", *where, "--isolation-level", "read_committed", "--max-messages", "2"
    )
    assert committed_only.stdout.split() == ["first", "last"]
    everything = tool("kafka-console-consumer", *where, "--max-messages", "3")
    assert everything.stdout.split() == ["first", "aborted", "last"]


def test_transactional_producer_perf(tool: Tool, client: Client, topic: str) -> None:
    """The second version of the transaction protocol gives every transaction an epoch of its own."""
    client.create_topic(topic)
    size = ("--num-records", "600", "--record-size", "100", "--throughput", "300")
    how = ("--transactional-id", topic, "--transaction-duration-ms", "250")
    report = tool("kafka-producer-perf-test", "--topic", topic, *size, *how)
    assert re.search(r"^600 records sent, [\d.]+ records/sec", report.stdout, re.MULTILINE)
    end = client.offsets(topic).end
    assert end > 601
    [line] = records(
        tool("kafka-transactions", "describe-producers", "--topic", topic, "--partition", "0").stdout
    )
    markers = end - 600
    assert int(line["ProducerEpoch"]) == markers
    assert line["CurrentTransactionStartOffset"] == "None"


def test_consumer_perf(tool: Tool, client: Client, topic: str) -> None:
    client.create_topic(topic, partitions=2, configs=KEEP_FOR_EVER)
    client.produce(topic, numbered_records(500))
    how = ("--group", f"{topic}-group", "--num-records", "500", "--timeout", "60000")
    report = tool("kafka-consumer-perf-test", "--topic", topic, *how)
    *_, last = report.stdout.strip().splitlines()
    assert last.split(", ")[4] == "500"


@both_protocols
def test_verifiable_consumer(
    tool: Tool, client: Client, kafka: KafkaServer, topic: str, protocol: str
) -> None:
    client.create_topic(topic, partitions=2)
    sent = tool("kafka-verifiable-producer", "--topic", topic, "--max-messages", "30").stdout
    events = [json.loads(line) for line in sent.splitlines()]
    assert sum(event["name"] == "producer_send_success" for event in events) == 30
    how = ("--group-id", f"{topic}-group", "--group-protocol", protocol, "--reset-policy", "earliest")
    read = tool("kafka-verifiable-consumer", "--topic", topic, *how, "--max-messages", "30").stdout
    events = [json.loads(line) for line in read.splitlines()]
    names = [event["name"] for event in events]
    assert names[0] == "startup_complete"
    assert "shutdown_complete" in names
    [assigned] = [event for event in events if event["name"] == "partitions_assigned"]
    assert {each["partition"] for each in assigned["partitions"]} == {0, 1}
    assert sum(event["count"] for event in events if event["name"] == "records_consumed") == 30
    assert all(event["success"] for event in events if event["name"] == "offsets_committed")
    assert sum(committed(kafka.bootstrap, f"{topic}-group").values()) == 30
