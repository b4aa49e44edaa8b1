"""Share groups for the tools to look at: their members are Kafka's own share consumers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.foreign_clients.drivers.model import Client
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.support.apache_kafka import TOOLS, java_command
from tests.support.cluster_fixture import KafkaServer
from tests.support.java_tools import run_java_tool
from tests.support.processes import Process

FROM_THE_START = "share.auto.offset.reset=earliest"
CONSUMER = "kafka-console-share-consumer"
TIMEOUT_MS = "30000"


def _begin_at_the_start(kafka: KafkaServer, group: str) -> None:
    alter = ("--alter", "--group", group, "--add-config", FROM_THE_START)
    done = run_java_tool("kafka-configs", "--bootstrap-server", kafka.bootstrap, *alter)
    assert done.returncode == 0, done


def emptied_share_group(kafka: KafkaServer, client: Client, group: str, topic: str | None = None) -> None:
    """A group that has read all ten records of a topic, and has no members any more."""
    if topic is None:
        topic = f"{group}-topic"
        client.create_topic(topic, configs=KEEP_FOR_EVER)
        client.produce(topic, numbered_records(10))
    _begin_at_the_start(kafka, group)
    where = ("--bootstrap-server", kafka.bootstrap, "--topic", topic, "--group", group)
    done = run_java_tool(CONSUMER, *where, "--max-messages", "10", "--timeout-ms", TIMEOUT_MS)
    assert len(done.stdout.splitlines()) == 10, done


@contextmanager
def live_share_group(kafka: KafkaServer, group: str, topic: str, log: Path) -> Iterator[None]:
    """A group with a member, which has read all ten records of a topic."""
    _begin_at_the_start(kafka, group)
    where = ("--bootstrap-server", kafka.bootstrap, "--topic", topic, "--group", group)
    command = java_command(TOOLS[CONSUMER], *where, "--command-property", "client.id=sharer")
    with Process(command, log) as consumer:
        consumer.wait_until(lambda: len(consumer.log_text().split()) == 10, what="all records")
        yield
