"""kafka-console-producer, kafka-console-consumer and kafka-producer-perf-test."""

from __future__ import annotations

import re

import pytest

from tests.foreign_clients.drivers.model import Client
from tests.java_tools.conftest import Tool

pytestmark = pytest.mark.processes

PRINT_ALL = tuple(
    part
    for name in ("key", "headers", "offset", "partition")
    for part in ("--formatter-property", f"print.{name}=true")
)


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_what_is_typed_is_printed(tool: Tool, client: Client, codec: str, topic: str) -> None:
    client.create_topic(topic)
    reader = ("parse.key=true", "parse.headers=true", "null.marker=NULL")
    properties = [part for each in reader for part in ("--reader-property", each)]
    typed = "h1:v1,h2:v2\tk1\tvalue one\nh1:x\tNULL\tvalue two\nh3:y\tk3\tNULL\n"
    tool("kafka-console-producer", "--topic", topic, "--compression-codec", codec, *properties, input=typed)
    where = ("--topic", topic, "--partition", "0", "--offset", "earliest", "--max-messages", "3")
    printed = tool("kafka-console-consumer", *where, *PRINT_ALL)
    assert printed.stdout.splitlines() == [
        "Partition:0\tOffset:0\th1:v1,h2:v2\tk1\tvalue one",
        "Partition:0\tOffset:1\th1:x\tnull\tvalue two",
        "Partition:0\tOffset:2\th3:y\tk3\tnull",
    ]
    assert "Processed a total of 3 messages" in printed.stderr


def test_an_unknown_topic_is_made_and_read_from_an_offset(tool: Tool, topic: str) -> None:
    typed = "".join(f"line {number}\n" for number in range(20))
    tool("kafka-console-producer", "--topic", topic, "--producer-property", "acks=all", input=typed)
    where = ("--topic", topic, "--partition", "0", "--offset", "15", "--max-messages", "5")
    printed = tool("kafka-console-consumer", *where)
    assert printed.stdout.splitlines() == [f"line {number}" for number in range(15, 20)]


def test_producer_perf(tool: Tool, client: Client, topic: str) -> None:
    client.create_topic(topic)
    size = ("--num-records", "3000", "--record-size", "200", "--throughput", "-1")
    report = tool("kafka-producer-perf-test", "--topic", topic, *size)
    assert re.search(r"^3000 records sent, [\d.]+ records/sec", report.stdout, re.MULTILINE)
    assert client.offsets(topic).end == 3000
