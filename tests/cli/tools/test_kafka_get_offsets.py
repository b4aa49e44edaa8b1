from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools
from tests.foreign_clients.drivers.model import Client, Record
from tests.foreign_clients.samples import BASE_TIMESTAMP, KEEP_FOR_EVER, numbered_records

pytestmark = pytest.mark.processes

TOOL = "kafka-get-offsets"


@pytest.fixture(scope="module", autouse=True)
def topics(client: Client) -> None:
    client.create_topic("orders", partitions=3, configs=KEEP_FOR_EVER)
    client.create_topic("orders-late", partitions=12, configs=KEEP_FOR_EVER)
    client.produce("orders", numbered_records(9))
    client.produce("orders", [Record(b"late", timestamp=BASE_TIMESTAMP - 5)])
    client.produce("orders", [Record(b"other", partition=2)])


@pytest.mark.parametrize(
    "time",
    [
        *(
            "latest",
            "earliest",
            "max-timestamp",
            "earliest-local",
            "latest-tiered",
            "earliest-pending-upload",
        ),
        *("-1", "-2", "-3", "-4", "-5", "-6"),
        *(str(BASE_TIMESTAMP + 3_500), str(BASE_TIMESTAMP * 2), "0"),
    ],
)
def test_times(both: BothTools, time: str) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, "--topic", "orders", "--time", time)


@pytest.mark.parametrize(
    "filters",
    [
        (),
        ("--exclude-internal-topics",),
        ("--topic", "orders.*"),
        ("--topic", "orders, orders-late"),
        ("--topic", "'orders'"),
        ("--topic=orders", "--partitions=2,0"),
        ("--topic", "orders", "--partitions", ""),
        ("--partitions", "11"),
        ("--topic-partitions", "orders:1,orders-late:3-5"),
        ("--topic-partitions", "orders.*:-1"),
        ("--topic-partitions", "orders-late:10-,:0,"),
        ("--topic-partitions", "orders"),
        ("--time", "-2", "-topic", "orders"),
    ],
)
def test_which_partitions(both: BothTools, filters: tuple[str, ...]) -> None:
    assert both(TOOL, "--bootstrap-server", both.bootstrap, *filters).returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--topic", "no-such-topic"),
        ("--topic", "orders", "--partitions", "7"),
        ("--topic", "orders", "--partitions", "one"),
        ("--topic", "orders["),
        ("--topic-partitions", "orders:x"),
        ("--topic-partitions", "orders", "--topic", "orders"),
        ("--topic-partitions", "orders", "--partitions", "1"),
        ("--time", "yesterday"),
        ("--time", "9223372036854775808"),
        ("--topic",),
        ("--topic", "a", "--topic", "b"),
        ("--no-such-flag",),
        ("--help",),
        ("--version",),
    ],
)
def test_wrong_words(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, *words)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--topic", "orders"),
        ("--bootstrap-server", ""),
        ("--bootstrap-server", "localhost"),
        ("--bootstrap-server", "localhost:9092,other"),
    ],
)
def test_without_a_server(both: BothTools, words: tuple[str, ...]) -> None:
    assert both(TOOL, *words).returncode == 1


def test_an_unreachable_broker(both: BothTools, hasty: Path) -> None:
    done = both(
        TOOL, "--bootstrap-server", "127.0.0.1:9", "--command-config", str(hasty), stderr="first words"
    )
    assert done.returncode == 1
    assert "127.0.0.1:9" in done.stderr


def test_a_command_config_that_is_not_there(both: BothTools) -> None:
    done = both(
        TOOL, "--bootstrap-server", both.bootstrap, "--command-config", "no-such-file", stderr="first words"
    )
    assert done.returncode == 1
    assert "no-such-file" in done.stderr
