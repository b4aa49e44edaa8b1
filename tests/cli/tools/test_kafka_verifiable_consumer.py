"""Kafka's tool prints at its end in a shutdown hook, so that each run of it has a JVM of its own."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.console_records import RunningTool
from tests.foreign_clients.drivers.model import Client
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.support.apache_kafka import run_tool

pytestmark = pytest.mark.processes

TOOL = "kafka-verifiable-consumer"
TOPIC = "verifiable-consumer"


@pytest.fixture(scope="module", autouse=True)
def topic(client: Client) -> str:
    client.create_topic(TOPIC, configs=KEEP_FOR_EVER)
    client.produce(TOPIC, numbered_records(5))
    return TOPIC


def events(printed: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in printed.splitlines()]
    assert all(list(event)[:2] == ["timestamp", "name"] for event in found)
    return [{key: value for key, value in event.items() if key != "timestamp"} for event in found]


@pytest.mark.parametrize(
    "words",
    [
        ("--max-messages", "5", "--verbose"),
        ("--max-messages", "3", "--group-protocol", "consumer", "--group-remote-assignor", "range"),
        (
            *(
                "--max-messages",
                "5",
                "--enable-autocommit",
                "--group-instance-id",
                "me",
                "--session-timeout",
                "9000",
            ),
            *("--assignment-strategy", "org.apache.kafka.clients.consumer.RoundRobinAssignor"),
        ),
    ],
    ids=" ".join,
)
def test_events(both: BothTools, client: Client, words: tuple[str, ...]) -> None:
    where = ("--bootstrap-server", both.bootstrap, "--topic", TOPIC, *words)
    theirs = run_tool(TOOL, *where, "--group-id", both.kafka_name)
    ours = run_our_tool(TOOL, *where, "--group-id", both.our_name)
    assert events(ours.stdout) == events(theirs.stdout)
    assert (ours.returncode, ours.stderr) == (theirs.returncode, theirs.stderr) == (0, "")
    assert client.group_offsets(both.our_name) == client.group_offsets(both.kafka_name)


@pytest.mark.parametrize(
    "words",
    [
        ("--topic", "t", "--group-id", "g"),
        ("--bootstrap-server", "x:1", "--topic", "t"),
        ("--bootstrap-server", "x:1", "--group-id", "g"),
        ("--bootstrap-server", "x:1", "--topic", "t", "--group-id", "g", "--max-messages", "many"),
        ("--bootstrap-server", "x:1", "--topic", "t", "--group-id", "g", "--nonsense"),
        (
            *("--bootstrap-server", "x:1", "--topic", "t", "--group-id", "g"),
            *("--consumer.config", "a", "--command-config", "b"),
        ),
    ],
    ids=" ".join,
)
def test_command_lines_that_are_wrong(both: BothTools, words: tuple[str, ...]) -> None:
    assert both(TOOL, *words).returncode == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--group-protocol", "anarchy"), "anarchy"),
        (("--reset-policy", "sometimes"), "auto.offset.reset"),
        (("--command-config", "/no/file"), "/no/file"),
    ],
)
def test_values_that_are_refused(both: BothTools, words: tuple[str, ...], said: str) -> None:
    where = ("--bootstrap-server", both.bootstrap, "--topic", "t", "--group-id", "g")
    done = both(TOOL, *where, *words, stderr="ignore")
    assert done.returncode == 1
    assert said.lower() in done.stderr.lower()


def test_help(both: BothTools) -> None:
    both(TOOL)
    both(TOOL, "--help")


def test_a_signal_ends_it(both: BothTools) -> None:
    where = ("--bootstrap-server", both.bootstrap, "--topic", TOPIC, "--group-id", both.our_name)
    with RunningTool(TOOL, *where) as tool:
        while "offsets_committed" not in tool.read_line():
            pass
        tool.signal(signal.SIGINT)
        done = tool.end()
        assert done.returncode == 130
        assert [event["name"] for event in events(done.stdout)] == [
            *("shutdown_requested", "partitions_revoked", "shutdown_complete")
        ]
