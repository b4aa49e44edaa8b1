"""kafka-share-groups and kafka-console-share-consumer."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.foreign_clients.drivers.model import Client, Record
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.java_tools.conftest import Tool
from tests.java_tools.members import commit_alone
from tests.java_tools.tables import records, rows
from tests.support.apache_kafka import TOOLS, java_command
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import Process, wait_for
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

SHARED = "shared"  # two partitions of six and four records, a second apart from 2020-09-13T12:26:40Z on
LIVE, MOVED = "share-live", "share-moved"
FROM_THE_START = "share.auto.offset.reset=earliest"
SHOW = tuple(
    part
    for name in ("offset", "partition", "delivery")
    for part in ("--formatter-property", f"print.{name}=true")
)


def let_start_at_the_beginning(tool: Tool, group: str) -> None:
    tool("kafka-configs", "--alter", "--group", group, "--add-config", FROM_THE_START)


def shared_records() -> list[Record]:
    second = [Record(each.value, timestamp=each.timestamp, partition=1) for each in numbered_records(4)]
    return numbered_records(6) + second


@pytest.fixture(scope="module")
def shared(client: Client) -> str:
    client.create_topic(SHARED, partitions=2, configs=KEEP_FOR_EVER)
    client.produce(SHARED, shared_records())
    return SHARED


@pytest.fixture(scope="module")
@starts_processes
def live(
    tool: Tool, kafka: KafkaServer, shared: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A group with one member, which has read everything there is."""
    let_start_at_the_beginning(tool, LIVE)
    where = ("--bootstrap-server", kafka.bootstrap, "--topic", shared, "--group", LIVE)
    command = java_command(
        TOOLS["kafka-console-share-consumer"], *where, "--command-property", "client.id=sharer"
    )
    log = tmp_path_factory.mktemp("sharer") / "sharer.log"
    with Process(command, log) as consumer:
        consumer.wait_until(lambda: len(consumer.log_text().split()) == 10, what="all records")
        yield LIVE


@pytest.fixture(scope="module")
@starts_processes
def moved(tool: Tool, shared: str) -> str:
    """A group that nobody is in, which has read everything and moves about from there."""
    let_start_at_the_beginning(tool, MOVED)
    consume(tool, MOVED, 10)
    return MOVED


def consume(tool: Tool, group: str, count: int, *how: str, topic: str = SHARED) -> list[str]:
    """What the console prints of so many records, sorted."""
    where = ("--topic", topic, "--group", group, "--max-messages", str(count), "--timeout-ms", "60000")
    done = tool("kafka-console-share-consumer", *where, *how)
    assert f"Processed a total of {count} messages" in done.stderr
    return sorted(done.stdout.splitlines())


def lags(tool: Tool, group: str) -> dict[tuple[str, str], str]:
    """What each partition still has for the group. (Its start offset may trail what has been acknowledged.)"""
    printed = tool("kafka-share-groups", "--describe", "--group", group, "--offsets").stdout
    return {(line["TOPIC"], line["PARTITION"]): line["LAG"] for line in records(printed)}


# --- the console


def test_records_are_shared_out_once(tool: Tool, shared: str, topic: str) -> None:
    let_start_at_the_beginning(tool, topic)
    everything = sorted(record.value.decode() for record in shared_records() if record.value)
    assert consume(tool, topic, 10) == everything
    assert lags(tool, topic) == {(shared, "0"): "0", (shared, "1"): "0"}


def test_what_is_released_comes_again(tool: Tool, client: Client, topic: str) -> None:
    """And what is rejected does not; each record says how often it has been delivered."""
    client.create_topic(topic, configs=KEEP_FOR_EVER)
    client.produce(topic, numbered_records(3))
    let_start_at_the_beginning(tool, topic)

    def printed(delivery: int, first: int = 0, last: int = 3) -> list[str]:
        values = [str(number).ljust(20, ".") for number in range(last)]
        return [
            f"Partition:0\tOffset:{offset}\tDelivery:{delivery}\t{values[offset]}"
            for offset in range(first, last)
        ]

    assert consume(tool, topic, 3, "--release", *SHOW, topic=topic) == printed(1)
    assert lags(tool, topic) == {(topic, "0"): "3"}
    assert consume(tool, topic, 3, "--reject", *SHOW, topic=topic) == printed(2)
    assert lags(tool, topic) == {(topic, "0"): "0"}
    client.produce(topic, numbered_records(5)[3:])
    assert consume(tool, topic, 2, *SHOW, topic=topic) == printed(1, 3, 5)


# --- list and describe


def test_list(tool: Tool, kafka: KafkaServer, live: str, moved: str, shared: str) -> None:
    """Groups of other types are not among them; kafka-groups has all."""
    commit_alone(kafka.bootstrap, "no-share-group", {(shared, 0): 0})
    states = {
        line["GROUP"]: line["STATE"]
        for line in records(tool("kafka-share-groups", "--list", "--state").stdout)
    }
    assert states[LIVE] == "Stable"
    assert states[MOVED] == "Empty"
    stable = rows(tool("kafka-share-groups", "--list", "--state", "stable").stdout)
    assert stable == [["GROUP", "STATE"], [LIVE, "Stable"]]
    names = tool("kafka-share-groups", "--list").stdout.split()
    assert {LIVE, MOVED} <= set(names)
    assert "no-share-group" not in names
    all_types = rows(tool("kafka-groups", "--list").stdout)
    assert [LIVE, "Share", "share"] in all_types
    assert ["no-share-group", "Classic"] in all_types
    share_only = rows(tool("kafka-groups", "--list", "--share").stdout)
    assert {line[1] for line in share_only[1:]} == {"Share"}


def test_describe_offsets(tool: Tool, live: str, shared: str) -> None:
    wait_for(lambda: set(lags(tool, live).values()) == {"0"}, what="all to be acknowledged")
    printed = tool("kafka-share-groups", "--describe", "--group", live, "--verbose").stdout
    headings, *lines = rows(printed)
    assert headings == ["GROUP", "TOPIC", "PARTITION", "LEADER-EPOCH", "START-OFFSET", "LAG"]
    assert [line[:4] + line[5:] for line in lines] == [
        [live, shared, "0", "0", "0"],
        [live, shared, "1", "0", "0"],
    ]


def test_describe_members(tool: Tool, live: str, shared: str) -> None:
    printed = tool("kafka-share-groups", "--describe", "--group", live, "--members", "--verbose").stdout
    [line] = records(printed)
    assert re.fullmatch(r"[\w-]{22}", line.pop("CONSUMER-ID"))
    assert int(line.pop("MEMBER-EPOCH")) >= 1
    assert line == {
        "GROUP": live,
        "HOST": "/127.0.0.1",
        "CLIENT-ID": "sharer",
        "#PARTITIONS": "2",
        "ASSIGNMENT": f"{shared}:0,1",
    }


def test_describe_state(tool: Tool, kafka: KafkaServer, live: str, moved: str) -> None:
    both = ("--group", live, "--group", moved, "--state", "--verbose")
    done = tool("kafka-share-groups", "--describe", *both)
    headings, first, _, second = rows(done.stdout)
    assert headings == [
        "GROUP", "COORDINATOR", "(ID)", "STATE", "GROUP-EPOCH", "ASSIGNMENT-EPOCH", "#MEMBERS",
    ]  # fmt: skip
    coordinator = [kafka.bootstrap, f"({kafka.broker_id})"]
    assert first[:4] + first[6:] == [live, *coordinator, "Stable", "1"]
    assert first[4] == first[5]
    assert second[:4] + second[6:] == [moved, *coordinator, "Empty", "0"]
    assert f"Share group '{moved}' has no active members." in done.stderr


def test_groups_that_are_none(tool: Tool, kafka: KafkaServer, shared: str, topic: str) -> None:
    commit_alone(kafka.bootstrap, topic, {(shared, 0): 0})
    for group, reason in ((topic, "is not a share group"), ("nobody", "not found")):
        said = tool("kafka-share-groups", "--describe", "--group", group).stdout
        assert f"GroupIdNotFoundException: Group {group} {reason}." in said


# --- offsets


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (("--topic", SHARED, "--to-earliest"), {"0": "0", "1": "0"}),
        (("--topic", f"{SHARED}:1", "--to-latest"), {"1": "4"}),
        (("--topic", SHARED, "--to-datetime", "2020-09-13T12:26:43.000"), {"0": "3", "1": "3"}),
        (("--all-topics", "--to-latest"), {"0": "6", "1": "4"}),
    ],
    ids=lambda value: value[-2 if "T" in value[-1] else -1].lstrip("-") if isinstance(value, tuple) else "",
)
def test_reset_offsets(tool: Tool, moved: str, form: tuple[str, ...], expected: dict[str, str]) -> None:
    ends = {"0": 6, "1": 4}
    printed = tool("kafka-share-groups", "--reset-offsets", "--group", moved, *form, "--execute").stdout
    lines = records(printed)
    assert {line["PARTITION"]: line["NEW-OFFSET"] for line in lines} == expected
    assert {(line["GROUP"], line["TOPIC"]) for line in lines} == {(moved, SHARED)}
    left = lags(tool, moved)
    assert {partition: left[SHARED, partition] for partition in expected} == {
        partition: str(ends[partition] - int(offset)) for partition, offset in expected.items()
    }


def test_reset_to_the_beginning_is_read_again(tool: Tool, shared: str, moved: str) -> None:
    """A rehearsal changes nothing."""
    for_all = ("--group", moved, "--topic", shared)
    tool("kafka-share-groups", "--reset-offsets", *for_all, "--to-latest", "--execute")
    tool("kafka-share-groups", "--reset-offsets", *for_all, "--to-earliest", "--dry-run")
    assert set(lags(tool, moved).values()) == {"0"}
    tool("kafka-share-groups", "--reset-offsets", *for_all, "--to-earliest", "--execute")
    assert len(consume(tool, moved, 10)) == 10


def test_offsets_of_a_live_group_stay(tool: Tool, live: str, shared: str) -> None:
    which = ("--group", live, "--topic", shared)
    refused = tool("kafka-share-groups", "--reset-offsets", *which, "--to-earliest", "--execute", code=1)
    assert refused.stderr.strip() == f"Share group '{live}' is not empty."
    said = tool("kafka-share-groups", "--delete-offsets", *which).stdout
    assert rows(said)[0] == ["Error:", "The", "group", "is", "not", "empty."]


def test_delete_offsets_and_group(tool: Tool, shared: str, live: str, topic: str) -> None:
    let_start_at_the_beginning(tool, topic)
    consume(tool, topic, 10)
    offsets = ("kafka-share-groups", "--delete-offsets", "--group", topic, "--topic")
    assert rows(tool(*offsets, shared).stdout) == [["TOPIC", "STATUS"], [shared, "Successful"]]
    again = tool(*offsets, "no-such-topic").stdout
    assert rows(again)[1][:2] == ["no-such-topic", "Error:"]
    assert "This server does not host this topic-partition." in again
    groups = ("--group", topic, "--group", live, "--group", "nobody")
    said = tool("kafka-share-groups", "--delete", *groups).stdout
    assert f"* Group '{live}' could not be deleted due to:" in said
    assert "* Group 'nobody' could not be deleted due to:" in said
    assert f"These share groups were deleted successfully: '{topic}'" in said
    assert topic not in tool("kafka-share-groups", "--list").stdout.split()
