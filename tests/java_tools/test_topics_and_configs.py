"""kafka-topics and kafka-configs."""

from __future__ import annotations

import re

import pytest

from tests.foreign_clients.drivers.model import Client
from tests.java_tools.conftest import Tool
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for

pytestmark = pytest.mark.processes


def test_life_of_a_topic(tool: Tool, client: Client, kafka: KafkaServer, topic: str) -> None:
    created = tool(
        "kafka-topics", "--create", "--topic", topic, "--partitions", "2", "--config", "retention.ms=9000000"
    )
    assert created.stdout == f"Created topic {topic}.\n"
    wait_for(lambda: topic in client.list_topics(), what="the topic")
    described = tool("kafka-topics", "--describe", "--topic", topic).stdout.splitlines()
    assert re.match(
        rf"Topic: {topic}\tTopicId: [\w-]{{22}}\tPartitionCount: 2\tReplicationFactor: 1\t", described[0]
    )
    assert "retention.ms=9000000" in described[0]
    broker = kafka.broker_id
    for number, line in enumerate(described[1:]):
        expected = (
            f"\tTopic: {topic}\tPartition: {number}\tLeader: {broker}\tReplicas: {broker}\tIsr: {broker}\t"
        )
        assert line.startswith(expected)
    assert len(described) == 3
    tool("kafka-topics", "--alter", "--topic", topic, "--partitions", "5")
    wait_for(lambda: len(client.describe_topic(topic)) == 5, what="the new partitions")
    tool("kafka-topics", "--delete", "--topic", topic)
    wait_for(lambda: topic not in client.list_topics(), what="the end of the topic")


def test_list(tool: Tool, client: Client, topic: str) -> None:
    client.create_topic(topic)
    names = tool("kafka-topics", "--list", "--exclude-internal").stdout.split()
    assert topic in names
    assert not [name for name in names if name.startswith("__")]


def test_topics_with_problems(tool: Tool, client: Client, topic: str) -> None:
    """One replica that is in sync: nothing to complain about."""
    client.create_topic(topic)
    assert tool("kafka-topics", "--describe", "--under-replicated-partitions").stdout == ""
    assert tool("kafka-topics", "--describe", "--unavailable-partitions").stdout == ""


def test_what_cannot_be_done(tool: Tool, client: Client, topic: str) -> None:
    client.create_topic(topic, partitions=3)
    again = tool("kafka-topics", "--create", "--topic", topic, code=1)
    assert f"Topic '{topic}' already exists." in again.stdout
    assert tool("kafka-topics", "--create", "--topic", topic, "--if-not-exists").stdout == ""
    shrunk = tool("kafka-topics", "--alter", "--topic", topic, "--partitions", "1", code=1)
    assert "InvalidPartitionsException" in shrunk.log
    alone = tool("kafka-topics", "--create", "--topic", f"{topic}-2", "--replication-factor", "2", code=1)
    assert "InvalidReplicationFactorException" in alone.log
    missing = tool("kafka-topics", "--delete", "--topic", "no-such-topic", code=1)
    assert "Topic 'no-such-topic' does not exist as expected" in missing.stdout


def test_topic_configs(tool: Tool, client: Client, topic: str) -> None:
    client.create_topic(topic, configs={"retention.ms": "9000000"})
    of_topic = ("--entity-type", "topics", "--entity-name", topic)
    changes = (
        "--add-config",
        "segment.bytes=2000000,cleanup.policy=[compact,delete]",
        "--delete-config",
        "retention.ms",
    )
    altered = tool("kafka-configs", "--alter", *of_topic, *changes)
    assert altered.stdout == f"Completed updating config for topic {topic}.\n"
    wait_for(
        lambda: client.describe_configs("TOPIC", topic)["segment.bytes"].value == "2000000", what="the change"
    )
    described = tool("kafka-configs", "--describe", *of_topic).stdout.splitlines()
    assert described[0] == f"Dynamic configs for topic {topic} are:"
    assert sorted(described[1:]) == [
        "  cleanup.policy=compact,delete sensitive=false synonyms="
        "{DYNAMIC_TOPIC_CONFIG:cleanup.policy=compact,delete, DEFAULT_CONFIG:log.cleanup.policy=delete}",
        "  segment.bytes=2000000 sensitive=false synonyms="
        "{DYNAMIC_TOPIC_CONFIG:segment.bytes=2000000, DEFAULT_CONFIG:log.segment.bytes=1073741824}",
    ]
    everything = tool("kafka-configs", "--describe", "--all", *of_topic).stdout
    assert "  retention.ms=604800000 sensitive=false synonyms={}\n" in everything
    assert "  flush.messages=9223372036854775807 sensitive=false " in everything


def test_a_bad_topic_config(tool: Tool, client: Client, topic: str) -> None:
    client.create_topic(topic)
    of_topic = ("--entity-type", "topics", "--entity-name", topic)
    refused = tool("kafka-configs", "--alter", *of_topic, "--add-config", "retention.ms=soon", code=1)
    assert re.search("InvalidConfigurationException: .*retention.ms", refused.stderr)
    assert "soon" in refused.stderr


def test_broker_configs(tool: Tool, kafka: KafkaServer) -> None:
    of_broker = ("--entity-type", "brokers", "--entity-name", str(kafka.broker_id))
    everything = tool("kafka-configs", "--describe", "--all", *of_broker).stdout
    assert f"All configs for broker {kafka.broker_id} are:\n" in everything
    assert f"  log.dirs={kafka.log_dir} sensitive=false " in everything
    tool("kafka-configs", "--alter", *of_broker, "--add-config", "log.cleaner.threads=2")
    line = (
        "  log.cleaner.threads=2 sensitive=false synonyms="
        "{DYNAMIC_BROKER_CONFIG:log.cleaner.threads=2, DEFAULT_CONFIG:log.cleaner.threads=1}"
    )
    wait_for(
        lambda: line in tool("kafka-configs", "--describe", *of_broker).stdout.splitlines(),
        what="the broker's change",
    )
    tool("kafka-configs", "--alter", *of_broker, "--delete-config", "log.cleaner.threads")
    refused = tool("kafka-configs", "--alter", *of_broker, "--add-config", "log.dirs=/elsewhere", code=1)
    assert re.search(
        "InvalidRequestException: Cannot update these configs dynamically: .*log.dirs", refused.stderr
    )
