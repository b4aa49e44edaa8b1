"""kafka-consumer-groups --reset-offsets, in all its forms.

Every test has a group of its own, which has committed 5 and 3 in the two partitions of `reset`, and 1 in `other`.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest

from tests.foreign_clients.drivers.model import Client, Record
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.java_tools.conftest import Tool
from tests.java_tools.members import PROTOCOLS, commit_alone, committed, member
from tests.java_tools.tables import records, rows
from tests.support.cluster_fixture import KafkaServer

pytestmark = pytest.mark.processes

RESET, OTHER, RECENT = "reset", "other", "recent"
COMMITTED = {(RESET, 0): 5, (RESET, 1): 3, (OTHER, 0): 1}
HEADINGS = ["GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"]
HOUR_MS = 3_600_000
FIRST_DATETIME = "2020-09-13T12:26:40.000"  # BASE_TIMESTAMP, in UTC


@pytest.fixture(scope="module")
def topics(client: Client) -> None:
    """Ten records in partition 0 of `reset`, six in 1, two in `other`, a second apart from BASE_TIMESTAMP on."""
    client.create_topic(RESET, partitions=2, configs=KEEP_FOR_EVER)
    client.create_topic(OTHER, configs=KEEP_FOR_EVER)
    client.produce(RESET, numbered_records(10))
    client.produce(
        RESET, [Record(each.value, timestamp=each.timestamp, partition=1) for each in numbered_records(6)]
    )
    client.produce(OTHER, numbered_records(2))


@pytest.fixture
def group(kafka: KafkaServer, topics: None, topic: str) -> str:
    commit_alone(kafka.bootstrap, topic, COMMITTED)
    return topic


def reset(tool: Tool, group: str, *arguments: str) -> dict[tuple[str, int], int]:
    """What the tool says that it did, for a group."""
    printed = tool("kafka-consumer-groups", "--reset-offsets", "--group", group, *arguments).stdout
    said = rows(printed)
    lines = said[said.index(HEADINGS) + 1 :]  # there may be warnings before
    assert {line[0] for line in lines} == {group}
    return {(topic, int(partition)): int(offset) for _, topic, partition, offset in lines}


def parsed(exported: str) -> list[list[str]]:
    return sorted(csv.reader(exported.split()))


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (("--to-earliest",), (0, 0)),
        (("--to-latest",), (10, 6)),
        (("--to-offset", "4"), (4, 4)),
        (("--to-offset", "8"), (8, 6)),  # beyond the end of one
        (("--to-current",), (5, 3)),
        (("--shift-by", "2"), (7, 5)),
        (("--shift-by", "-4"), (1, 0)),  # beyond the beginning of one
        (("--to-datetime", f"{FIRST_DATETIME}Z"), (0, 0)),
        (("--to-datetime", "2020-09-13T12:26:47.500"), (8, 6)),  # nothing that young in one: its end
        (("--to-datetime", "2020-09-13T14:26:42.000+02:00"), (2, 2)),
    ],
    ids=lambda value: "".join(value) if isinstance(value[0], str) else "",
)
def test_forms(
    tool: Tool, kafka: KafkaServer, group: str, form: tuple[str, ...], expected: tuple[int, int]
) -> None:
    wanted = dict(zip(((RESET, 0), (RESET, 1)), expected, strict=True))
    assert reset(tool, group, "--topic", RESET, *form, "--execute") == wanted
    assert committed(kafka.bootstrap, group) == {**COMMITTED, **wanted}


def test_by_duration(tool: Tool, client: Client, kafka: KafkaServer, group: str) -> None:
    client.create_topic(RECENT)
    now = time.time_ns() // 1_000_000
    ages = (5 * HOUR_MS, 4 * HOUR_MS, HOUR_MS, 0)
    client.produce(RECENT, [Record(b"x", timestamp=now - age) for age in ages])
    wanted = {(RECENT, 0): 2}
    assert reset(tool, group, "--topic", RECENT, "--by-duration", "PT2H30M", "--execute") == wanted
    assert committed(kafka.bootstrap, group) == {**COMMITTED, **wanted}


@pytest.mark.parametrize("mode", [("--dry-run",), ()])
def test_a_rehearsal_changes_nothing(
    tool: Tool, kafka: KafkaServer, group: str, mode: tuple[str, ...]
) -> None:
    wanted = {(RESET, 0): 10, (RESET, 1): 6}
    assert reset(tool, group, "--topic", RESET, "--to-latest", *mode) == wanted
    assert committed(kafka.bootstrap, group) == COMMITTED


def test_one_partition(tool: Tool, kafka: KafkaServer, group: str) -> None:
    assert reset(tool, group, "--topic", f"{RESET}:1", "--to-latest", "--execute") == {(RESET, 1): 6}
    assert committed(kafka.bootstrap, group) == {**COMMITTED, (RESET, 1): 6}


def test_some_partitions_of_several_topics(tool: Tool, kafka: KafkaServer, group: str) -> None:
    asked = ("--topic", f"{RESET}:0,1", "--topic", OTHER)
    wanted = {(RESET, 0): 0, (RESET, 1): 0, (OTHER, 0): 0}
    assert reset(tool, group, *asked, "--to-earliest", "--execute") == wanted
    assert committed(kafka.bootstrap, group) == wanted


def test_all_topics(tool: Tool, kafka: KafkaServer, group: str) -> None:
    wanted = {(RESET, 0): 10, (RESET, 1): 6, (OTHER, 0): 2}
    assert reset(tool, group, "--all-topics", "--to-latest", "--execute") == wanted
    assert committed(kafka.bootstrap, group) == wanted


def test_a_plan_is_exported_and_carried_out(
    tool: Tool, kafka: KafkaServer, group: str, tmp_path: Path
) -> None:
    asked = ("--group", group, "--topic", RESET)
    tell = ("--to-offset", "2", "--dry-run", "--export")
    exported = tool("kafka-consumer-groups", "--reset-offsets", *asked, *tell).stdout
    assert parsed(exported) == [[RESET, "0", "2"], [RESET, "1", "2"]]
    assert committed(kafka.bootstrap, group) == COMMITTED
    plan = tmp_path / "plan.csv"
    plan.write_text(exported.strip().replace(",1,2", ",1,1"))
    wanted = {(RESET, 0): 2, (RESET, 1): 1}
    assert reset(tool, group, "--all-topics", "--from-file", str(plan), "--execute") == wanted
    assert committed(kafka.bootstrap, group) == {**COMMITTED, **wanted}


def test_a_plan_for_several_groups(tool: Tool, kafka: KafkaServer, group: str, tmp_path: Path) -> None:
    commit_alone(kafka.bootstrap, f"{group}-too", {(RESET, 0): 8})
    groups = ("--group", group, "--group", f"{group}-too")
    tell = ("--all-topics", "--to-earliest", "--dry-run", "--export")
    exported = tool("kafka-consumer-groups", "--reset-offsets", *groups, *tell).stdout
    lines = [
        [group, OTHER, "0", "0"],
        [group, RESET, "0", "0"],
        [group, RESET, "1", "0"],
        [f"{group}-too", RESET, "0", "0"],
    ]
    assert parsed(exported) == lines
    plan = tmp_path / "plan.csv"
    plan.write_text(exported.strip())
    carried = ("--all-topics", "--from-file", str(plan), "--execute")
    printed = tool("kafka-consumer-groups", "--reset-offsets", *groups, *carried).stdout
    assert sorted(rows(printed)[1:]) == lines
    assert committed(kafka.bootstrap, group) == dict.fromkeys(COMMITTED, 0)
    assert committed(kafka.bootstrap, f"{group}-too") == {(RESET, 0): 0}


def test_all_groups(tool: Tool, kafka: KafkaServer, group: str) -> None:
    """Only rehearsed: it is about the groups of other tests too."""
    asked = ("--all-groups", "--topic", OTHER, "--to-latest", "--dry-run")
    lines = records(tool("kafka-consumer-groups", "--reset-offsets", *asked).stdout)
    assert {"GROUP": group, "TOPIC": OTHER, "PARTITION": "0", "NEW-OFFSET": "2"} in lines


def test_a_group_is_made_by_its_offsets(tool: Tool, kafka: KafkaServer, topics: None, topic: str) -> None:
    wanted = {(RESET, 0): 0, (RESET, 1): 0}
    assert reset(tool, topic, "--topic", RESET, "--to-earliest", "--execute") == wanted
    assert committed(kafka.bootstrap, topic) == wanted


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_only_of_a_group_at_rest(
    tool: Tool, kafka: KafkaServer, topics: None, topic: str, protocol: str
) -> None:
    asked = ("--topic", RESET, "--to-earliest", "--execute")
    with member(kafka.bootstrap, topic, [RESET], partitions=2, group_protocol=protocol) as alive:
        alive.commit({(RESET, 0): 5, (RESET, 1): 3})
        said = tool("kafka-consumer-groups", "--reset-offsets", "--group", topic, *asked).stdout
        assert said.strip().splitlines()[0] == (
            f"Error: Assignments can only be reset if the group '{topic}' is inactive, "
            "but the current state is Stable."
        )
        assert committed(kafka.bootstrap, topic) == {(RESET, 0): 5, (RESET, 1): 3}
    wanted = {(RESET, 0): 0, (RESET, 1): 0}
    assert reset(tool, topic, *asked) == wanted
    assert committed(kafka.bootstrap, topic) == wanted
