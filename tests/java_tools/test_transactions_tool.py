"""kafka-transactions lists and describes transactions under way and done, and who wrote to a partition."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest

from tests.foreign_clients.drivers.model import Client
from tests.java_tools.conftest import Tool
from tests.java_tools.open_transactions import TIMEOUT_MS, TIMEOUT_SECONDS, begin
from tests.java_tools.tables import records, rows
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

TOPIC = "transacted"
ONGOING, DONE, UNDONE = "tools-ongoing", "tools-done", "tools-undone"
STATES = {ONGOING: "Ongoing", DONE: "CompleteCommit", UNDONE: "CompleteAbort"}


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture(scope="module")
@starts_processes
def began_at(tool: Tool, kafka: KafkaServer, client: Client) -> Iterator[int]:
    """One transaction of each kind, the ended ones with all their markers; the time before the first."""
    client.create_topic(TOPIC, partitions=3)
    before = now_ms()
    begin(kafka, TOPIC, DONE, (0, 1)).commit_transaction(TIMEOUT_SECONDS)
    begin(kafka, TOPIC, UNDONE, (0,)).abort_transaction(TIMEOUT_SECONDS)
    producer = begin(kafka, TOPIC, ONGOING, (0, 2))
    wait_for(lambda: states(tool) == STATES, what="the markers of the transactions that ended")
    yield before
    producer.abort_transaction(TIMEOUT_SECONDS)


def listed(tool: Tool, *filters: str) -> dict[str, dict[str, str]]:
    printed = tool("kafka-transactions", "list", *filters).stdout
    return {line["TransactionalId"]: line for line in records(printed) if line["TransactionalId"] in STATES}


def states(tool: Tool) -> dict[str, str]:
    return {name: line["TransactionState"] for name, line in listed(tool).items()}


def described(tool: Tool, transactional_id: str) -> dict[str, str]:
    printed = tool("kafka-transactions", "describe", "--transactional-id", transactional_id).stdout
    headings, values = ([word.strip() for word in line.split("\t")] for line in printed.splitlines())
    return {heading: value for heading, value in zip(headings, values, strict=True) if heading}


def test_list(tool: Tool, kafka: KafkaServer, began_at: int) -> None:
    found = listed(tool)
    assert {name: line["TransactionState"] for name, line in found.items()} == STATES
    assert {line["Coordinator"] for line in found.values()} == {str(kafka.broker_id)}
    assert len({line["ProducerId"] for line in found.values()}) == 3


def test_list_with_filters(tool: Tool, began_at: int) -> None:
    assert set(listed(tool, "--duration-filter", "1")) == set(STATES)
    assert listed(tool, "--duration-filter", str(24 * 3_600_000)) == {}
    assert set(listed(tool, "--transactional-id-pattern", "tools-.*done")) == {DONE, UNDONE}


def test_describe_one_under_way(tool: Tool, kafka: KafkaServer, began_at: int) -> None:
    found = described(tool, ONGOING)
    assert began_at <= int(found.pop("CurrentTransactionStartTimeMs")) <= now_ms()
    assert 0 <= int(found.pop("TransactionDurationMs")) <= now_ms() - began_at
    assert re.fullmatch(r"\d+", found.pop("ProducerId"))
    assert set(found.pop("TopicPartitions").split(",")) == {f"{TOPIC}-0", f"{TOPIC}-2"}
    assert found == {
        "CoordinatorId": str(kafka.broker_id),
        "TransactionalId": ONGOING,
        "ProducerEpoch": "0",
        "TransactionState": "Ongoing",
        "TransactionTimeoutMs": str(TIMEOUT_MS),
    }


def test_describe_one_that_ended(tool: Tool, began_at: int) -> None:
    found = described(tool, DONE)
    assert found["TransactionState"] == "CompleteCommit"
    assert found["TopicPartitions"] == ""


def test_describe_what_nobody_began(tool: Tool) -> None:
    done = tool("kafka-transactions", "describe", "--transactional-id", "nobody", code=1)
    assert (
        "DescribeTransactions request for transactionalId `nobody` failed because the ID could not be found"
        in done.stderr
    )


@pytest.mark.parametrize("asks_the_leader", [True, False])
def test_describe_producers(tool: Tool, kafka: KafkaServer, began_at: int, asks_the_leader: bool) -> None:
    """The open transaction begins after the record and marker of each of the two before it."""
    whom = () if asks_the_leader else ("--broker-id", str(kafka.broker_id))
    printed = tool(
        "kafka-transactions", "describe-producers", "--topic", TOPIC, "--partition", "0", *whom
    ).stdout
    lines = records(printed)
    ids = {line["ProducerId"]: line for line in lines}
    assert len(ids) == 3
    for line in lines:
        assert began_at <= int(line["LastTimestamp"]) <= now_ms()
        assert line["ProducerEpoch"] == "0"
    assert sorted(line["CurrentTransactionStartOffset"] for line in lines) == ["4", "None", "None"]
    [open_one] = [line for line in lines if line["CurrentTransactionStartOffset"] == "4"]
    assert open_one["LatestCoordinatorEpoch"] == "-1"
    assert open_one["LastSequence"] == "0"


def test_what_its_coordinator_knows_does_not_hang(tool: Tool, kafka: KafkaServer, began_at: int) -> None:
    everywhere = ("--broker-id", str(kafka.broker_id))
    found = rows(
        tool("kafka-transactions", "find-hanging", *everywhere, "--max-transaction-timeout", "0").stdout
    )
    assert found == [
        ["Topic", "Partition", "ProducerId", "ProducerEpoch", "CoordinatorEpoch", "StartOffset", "LastTimestamp",
         "Duration(min)"]
    ]  # fmt: skip


def test_abort_of_what_is_not_open(tool: Tool, began_at: int) -> None:
    at = ("--topic", TOPIC, "--partition", "0", "--start-offset", "0")
    done = tool("kafka-transactions", "abort", *at, code=1)
    assert f"Could not find any open transactions starting at offset 0 on partition {TOPIC}-0" in done.stderr
