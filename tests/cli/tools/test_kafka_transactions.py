from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException

from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.masks import COLUMN_WIDTHS, MILLISECONDS, mask
from tests.foreign_clients.drivers.confluent import ConfluentClient
from tests.java_tools.open_transactions import (
    TIMEOUT_SECONDS,
    UNVERIFIED_SETTINGS,
    append_unknown_transaction,
    begin,
    producer_id_of,
)
from tests.support.cluster_fixture import COORDINATOR_SETTINGS, KafkaServer, running_kafka
from tests.support.java_tools import run_java_tool
from tests.support.processes import wait_for
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

TOOL = "kafka-transactions"
TOPIC = "transacted"
REASON = mask(r"(?<=: ).*(?=\. Enable debug logging)", "<reason>")
# Of the transaction that is open, how long it has been so.
DURATION = [mask(r"(?<=\d{13}) +\t\d+ +\t", "\t<duration>\t"), COLUMN_WIDTHS]
ABORT = ("abort", "--topic", "{name}", "--partition", "0")
PRODUCER = mask(r"\b10\d{5}\b", "<producer>")
COMMIT = mask(r"Commit:\w+", "Commit:<commit>")


@pytest.fixture(scope="module")
@starts_processes
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    """One transaction of each kind, the ended ones with all their markers."""
    settings = {**COORDINATOR_SETTINGS, **UNVERIFIED_SETTINGS}
    with running_kafka(tmp_path_factory.mktemp("unverified"), settings) as server:
        client = ConfluentClient(server.bootstrap)
        client.create_topic(TOPIC, partitions=20)
        begin(server, TOPIC, "done", (0, 1)).commit_transaction(TIMEOUT_SECONDS)
        begin(server, TOPIC, "undone", (0,)).abort_transaction(TIMEOUT_SECONDS)
        producer = begin(server, TOPIC, "ongoing", (0, 2, 7, 19))
        wait_for(
            lambda: _states(server) == ["CompleteAbort", "CompleteCommit", "Ongoing"], what="the markers"
        )
        yield server
        producer.abort_transaction(TIMEOUT_SECONDS)
        client.close()


def _states(server: KafkaServer) -> list[str]:
    listed = run_java_tool(TOOL, "--bootstrap-server", server.bootstrap, "list").stdout
    return sorted(re.findall(r"Ongoing|Complete\w+", listed))


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("list", "--duration-filter", "1"),
        ("list", "--duration-filter", "86400000"),
        ("list", "--duration-filter=-1"),
        ("list", "--transactional-id-pattern", ".*done"),
        ("list", "--transactional-id-pattern", ""),
        ("list", "--transactional-id-pattern", "["),
        ("describe", "--transactional-id", "nobody"),
        ("describe-producers", "--topic", TOPIC, "--partition", "0"),
        ("describe-producers", "--topic", TOPIC, "--partition", "0", "--broker-id", "{broker}"),
        ("describe-producers", "--topic", TOPIC, "--partition", "5"),
        ("describe-producers", "--topic", "no topic", "--partition", "0"),
        ("find-hanging", "--broker-id", "{broker}", "--max-transaction-timeout", "0"),
        ("find-hanging", "--topic", TOPIC),
        ("find-hanging", "--topic", TOPIC, "--partition", "2", "--max-transaction-timeout", "0"),
        ("find-hanging", "--topic", "no-such-topic"),
        ("abort", "--topic", TOPIC, "--partition", "0", "--start-offset", "0"),
        ("abort", "--topic", TOPIC, "--partition", "0"),
        ("abort", "--topic", TOPIC, "--partition", "0", "--producer-id", "1"),
        ("abort", "--topic", TOPIC, "--partition", "0", "--producer-id", "1", "--producer-epoch", "0"),
        ("forceTerminateTransaction", "--transactionalId", "never-begun"),
    ],
)
def test_commands(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, *words)


@pytest.mark.parametrize(("name", "last"), [("ongoing", f"{TOPIC}-19"), ("done", "CompleteCommit")])
def test_describe(both: BothTools, name: str, last: str) -> None:
    words = ("--bootstrap-server", both.bootstrap, "describe", "--transactional-id", name)
    assert last in both(TOOL, *words, masks=DURATION).stdout


def test_a_transaction_that_hangs(both: BothTools, kafka: KafkaServer) -> None:
    """Each finds both, and ends its own by where it begins."""
    client = ConfluentClient(kafka.bootstrap)
    offsets = both.each(lambda name: (client.create_topic(name), append_unknown_transaction(kafka, name))[1])
    client.close()
    assert offsets == (0, 0)
    server = ("--bootstrap-server", both.bootstrap)
    found = both(TOOL, *server, "find-hanging", "--broker-id", "{broker}", sort_lines=True).stdout
    assert both.kafka_name in found
    assert both.our_name in found
    both(TOOL, *server, "find-hanging", "--topic", "{name}", mutating=True, masks=[PRODUCER, MILLISECONDS])
    both(TOOL, *server, *ABORT, "--start-offset", "0", mutating=True)
    left = run_our_tool(TOOL, *server, "find-hanging", "--broker-id", str(kafka.broker_id))
    assert len(left.stdout.splitlines()) == 1


def test_force_terminate(both: BothTools, kafka: KafkaServer) -> None:
    producers = both.each(lambda name: begin(kafka, TOPIC, name, (9,)))
    words = ("forceTerminateTransaction", "--transactionalId", "{name}")
    both(TOOL, "--bootstrap-server", both.bootstrap, *words, mutating=True)
    for producer in producers:
        with pytest.raises(KafkaException, match="fenced"):
            producer.commit_transaction(TIMEOUT_SECONDS)


def test_abort_by_producer(both: BothTools, kafka: KafkaServer) -> None:
    client = ConfluentClient(kafka.bootstrap)
    both.each(lambda name: (client.create_topic(name), append_unknown_transaction(kafka, name)))
    client.close()
    assert producer_id_of(both.kafka_name) + 5 == producer_id_of(both.our_name)
    server = ("--bootstrap-server", both.bootstrap)
    for run, name in ((run_java_tool, both.kafka_name), (run_our_tool, both.our_name)):
        who = ("--producer-id", str(producer_id_of(name)), "--coordinator-epoch=-1", "--producer-epoch")
        at = (*server, "abort", "--topic", name, "--partition", "0", *who)
        fenced, done = run(TOOL, *at, "2"), run(TOOL, *at, "3")
        assert (fenced.returncode, done.returncode, done.stdout, done.stderr) == (1, 0, "", "")
        assert "failed due an invalid producer epoch. Enable debug logging" in fenced.stderr


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("list", "--help"),
        ("abort", "--help"),
        ("find-hanging", "--help"),
        ("no-such-command",),
        ("describe",),
        ("describe-producers", "--topic", "a"),
        ("describe-producers", "--topic", "a", "--partition", "x"),
        ("abort", "--topic", "a", "--partition", "0", "--producer-epoch", "40000"),
        ("find-hanging",),
        ("find-hanging", "--broker-id", "{broker}", "--partition", "1"),
        ("list", "--no-such-flag"),
    ],
)
def test_wrong_words(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, *words)


def test_without_a_server(both: BothTools) -> None:
    assert both(TOOL, "list").returncode == 1
    assert both(TOOL).returncode == 1


def test_version(both: BothTools) -> None:
    assert both(TOOL, "--version", masks=[COMMIT]).returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        ("describe-producers", "--topic", "no-such-topic", "--partition", "0"),
        ("describe-producers", "--topic", TOPIC, "--partition", "0", "--broker-id", "7"),
    ],
)
def test_what_does_not_come_about(both: BothTools, hasty: Path, words: tuple[str, ...]) -> None:
    server = ("--bootstrap-server", both.bootstrap, "--command-config", str(hasty))
    assert both(TOOL, *server, *words, masks=[REASON]).returncode == 1


@pytest.mark.parametrize("words", [("list",), ("describe", "--transactional-id", "a")])
def test_an_unreachable_broker(both: BothTools, hasty: Path, words: tuple[str, ...]) -> None:
    server = ("--bootstrap-server", "127.0.0.1:9", "--command-config", str(hasty))
    assert both(TOOL, *server, *words, masks=[REASON]).returncode == 1


def test_a_command_config_that_is_not_there(both: BothTools) -> None:
    words = ("--bootstrap-server", both.bootstrap, "--command-config", "no-such-file", "list")
    assert both(TOOL, *words, stderr="first words").returncode == 1
