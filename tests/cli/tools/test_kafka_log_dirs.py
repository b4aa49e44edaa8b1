from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools
from tests.cli.tools.masks import TIMEOUT
from tests.foreign_clients.drivers.model import Client
from tests.foreign_clients.samples import numbered_records

pytestmark = pytest.mark.processes

TOOL = "kafka-log-dirs"


@pytest.fixture(scope="module", autouse=True)
def topics(client: Client) -> None:
    client.create_topic("stored-orders", partitions=30)
    client.create_topic("stored-payments", partitions=3)
    client.produce("stored-orders", numbered_records(9))


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--topic-list", "stored-payments"),
        ("--topic-list", "stored-orders,,stored-payments,no-such-topic"),
        ("--topic-list", ""),
        ("--broker-list", "{broker}"),
        ("--broker-list", "{broker},{broker}", "--topic-list=stored-payments"),
    ],
)
def test_describe(both: BothTools, words: tuple[str, ...]) -> None:
    done = both(TOOL, "--bootstrap-server", both.bootstrap, "--describe", *words)
    assert done.returncode == 0
    assert '"partition":"stored-payments-0","size":0' in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("--describe", "--broker-list", "{broker},7,5,100"),
        ("--describe", "--broker-list", "{broker},one"),
        ("--describe", "--broker-list", "99999999999"),
        ("--describe", "--topic-list"),
        ("--describe", "--no-such-flag"),
        ("--describe", "--help"),
        ("--version",),
        (),
    ],
)
def test_wrong_words(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, *words)


@pytest.mark.parametrize("words", [(), ("--describe",)])
def test_without_a_server(both: BothTools, words: tuple[str, ...]) -> None:
    assert both(TOOL, *words).returncode == 1


def test_an_unreachable_broker(both: BothTools, hasty: Path) -> None:
    words = ("--bootstrap-server", "127.0.0.1:9", "--describe", "--command-config", str(hasty))
    assert both(TOOL, *words, masks=[TIMEOUT]).returncode == 1
