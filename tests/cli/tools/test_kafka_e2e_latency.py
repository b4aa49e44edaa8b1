from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools
from tests.cli.tools.console_records import write_properties
from tests.cli.tools.masks import mask
from tests.foreign_clients.drivers.model import Client

pytestmark = pytest.mark.processes

TOOL = "kafka-e2e-latency"
LATENCIES = mask(r"^0\t[\d.E-]+$|(?<=latency: )[\d.]+|(?<=th = )\d+", "<ms>")


@pytest.mark.parametrize(
    "words",
    [
        (),
        (
            *("--record-key-size", "3", "--num-headers", "2"),
            *("--record-header-key-size", "4", "--record-header-size", "-1"),
        ),
    ],
    ids=" ".join,
)
def test_runs(both: BothTools, words: tuple[str, ...], tmp_path: Path) -> None:
    settings = write_properties(tmp_path, client_id="me")
    where = ("--bootstrap-server", both.bootstrap, "--topic", "{name}", "--command-config", settings)
    test = ("--num-records", "20", "--producer-acks", "all", "--record-size", "10")
    first = both(TOOL, *where, *test, *words, mutating=True, masks=[LATENCIES])
    assert "does not exist. Will create topic" in first.stdout
    again = both(TOOL, *where, *test, *words, mutating=True, masks=[LATENCIES])
    assert "does not exist" not in again.stdout


def test_words_by_their_places(both: BothTools, client: Client) -> None:
    both.each(client.create_topic)
    both(TOOL, both.bootstrap, "{name}", "5", "1", "10", mutating=True, masks=[LATENCIES])


LEAST = {
    "--bootstrap-server": "x:1",
    "--topic": "t",
    "--num-records": "1",
    "--producer-acks": "1",
    "--record-size": "1",
}


@pytest.mark.parametrize("missing", LEAST)
def test_what_is_needed(both: BothTools, missing: str) -> None:
    both(TOOL, *(word for pair in LEAST.items() if pair[0] != missing for word in pair))


@pytest.mark.parametrize(
    "words",
    [
        ("--producer-acks", "0"),
        ("--num-records", "0"),
        ("--record-size", "-1"),
        ("--record-key-size", "-1"),
        ("--record-header-key-size", "-1"),
        ("--record-header-size", "-2"),
        ("--num-headers", "-1"),
    ],
    ids=" ".join,
)
def test_what_is_refused(both: BothTools, words: tuple[str, ...]) -> None:
    given = {**LEAST, words[0]: words[1]}
    both(TOOL, *(word for pair in given.items() for word in pair))


@pytest.mark.parametrize("words", [(), ("--help",), ("--version", "--topic", "t"), ("a", "b")], ids=" ".join)
def test_command_lines(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, *words)
