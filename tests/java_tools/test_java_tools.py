"""The JVM in which Kafka's tools run one after the other: a call leaves no trace in the next."""

from __future__ import annotations

import pytest

from tests.cli.tools.masks import STACK_TRACE, masked
from tests.foreign_clients.drivers.model import Client
from tests.support import apache_kafka
from tests.support.cluster_fixture import KafkaServer
from tests.support.java_tools import ToolTimeoutError, run_java_tool

pytestmark = pytest.mark.processes


def test_an_exit_in_the_middle_of_a_tool_ends_the_call_there(kafka: KafkaServer) -> None:
    wrong = run_java_tool("kafka-topics", "--bootstrap-server", kafka.bootstrap, "--list", "--describe")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr.startswith("Command must include exactly one action")
    right = run_java_tool("kafka-topics", "--bootstrap-server", kafka.bootstrap, "--list")
    assert (right.returncode, right.stderr) == (0, "")


def test_the_console_of_scala_is_captured_in_every_call(
    client: Client, kafka: KafkaServer, topic: str
) -> None:
    client.create_topic(topic)
    describe = ("--describe", "--entity-type", "topics", "--entity-name", topic)
    said = [
        run_java_tool("kafka-configs", "--bootstrap-server", kafka.bootstrap, *describe).stdout
        for _ in range(2)
    ]
    assert said == [f"Dynamic configs for topic {topic} are:\n"] * 2


def test_standard_input_is_that_of_the_call(client: Client, kafka: KafkaServer, topic: str) -> None:
    client.create_topic(topic)
    produce = ("kafka-console-producer", "--bootstrap-server", kafka.bootstrap, "--topic", topic)
    assert run_java_tool(*produce, input="one\n").returncode == 0
    assert run_java_tool(*produce, input="two\n").returncode == 0
    assert [read.record.value for read in client.consume(topic, 2)] == [b"one", b"two"]


def test_a_tool_that_does_not_end_costs_its_jvm_only(client: Client, kafka: KafkaServer, topic: str) -> None:
    client.create_topic(topic)
    endless = ("kafka-console-consumer", "--bootstrap-server", kafka.bootstrap, "--topic", topic)
    with pytest.raises(ToolTimeoutError, match="ran for over"):
        run_java_tool(*endless, timeout=0.5)
    offsets = run_java_tool("kafka-get-offsets", "--bootstrap-server", kafka.bootstrap, "--topic", topic)
    assert offsets.stdout == f"{topic}:0:0\n"


def test_a_tool_that_ends_its_jvm_is_heard() -> None:
    done = run_java_tool("kafka-cluster", "no-such-command")
    assert done.returncode == 1
    assert "'no-such-command'" in done.stderr
    assert run_java_tool("kafka-topics", "--version").stdout == f"{apache_kafka.VERSION}\n"


def test_what_clients_log_is_apart_from_standard_error() -> None:
    done = run_java_tool(
        "kafka-consumer-groups", "--bootstrap-server", "127.0.0.1:9", "--list", "--timeout", "200"
    )
    assert "could not be established" in done.log
    assert "could not be established" not in done.stderr


@pytest.mark.parametrize(
    ("tool", "words"),
    [("kafka-consumer-groups", ("--no-such-flag",)), ("kafka-get-offsets", ("--topic", "no-such-topic"))],
)
def test_a_jvm_of_its_own_says_the_same(kafka: KafkaServer, tool: str, words: tuple[str, ...]) -> None:
    words = ("--bootstrap-server", kafka.bootstrap, *words)
    shared, alone = run_java_tool(tool, *words), apache_kafka.run_tool(tool, *words)
    assert (shared.returncode, shared.stdout) == (alone.returncode, alone.stdout)
    assert masked(shared.stderr, [STACK_TRACE]) == masked(alone.stderr, [STACK_TRACE])
    assert shared.returncode == 1


def test_stack_traces_are_masked_and_messages_kept() -> None:
    printed = (
        "Error while executing: no authorizer\n"
        "java.util.concurrent.ExecutionException: org.apache.kafka.X: no\n"
        "authorizer\n"
        "\tat java.base/a.b(C.java:1)\n"
        "\tat org.apache.kafka.d(E.java:2)\n"
        "Caused by: org.apache.kafka.X: no authorizer\n"
        "\t... 3 more\n"
        "Done\n"
    )
    assert masked(printed, [STACK_TRACE]) == "Error while executing: no authorizer\nDone\n"
