"""kafka-consumer-groups lists, describes and deletes groups of both protocols, alive and empty."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.foreign_clients.drivers.model import Client
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.java_tools.conftest import Tool
from tests.java_tools.members import (
    PROTOCOLS,
    Member,
    commit_alone,
    committed,
    member,
    wait_until_stable,
)
from tests.java_tools.tables import records, rows
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for

pytestmark = pytest.mark.processes

WORK = "work"  # three partitions; ten records in 0, none in the others
COMMITTED = {(WORK, 0): 4, (WORK, 1): 0}
STATE_HEADINGS = ["GROUP", "COORDINATOR", "(ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"]
ASSIGNORS = {"classic": "range", "consumer": "uniform"}

both_protocols = pytest.mark.parametrize("protocol", PROTOCOLS)


@pytest.fixture(scope="module")
def work(client: Client) -> None:
    client.create_topic(WORK, partitions=3, configs=KEEP_FOR_EVER)
    client.produce(WORK, numbered_records(10))


@pytest.fixture(scope="module")
def live(kafka: KafkaServer, work: None) -> Iterator[dict[str, Member]]:
    """A member alone in `live-<protocol>`, which has been assigned all and has committed some."""
    with ExitStack() as stack:
        members = {}
        for protocol in PROTOCOLS:
            settings = {"group_protocol": protocol, "client_id": f"{protocol}-client"}
            joining = member(kafka.bootstrap, f"live-{protocol}", [WORK], partitions=3, **settings)
            members[protocol] = stack.enter_context(joining)
            members[protocol].commit(COMMITTED)
        yield members


def make_empty_group(kafka: KafkaServer, group: str, protocol: str) -> None:
    with member(kafka.bootstrap, group, [WORK], partitions=3, group_protocol=protocol) as alone:
        alone.commit(COMMITTED)


@pytest.fixture(scope="module")
def empty(kafka: KafkaServer, work: None) -> None:
    """Groups `empty-<protocol>`, which all members have left."""
    for protocol in PROTOCOLS:
        make_empty_group(kafka, f"empty-{protocol}", protocol)


# --- list


def test_list(tool: Tool, live: dict[str, Member], empty: None) -> None:
    listed = set(tool("kafka-consumer-groups", "--list").stdout.split())
    assert {"live-classic", "live-consumer", "empty-classic", "empty-consumer"} <= listed


def test_list_of_states(tool: Tool, live: dict[str, Member], empty: None) -> None:
    lines = records(tool("kafka-consumer-groups", "--list", "--state").stdout)
    states = {line["GROUP"]: line["STATE"] for line in lines}
    for protocol in PROTOCOLS:
        assert states[f"live-{protocol}"] == "Stable"
        assert states[f"empty-{protocol}"] == "Empty"


def test_list_of_types(tool: Tool, live: dict[str, Member], empty: None) -> None:
    lines = records(tool("kafka-consumer-groups", "--list", "--type").stdout)
    types = {line["GROUP"]: line["TYPE"] for line in lines}
    for state in ("live", "empty"):
        assert types[f"{state}-classic"] == "Classic"
        assert types[f"{state}-consumer"] == "Consumer"


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (("--state", "Empty", "--type", "consumer"), ["empty-consumer", "Consumer", "Empty"]),
        (("--state", "stable", "--type", "classic"), ["live-classic", "Classic", "Stable"]),
    ],
)
def test_list_with_filters(
    tool: Tool, live: dict[str, Member], empty: None, filters: tuple[str, ...], expected: list[str]
) -> None:
    headings, *lines = rows(tool("kafka-consumer-groups", "--list", *filters).stdout)
    assert headings == ["GROUP", "TYPE", "STATE"]
    assert expected in lines
    assert {tuple(line[1:]) for line in lines} == {tuple(expected[1:])}


def test_list_of_groups_of_all_kinds(
    tool: Tool, kafka: KafkaServer, live: dict[str, Member], topic: str
) -> None:
    """kafka-groups. A group that has offsets and never had a member has no protocol."""
    commit_alone(kafka.bootstrap, topic, {(WORK, 0): 1})
    headings, *everything = rows(tool("kafka-groups", "--list").stdout)
    assert headings == ["GROUP", "TYPE", "PROTOCOL"]
    expected = [
        ["live-classic", "Classic", "consumer"],
        ["live-consumer", "Consumer", "consumer"],
        [topic, "Classic"],
    ]
    assert all(line in everything for line in expected)
    consumers = rows(tool("kafka-groups", "--list", "--consumer").stdout)
    assert all(line in consumers for line in expected)
    newer = rows(tool("kafka-groups", "--list", "--group-type", "consumer").stdout)
    assert expected[1] in newer
    assert {line[1] for line in newer[1:]} == {"Consumer"}


# --- describe


@both_protocols
def test_offsets_of_a_live_group(tool: Tool, live: dict[str, Member], protocol: str) -> None:
    group = f"live-{protocol}"
    lines = records(tool("kafka-consumer-groups", "--describe", "--group", group).stdout)
    where = [
        [line[name] for name in ("GROUP", "TOPIC", "CONSUMER-ID", "HOST", "CLIENT-ID")] for line in lines
    ]
    assert where == [[group, WORK, live[protocol].id, "/127.0.0.1", f"{protocol}-client"]] * 3
    progress = ("PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG")
    assert [[line[name] for name in progress] for line in lines] == [
        ["0", "4", "10", "6"],
        ["1", "0", "0", "0"],
        ["2", "-", "0", "-"],
    ]


@both_protocols
def test_offsets_of_an_empty_group(tool: Tool, empty: None, protocol: str) -> None:
    """Only what was committed is there to be shown, with the leader's epoch if it was committed too."""
    group = f"empty-{protocol}"
    done = tool("kafka-consumer-groups", "--describe", "--group", group, "--offsets", "--verbose")
    assert done.stderr.strip() == f"Consumer group '{group}' has no active members."
    assert rows(done.stdout) == [
        ["GROUP", "TOPIC", "PARTITION", "LEADER-EPOCH", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG",
         "CONSUMER-ID", "HOST", "CLIENT-ID"],
        [group, WORK, "0", "-", "4", "10", "6", "-", "-", "-"],
        [group, WORK, "1", "-", "0", "0", "0", "-", "-", "-"],
    ]  # fmt: skip


@both_protocols
def test_members(tool: Tool, live: dict[str, Member], protocol: str) -> None:
    group = f"live-{protocol}"
    printed = tool("kafka-consumer-groups", "--describe", "--group", group, "--members").stdout
    assert rows(printed) == [
        ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"],
        [group, live[protocol].id, "/127.0.0.1", f"{protocol}-client", "3"],
    ]


def numbers(member: Member) -> str:
    return ",".join(str(partition) for _, partition in sorted(member.assignment))


@both_protocols
def test_members_in_detail(tool: Tool, kafka: KafkaServer, work: None, topic: str, protocol: str) -> None:
    """Two static members share the work; only the consumer protocol has epochs and targets."""
    with ExitStack() as stack:
        members = []
        for instance in ("one", "two"):
            settings = {"group_protocol": protocol, "group_instance_id": instance, "client_id": instance}
            members.append(Member(kafka.bootstrap, topic, [WORK], **settings))
            stack.callback(members[-1].close)
        wait_for(lambda: sorted(len(each.assignment) for each in members) == [1, 2], what="shares")
        wait_until_stable(kafka.bootstrap, topic)
        printed = tool(
            "kafka-consumer-groups", "--describe", "--group", topic, "--members", "--verbose"
        ).stdout
        [headings, *lines] = rows(printed)
        expected = []
        for instance, each in zip(("one", "two"), members, strict=True):
            line = [topic, each.id, instance, "/127.0.0.1", instance, str(len(each.assignment))]
            expected.append([*line, f"{WORK}:{numbers(each)}"])
    assert headings == [
        "GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS",
        "CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT",
    ]  # fmt: skip
    for line in lines:
        epoch, assigned, target_epoch, target = line[6:]
        if protocol == "classic":
            assert (epoch, target_epoch, target) == ("-", "-", "-")
        else:
            assert epoch == target_epoch
            assert int(epoch) >= 2
            assert target == assigned
    assert sorted([*line[:6], line[7]] for line in lines) == sorted(expected)


@both_protocols
def test_state_of_a_live_group(
    tool: Tool, kafka: KafkaServer, live: dict[str, Member], protocol: str
) -> None:
    group = f"live-{protocol}"
    printed = tool("kafka-consumer-groups", "--describe", "--group", group, "--state", "--verbose").stdout
    headings, line = rows(printed)
    assert headings == [
        "GROUP", "COORDINATOR", "(ID)", "ASSIGNMENT-STRATEGY", "STATE", "GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH",
        "#MEMBERS",
    ]  # fmt: skip
    epoch, target_epoch = line[5:7]
    assert line[:5] + line[7:] == [
        group, kafka.bootstrap, f"({kafka.broker_id})", ASSIGNORS[protocol], "Stable", "1",
    ]  # fmt: skip
    if protocol == "classic":
        assert (epoch, target_epoch) == ("-", "-")
    else:
        assert epoch == target_epoch
        assert int(epoch) >= 1


def test_state_of_empty_groups(tool: Tool, kafka: KafkaServer, empty: None) -> None:
    """A classic group forgets its assignor with its members; the others' is the server's."""
    groups = [part for protocol in PROTOCOLS for part in ("--group", f"empty-{protocol}")]
    done = tool("kafka-consumer-groups", "--describe", *groups, "--state")
    coordinator = [kafka.bootstrap, f"({kafka.broker_id})"]
    assert rows(done.stdout) == [
        STATE_HEADINGS,
        ["empty-classic", *coordinator, "-", "Empty", "0"],
        STATE_HEADINGS,
        ["empty-consumer", *coordinator, "uniform", "Empty", "0"],
    ]
    assert done.stderr.count("has no active members.") == 2


def test_all_groups_at_once(tool: Tool, live: dict[str, Member], empty: None) -> None:
    printed = tool("kafka-consumer-groups", "--describe", "--all-groups", "--members").stdout
    lines = rows(printed)
    for protocol in PROTOCOLS:
        assert [f"live-{protocol}", live[protocol].id, "/127.0.0.1", f"{protocol}-client", "3"] in lines


def test_a_group_that_does_not_exist(tool: Tool) -> None:
    done = tool("kafka-consumer-groups", "--describe", "--group", "nobody")
    assert done.stdout.strip() == (
        "Error: Executing consumer group command failed due to "
        "org.apache.kafka.common.errors.GroupIdNotFoundException: Group nobody not found."
    )


# --- delete


SUBSCRIBED = (
    "org.apache.kafka.common.errors.GroupSubscribedToTopicException: "
    "Deleting offsets of a topic is forbidden while the consumer group is actively subscribed to it."
)


@both_protocols
def test_offsets_that_are_in_use_stay(
    tool: Tool, kafka: KafkaServer, live: dict[str, Member], protocol: str
) -> None:
    group = f"live-{protocol}"
    done = tool("kafka-consumer-groups", "--delete-offsets", "--group", group, "--topic", f"{WORK}:0")
    assert rows(done.stdout)[1:] == [
        ["TOPIC", "PARTITION", "STATUS"],
        [WORK, "0", "Error:", *SUBSCRIBED.split()],
    ]
    assert committed(kafka.bootstrap, group) == COMMITTED


def test_delete_offsets(tool: Tool, kafka: KafkaServer, work: None, topic: str) -> None:
    commit_alone(kafka.bootstrap, topic, {(WORK, 0): 1, (WORK, 1): 0, (WORK, 2): 0})
    asked = ("--topic", f"{WORK}:0,2", "--topic", "no-such-topic")
    done = tool("kafka-consumer-groups", "--delete-offsets", "--group", topic, *asked)
    assert rows(done.stdout) == [
        f"Request succeeded for deleting offsets from group {topic}.".split(),
        ["TOPIC", "PARTITION", "STATUS"],
        ["no-such-topic", "-", "Error:", "org.apache.kafka.common.errors.UnknownTopicOrPartitionException:",
         *["This", "server", "does", "not", "host", "this", "topic-partition."]],
        [WORK, "0", "Successful"],
        [WORK, "2", "Successful"],
    ]  # fmt: skip
    assert committed(kafka.bootstrap, topic) == {(WORK, 1): 0}


def test_delete_offsets_of_nobody(tool: Tool, work: None) -> None:
    done = tool("kafka-consumer-groups", "--delete-offsets", "--group", "nobody", "--topic", f"{WORK}:0")
    assert done.stdout.strip().startswith("Error: The group id does not exist.")


def test_delete(tool: Tool, kafka: KafkaServer, live: dict[str, Member], topic: str) -> None:
    """Each group is answered for by itself: the empty ones go, the live ones stay."""
    commit_alone(kafka.bootstrap, f"{topic}-alone", {(WORK, 0): 1})
    for protocol in PROTOCOLS:
        make_empty_group(kafka, f"{topic}-{protocol}", protocol)
    doomed = {f"{topic}-{kind}" for kind in ("alone", *PROTOCOLS)}
    refused = {
        f"live-{protocol}": "GroupNotEmptyException: The group is not empty." for protocol in PROTOCOLS
    }
    refused["nobody"] = "GroupIdNotFoundException: The group id does not exist."
    asked = [part for group in sorted({*doomed, *refused}) for part in ("--group", group)]
    printed = tool("kafka-consumer-groups", "--delete", *asked).stdout
    for group, reason in refused.items():
        assert (
            f"* Group '{group}' could not be deleted due to: org.apache.kafka.common.errors.{reason}\n"
            in printed
        )
    *_, last = printed.strip().splitlines()
    said, _, names = last.partition(": ")
    assert said == "These consumer groups were deleted successfully"
    assert set(names.split(", ")) == {f"'{group}'" for group in doomed}
    listed = tool("kafka-consumer-groups", "--list").stdout.split()
    assert not doomed & set(listed)
    assert committed(kafka.bootstrap, f"{topic}-alone") == {}
