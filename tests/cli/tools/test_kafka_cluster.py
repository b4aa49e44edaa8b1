from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools
from tests.cli.tools.masks import TIMEOUT

pytestmark = pytest.mark.processes

TOOL = "kafka-cluster"


@pytest.mark.parametrize(
    "words",
    [
        ("cluster-id",),
        ("list-endpoints",),
        ("list-endpoints", "--include-fenced-brokers"),
    ],
)
def test_commands(both: BothTools, words: tuple[str, ...]) -> None:
    assert both(TOOL, *words, "--bootstrap-server", both.bootstrap).returncode == 0


def test_unregister(both: BothTools) -> None:
    both(TOOL, "unregister", "-i", "7", "-b", both.bootstrap)


def test_files_and_short_flags(both: BothTools, hasty: Path) -> None:
    both(TOOL, "cluster-id", "-b", both.bootstrap, "-c", str(hasty))
    both(TOOL, "cluster-id", "--bootstrap-server", both.bootstrap, "--config", str(hasty))
    both(TOOL, "list", "--bootstrap-s", both.bootstrap, "--command-config", str(hasty))


def test_both_files(both: BothTools, hasty: Path) -> None:
    words = ("cluster-id", "-b", both.bootstrap, "-c", str(hasty), "--config", str(hasty))
    assert both(TOOL, *words).returncode == 1


@pytest.mark.parametrize("command", ["list-endpoints", "cluster-id"])
def test_a_controller_that_is_a_broker(both: BothTools, command: str, hasty: Path) -> None:
    words = (command, "--bootstrap-controller", both.bootstrap, "-c", str(hasty))
    assert both(TOOL, *words, masks=[TIMEOUT], stderr="ignore").returncode == 1


def test_fenced_controllers(both: BothTools) -> None:
    words = ("list-endpoints", "--bootstrap-controller", "127.0.0.1:9", "--include-fenced-brokers")
    assert both(TOOL, *words).returncode == 1


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("cluster-id", "--help"),
        ("no-such-command",),
        ("cluster-id",),
        ("unregister", "-b", "127.0.0.1:9"),
        ("unregister", "-b", "127.0.0.1:9", "--id", "one"),
        ("cluster-id", "-b", "127.0.0.1:9", "-C", "127.0.0.1:9"),
        ("cluster-id", "--no-such-flag"),
    ],
)
def test_wrong_words(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, *words)


def test_an_unreachable_broker(both: BothTools, hasty: Path) -> None:
    words = ("cluster-id", "-b", "127.0.0.1:9", "-c", str(hasty))
    assert both(TOOL, *words, masks=[TIMEOUT]).returncode == 1


@pytest.mark.parametrize("words", [("cluster-id",), ("list-endpoints",), ("unregister", "--id", "77")])
def test_on_a_controller(both_apache: BothTools, apache_controller: str, words: tuple[str, ...]) -> None:
    both_apache(TOOL, *words, "--bootstrap-controller", apache_controller)


def test_unregistering_a_broker_that_is_not_there(both_apache: BothTools) -> None:
    words = ("unregister", "--id", "77", "--bootstrap-server", both_apache.bootstrap)
    assert both_apache(TOOL, *words).returncode == 1
