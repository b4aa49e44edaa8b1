"""kafka-streams-groups beside Kafka's: lists, descriptions, deletions and resets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.broker.committing import commit
from tests.broker.streams_members import StreamsMember, counting, plain, settle
from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.foreign_clients.drivers.model import Change, Client, Record
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.java_tools.members import commit_alone
from tests.support.cluster_fixture import KafkaServer
from tests.support.java_tools import run_java_tool
from tests.support.processes import free_port
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

TOOL = "kafka-streams-groups"
LINES = "streams-lines"  # six and four records in two partitions, a second apart from 12:26:40 on
LIVE, IDLE, WAITING = "streams-live", "streams-idle-with-a-longer-name", "streams-waiting"


@pytest.fixture(scope="module")
def lines(client: Client) -> str:
    client.create_topic(LINES, partitions=2, configs=KEEP_FOR_EVER)
    second = [Record(each.value, timestamp=each.timestamp, partition=1) for each in numbered_records(4)]
    client.produce(LINES, numbered_records(6) + second)
    return LINES


def emptied_group(kafka: KafkaServer, group: str, source: str = LINES) -> None:
    """One that has committed in both partitions of its source, and in one of its own topic; its member has left."""
    with StreamsMember(kafka.bootstrap, group, counting(group, source)) as member:
        member.join()
        settle(member)
        member.leave()
        for topic, partition, offset in (
            (source, 0, 4),
            (source, 1, 2),
            (f"{group}-words-repartition", 0, 0),
        ):
            assert commit(member.client, group, topic, offset, partition) == 0


@pytest.fixture(scope="module")
@starts_processes
def members(kafka: KafkaServer, client: Client, lines: str) -> Iterator[list[StreamsMember]]:
    """A group with two members and standbys, one without, one that waits for a topic; and one of another type."""
    commit_alone(kafka.bootstrap, "no-streams-group", {(LINES, 0): 0})
    emptied_group(kafka, IDLE)
    client.incremental_alter_configs("GROUP", LIVE, [Change("SET", "streams.num.standby.replicas", "1")])
    with ExitStack() as stack:
        alice, bob = (
            stack.enter_context(
                StreamsMember(
                    kafka.bootstrap,
                    LIVE,
                    counting(LIVE, LINES),
                    member_id=f"member-of-{name}",
                    process_id=f"process-of-{name}",
                )
            )
            for name in ("alice", "bob")
        )
        carol = stack.enter_context(
            StreamsMember(kafka.bootstrap, WAITING, plain("not-there"), member_id="m", process_id="p")
        )
        for member in (alice, bob, carol):
            member.join()
        settle(alice, bob)
        who = {"member_id": alice.member_id, "generation_id_or_member_epoch": alice.epoch}
        assert commit(alice.client, LIVE, LINES, 5, alice.active["0"][0], **who) == 0
        yield [alice, bob, carol]


@pytest.fixture(autouse=True)
def alive(request: pytest.FixtureRequest) -> None:
    if "members" in request.fixturenames:
        for member in request.getfixturevalue("members"):
            assert not member.heartbeat().error_code


Members = list[StreamsMember]


@pytest.mark.parametrize(
    "filters",
    [(), ("--state",), ("--state", "empty"), ("--state", "Stable,NotReady")],
    ids=" ".join,
)
def test_list(both: BothTools, members: Members, filters: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, "--list", *filters)


@pytest.mark.parametrize("verbose", [(), ("--verbose",)], ids=" ".join)
@pytest.mark.parametrize("what", [(), ("--offsets",), ("--members",), ("--state",)], ids=" ".join)
def test_describe(both: BothTools, members: Members, what: tuple[str, ...], verbose: tuple[str, ...]) -> None:
    describe = ("--bootstrap-server", both.bootstrap, "--describe")
    for group in (LIVE, IDLE, WAITING):
        both(TOOL, *describe, "--group", group, *what, *verbose)
    both(TOOL, *describe, "--all-groups", *what, *verbose)


@pytest.mark.parametrize("group", ["no-such-group", "no-streams-group"])
def test_describe_what_is_no_streams_group(both: BothTools, members: Members, group: str) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, "--describe", "--group", group, stderr="ignore")


# deletions


@pytest.mark.parametrize(
    "words",
    [
        ("--group", LIVE),
        ("--group", "no-streams-group", "--group", "no-such-group"),
        ("--group", LIVE, "--delete-all-internal-topics"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_deleted(both: BothTools, members: Members, words: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, "--delete", *words)


@pytest.mark.parametrize("with_topics", [(), ("--delete-all-internal-topics",)], ids=" ".join)
def test_delete(both: BothTools, kafka: KafkaServer, lines: str, with_topics: tuple[str, ...]) -> None:
    both.each(lambda group: emptied_group(kafka, group))
    delete = ("--delete", "--group", "{name}", "--group", "none", *with_topics)
    both(TOOL, "--bootstrap-server", both.bootstrap, *delete, mutating=True)
    topics = run_java_tool("kafka-topics", "--bootstrap-server", both.bootstrap, "--list").stdout.split()
    for group in (both.kafka_name, both.our_name):
        assert (f"{group}-counts-changelog" in topics) is not bool(with_topics)


@pytest.mark.parametrize(
    "words",
    [
        ("--group", LIVE, "--input-topic", LINES),
        ("--group", IDLE, "--input-topic", "no-such-topic"),
        ("--group", "no-such-group", "--input-topic", LINES),
        ("--group", "no-streams-group", "--all-input-topics"),
    ],
    ids=" ".join,
)
def test_what_offsets_cannot_be_deleted(both: BothTools, members: Members, words: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, "--delete-offsets", *words, stderr="ignore")


@pytest.mark.parametrize(
    "scope",
    [("--all-input-topics",), ("--input-topic", LINES), ("--input-topic", f"{LINES}:1")],
    ids=" ".join,
)
def test_delete_offsets(both: BothTools, kafka: KafkaServer, lines: str, scope: tuple[str, ...]) -> None:
    both.each(lambda group: emptied_group(kafka, group))
    delete = ("--delete-offsets", "--group", "{name}", *scope)
    both(TOOL, "--bootstrap-server", both.bootstrap, *delete, mutating=True)


# resets


@pytest.mark.parametrize(
    "scenario",
    [
        ("--to-earliest",),
        ("--to-latest",),
        ("--to-current",),
        ("--to-offset", "3"),
        ("--shift-by", "-1"),
        ("--to-datetime", "2020-09-13T12:26:42.000"),
        ("--by-duration", "P1D"),
    ],
    ids=" ".join,
)
def test_reset_as_planned(both: BothTools, members: Members, scenario: tuple[str, ...]) -> None:
    asked = ("--bootstrap-server", both.bootstrap, "--reset-offsets", "--group", IDLE, *scenario, "--dry-run")
    both(TOOL, *asked, "--all-input-topics", stderr="ignore")
    both(TOOL, *asked, "--input-topic", f"{LINES}:1", "--export", stderr="ignore")


@pytest.mark.parametrize(
    "topics",
    [(), ("--delete-all-internal-topics",), ("--delete-internal-topic", "{name}-counts-changelog")],
    ids=" ".join,
)
def test_reset(both: BothTools, kafka: KafkaServer, lines: str, topics: tuple[str, ...]) -> None:
    both.each(lambda group: emptied_group(kafka, group))
    asked = (
        "--reset-offsets",
        "--group",
        "{name}",
        "--all-input-topics",
        "--to-earliest",
        "--execute",
        *topics,
    )
    both(TOOL, "--bootstrap-server", both.bootstrap, *asked, mutating=True)
    both(TOOL, "--bootstrap-server", both.bootstrap, *asked, mutating=True)


def test_reset_from_file(both: BothTools, members: Members, tmp_path: Path) -> None:
    plan = tmp_path / "plan.csv"
    plan.write_text(f"{LINES},0,2\n{LINES},1,100\n")
    asked = ("--reset-offsets", "--group", IDLE, "--from-file", str(plan), "--dry-run")
    both(TOOL, "--bootstrap-server", both.bootstrap, *asked, stderr="ignore")


@pytest.mark.parametrize(
    "words",
    [
        ("--group", LIVE, "--input-topic", LINES, "--to-earliest"),
        ("--group", "not-a-group-yet", "--input-topic", LINES, "--to-earliest"),
        ("--group", "not-a-group-yet", "--all-input-topics", "--to-earliest"),
        ("--group", "no-streams-group", "--all-input-topics", "--to-earliest"),
        ("--group", IDLE, "--input-topic", "no-such-topic", "--to-latest"),
        ("--group", IDLE, "--input-topic", f"{LINES}:0,5", "--to-latest"),
        ("--group", IDLE, "--to-latest"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_reset(both: BothTools, members: Members, words: tuple[str, ...]) -> None:
    asked = ("--bootstrap-server", both.bootstrap, "--reset-offsets", *words, "--dry-run")
    both(TOOL, *asked, stderr="first line" if words[-2:] == (IDLE, "--to-latest") else "ignore")


# arguments


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--list", "--describe", "--all-groups"),
        ("--list", "--group", "g"),
        ("--describe",),
        ("--describe", "--group", "g", "--members", "--offsets"),
        ("--describe", "--group", "g", "--state", "Stable"),
        ("--describe", "--group", "g", "--all-groups"),
        ("--list", "--members"),
        ("--delete",),
        ("--delete", "--group", "g", "--input-topic", "t"),
        ("--delete", "--group", "g", "--execute"),
        ("--delete-offsets", "--group", "g"),
        ("--delete-offsets", "--group", "g", "--group", "h", "--input-topic", "t"),
        ("--reset-offsets", "--group", "g"),
        ("--reset-offsets", "--dry-run"),
        ("--reset-offsets", "--group", "g", "--dry-run", "--execute"),
        ("--reset-offsets", "--group", "g", "--dry-run", "--to-latest", "--to-earliest"),
        ("--reset-offsets", "--group", "g", "--dry-run", "--delete-all-internal-topics"),
        ("--reset-offsets", "--group", "g", "--dry-run", "--delete-internal-topic", "t"),
        ("--list", "--delete-all-internal-topics"),
    ],
    ids=" ".join,
)
def test_refused_arguments(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, *words)


def test_a_state_that_there_is_not(both: BothTools) -> None:
    """Java lists what there is in any order."""
    both(TOOL, "--bootstrap-server", both.bootstrap, "--list", "--state", "Sleeping", stderr="first words")


def test_help(both: BothTools) -> None:
    both(TOOL, "--help")


def test_a_broker_that_is_not_there() -> None:
    where = f"127.0.0.1:{free_port()}"
    done = run_our_tool(TOOL, "--bootstrap-server", where, "--list", "--timeout", "500")
    assert done.returncode == 1
    assert where in done.stdout
