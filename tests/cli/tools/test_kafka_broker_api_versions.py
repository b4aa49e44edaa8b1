from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools

pytestmark = pytest.mark.processes

TOOL = "kafka-broker-api-versions"


def test_versions(both: BothTools, hasty: Path) -> None:
    done = both(TOOL, "--bootstrap-server", both.bootstrap)
    assert "Produce(0): " in done.stdout
    assert both(TOOL, "--bootstrap-server", both.bootstrap, "--command-config", str(hasty)) == done


def test_versions_of_apache_kafka(both_apache: BothTools) -> None:
    both_apache(TOOL, "--bootstrap-server", both_apache.bootstrap)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("--version",),
        ("--bootstrap-server",),
        ("--command-config", "x"),
        ("--no-such-flag",),
    ],
)
def test_wrong_words(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, *words)


def test_an_unreachable_broker(both: BothTools) -> None:
    """Ours has the reason besides."""
    said = both(TOOL, "--bootstrap-server", "127.0.0.1:9", stderr="first words").stderr
    listed = "Request METADATA failed on brokers [127.0.0.1:9 (id: -1 rack: null isFenced: false)]: "
    assert said.startswith(listed)
    assert said.endswith("Connection refused; is `penstock up` running?\n")
