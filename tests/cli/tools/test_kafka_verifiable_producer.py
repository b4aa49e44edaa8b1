"""Kafka's tool prints at its end in a shutdown hook, so that each run of it has a JVM of its own."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.console_records import RunningTool, write_properties
from tests.foreign_clients.drivers.model import Client
from tests.support.apache_kafka import run_tool

pytestmark = pytest.mark.processes

TOOL = "kafka-verifiable-producer"
DIFFERS = ("timestamp", "avg_throughput")


def events(printed: str) -> list[dict[str, Any]]:
    """The events without what differs between two runs; time and name lead each line."""
    found = [json.loads(line) for line in printed.splitlines()]
    assert all(list(event)[:2] == ["timestamp", "name"] for event in found)
    return [{key: value for key, value in event.items() if key not in DIFFERS} for event in found]


@pytest.mark.parametrize(
    "words",
    [
        ("--max-messages", "3"),
        ("--max-messages", "4", "--value-prefix", "7", "--repeating-keys", "2", "--acks", "1"),
        ("--max-messages", "2", "--message-create-time", "1600000000000", "--throughput", "100"),
    ],
    ids=" ".join,
)
def test_events(both: BothTools, client: Client, words: tuple[str, ...]) -> None:
    both.each(client.create_topic)
    theirs = run_tool(TOOL, "--bootstrap-server", both.bootstrap, "--topic", both.kafka_name, *words)
    ours = run_our_tool(TOOL, "--bootstrap-server", both.bootstrap, "--topic", both.our_name, *words)
    assert events(ours.stdout.replace(both.our_name, "t")) == events(
        theirs.stdout.replace(both.kafka_name, "t")
    )
    assert (ours.returncode, ours.stderr) == (theirs.returncode, theirs.stderr) == (0, "")
    assert _sent(client, both.our_name) == _sent(client, both.kafka_name)


def _sent(client: Client, topic: str) -> list[tuple[bytes | None, bytes | None]]:
    consumed = client.consume(topic, client.offsets(topic).end)
    return [(each.record.key, each.record.value) for each in consumed]


def test_nobody_listens(both: BothTools, tmp_path: Path) -> None:
    hasty = write_properties(tmp_path, max_block_ms="500")
    words = (
        "--bootstrap-server",
        "127.0.0.1:9",
        "--topic",
        "t",
        "--max-messages",
        "1",
        "--producer.config",
        hasty,
    )
    theirs, ours = run_tool(TOOL, *words), run_our_tool(TOOL, *words)
    warning, _, printed = theirs.stdout.partition("\n")
    assert ours.stdout.partition("\n")[0] == warning
    assert events(ours.stdout.partition("\n")[2]) == events(printed)
    assert ours.returncode == theirs.returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--topic", "t"),
        ("--bootstrap-server", "x:1"),
        ("--bootstrap-server", "x:1", "--topic", "t", "--acks", "5"),
        ("--bootstrap-server", "x:1", "--topic", "t", "--max-messages", "many"),
        ("--bootstrap-server", "x:1", "--topic", "t", "--nonsense"),
        ("--bootstrap-server", "x:1", "--topic", "t", "--producer.config", "a", "--command-config", "b"),
        ("--bootstrap-server", "x:1", "--topic", "t", "--command-config", "/no/file"),
    ],
    ids=" ".join,
)
def test_command_lines_that_are_wrong(both: BothTools, words: tuple[str, ...]) -> None:
    done = both(TOOL, *words, stderr="ignore" if "/no/file" in words else "same")
    assert done.returncode == 1
    assert done.stderr


def test_help(both: BothTools) -> None:
    both(TOOL)
    both(TOOL, "--help")


def test_a_signal_ends_it_with_its_summary(both: BothTools, topic: str) -> None:
    with RunningTool(
        TOOL, "--bootstrap-server", both.bootstrap, "--topic", topic, "--throughput", "200"
    ) as tool:
        while "producer_send_success" not in tool.read_line():
            pass
        tool.signal(signal.SIGTERM)
        done = tool.end()
        assert done.returncode == 143
        *_, shutdown, summary = events(done.stdout)
        assert shutdown == {"name": "shutdown_complete"}
        assert summary["name"] == "tool_data"
        assert summary["sent"] == summary["acked"] > 0
