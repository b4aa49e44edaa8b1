"""Each call that would change something is a rehearsal, or changes what is changed already."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools
from tests.cli.tools.masks import TIMEOUT, mask

pytestmark = pytest.mark.processes

TOOL = "kafka-features"
REASON = mask(r"(?<=share\.version to 1\. ).*", "<what timed out>")
EPOCH = mask(r"Epoch: \d+", "Epoch: <epoch>")


@pytest.mark.parametrize(
    "words",
    [
        ("describe",),
        ("describe", "--node-id", "{broker}"),
        ("upgrade", "--feature", "share.version=1", "--dry-run"),
        ("upgrade", "--feature", "group.version=1", "--feature", "share.version=1", "--dry-run"),
        ("upgrade", "--release-version", "4.3-IV0", "--dry-run"),
        ("upgrade", "--metadata", "4.3-IV0", "--dry-run"),
        ("upgrade", "--feature", "share.version=9", "--dry-run"),
        ("upgrade", "--feature", "no.such.feature=1", "--feature", "group.version=1"),
        ("downgrade", "--feature", "share.version=0", "--dry-run"),
        ("downgrade", "--feature", "share.version=0", "--dry-run", "--unsafe"),
        ("downgrade", "--feature", "share.version=9"),
        ("downgrade", "--release-version", "4.1", "--dry-run"),
        ("disable", "--feature", "share.version", "--feature", "group.version", "--dry-run"),
        ("disable", "--feature", "no.such.feature"),
    ],
)
def test_on_a_server(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, *words, masks=[EPOCH])


def test_off_and_on_again(both: BothTools) -> None:
    for words in (("disable", "--feature", "share.version"), ("upgrade", "--feature", "share.version=1")):
        first = both(TOOL, "--bootstrap-server", both.bootstrap, *words)
        assert first.stdout.startswith("share.version was ")


@pytest.mark.parametrize(
    "words",
    [
        ("version-mapping",),
        ("version-mapping", "--release-version", "3.9"),
        ("version-mapping", "--release-version", "4.0-IV1"),
        ("version-mapping", "--release-version", "4.2.7"),
        ("version-mapping", "--release-version", "4.4-IV0"),
        ("version-mapping", "--release-version", "4.4"),
        ("version-mapping", "--release-version", "2.8"),
        ("feature-dependencies", "--feature", "metadata.version=12", "--feature", "group.version=1"),
        ("feature-dependencies", "--feature", "eligible.leader.replicas.version=1"),
        ("feature-dependencies", "--feature", "share.version=0"),
        ("feature-dependencies", "--feature", "share.version=7"),
        ("feature-dependencies", "--feature", "metadata.version=3"),
        ("feature-dependencies", "--feature", "no.such.feature=1"),
        ("feature-dependencies", "--feature", "share.version"),
        ("feature-dependencies", "--feature", "share.version=one"),
        ("feature-dependencies",),
    ],
)
def test_what_it_knows_by_heart(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, *words)


@pytest.mark.parametrize(
    "words",
    [
        ("upgrade",),
        ("upgrade", "--feature", "share.version=0"),
        ("upgrade", "--feature", "share.version=-1"),
        ("upgrade", "--feature", "share.version=40000"),
        ("upgrade", "--feature", "=1"),
        ("upgrade", "--feature", "a=1", "--feature", "a=2"),
        ("upgrade", "--feature", "a=1", "--release-version", "4.3"),
        ("upgrade", "--release-version", "9.9"),
        ("upgrade", "--metadata", "9.9"),
        ("disable",),
        ("describe", "--node-id", "-1"),
        ("describe", "--node-id=-1"),
        ("describe", "--node-id", "one"),
        ("describe", "--no-such-flag"),
        ("describe", "--help"),
        ("--help",),
        (),
        ("no-such-command",),
        ("--bootstrap-controller", "127.0.0.1:9", "describe"),
    ],
)
def test_wrong_words(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, *words)


@pytest.mark.parametrize("words", [("describe",), (), ("upgrade", "--feature", "a=1")])
def test_without_a_server(both: BothTools, words: tuple[str, ...]) -> None:
    assert both(TOOL, *words).returncode == 1


@pytest.mark.parametrize("words", [("describe",), ("upgrade", "--feature", "share.version=1")])
def test_an_unreachable_broker(both: BothTools, hasty: Path, words: tuple[str, ...]) -> None:
    server = ("--bootstrap-server", "127.0.0.1:9", "--command-config", str(hasty))
    both(TOOL, *server, *words, masks=[TIMEOUT, REASON])


def test_a_node_that_is_not_there(both: BothTools, hasty: Path) -> None:
    server = ("--bootstrap-server", both.bootstrap, "--command-config", str(hasty))
    assert both(TOOL, *server, "describe", "--node-id", "7", masks=[TIMEOUT]).returncode == 1


@pytest.mark.parametrize("words", [("describe",), ("upgrade", "--feature", "share.version=1", "--dry-run")])
def test_on_a_controller(both_apache: BothTools, apache_controller: str, words: tuple[str, ...]) -> None:
    both_apache(TOOL, "--bootstrap-controller", apache_controller, *words, masks=[EPOCH])
