"""kafka-share-groups beside Kafka's: lists, descriptions, deletions and resets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.share_members import emptied_share_group, live_share_group
from tests.foreign_clients.drivers.model import Client, Record
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.java_tools.members import commit_alone
from tests.support.cluster_fixture import KafkaServer
from tests.support.java_tools import run_java_tool
from tests.support.processes import free_port
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

TOOL = "kafka-share-groups"
SHARED = "shared-by-groups"  # six and four records in two partitions, a second apart from 12:26:40 on
LIVE, IDLE = "share-live", "share-idle-with-a-longer-name"


@pytest.fixture(scope="module")
def shared(client: Client) -> str:
    client.create_topic(SHARED, partitions=2, configs=KEEP_FOR_EVER)
    second = [Record(each.value, timestamp=each.timestamp, partition=1) for each in numbered_records(4)]
    client.produce(SHARED, numbered_records(6) + second)
    return SHARED


@pytest.fixture(scope="module")
@starts_processes
def groups(
    kafka: KafkaServer, client: Client, shared: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """One with a member and one without, which both have read everything there is; and one of another type."""
    commit_alone(kafka.bootstrap, "no-share-group", {(SHARED, 0): 0})
    emptied_share_group(kafka, client, IDLE, shared)
    log = tmp_path_factory.mktemp("sharer") / "sharer.log"
    with live_share_group(kafka, LIVE, shared, log):
        yield


@pytest.mark.parametrize(
    "filters", [(), ("--state",), ("--state", "empty"), ("--state", "Stable,Dead")], ids=" ".join
)
def test_list(both: BothTools, groups: None, filters: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, "--list", *filters)


@pytest.mark.parametrize("verbose", [(), ("--verbose",)], ids=" ".join)
@pytest.mark.parametrize("what", [(), ("--offsets",), ("--members",), ("--state",)], ids=" ".join)
def test_describe(both: BothTools, groups: None, what: tuple[str, ...], verbose: tuple[str, ...]) -> None:
    describe = ("--bootstrap-server", both.bootstrap, "--describe")
    for group in (LIVE, IDLE):
        both(TOOL, *describe, "--group", group, *what, *verbose)
    both(TOOL, *describe, "--all-groups", *what, *verbose)


@pytest.mark.parametrize("group", ["no-such-group", "no-share-group"])
def test_describe_what_is_no_share_group(both: BothTools, groups: None, group: str) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, "--describe", "--group", group, stderr="ignore")


@pytest.mark.parametrize(
    "words",
    [
        ("--group", LIVE),
        ("--group", "no-share-group", "--group", "no-such-group"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_deleted(both: BothTools, groups: None, words: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, "--delete", *words)


@pytest.mark.parametrize(
    "scenario",
    [("--to-earliest",), ("--to-latest",), ("--to-datetime", "2020-09-13T12:26:44.000")],
    ids=" ".join,
)
@pytest.mark.parametrize(
    "scope", [("--all-topics",), ("--topic", SHARED), ("--topic", f"{SHARED}:1")], ids=" ".join
)
def test_reset_as_planned(
    both: BothTools, groups: None, scope: tuple[str, ...], scenario: tuple[str, ...]
) -> None:
    asked = ("--reset-offsets", "--group", IDLE, *scope, *scenario)
    planned = both(TOOL, "--bootstrap-server", both.bootstrap, *asked, "--dry-run").stdout
    assert both(TOOL, "--bootstrap-server", both.bootstrap, *asked, "--execute").stdout == planned
    both(TOOL, "--bootstrap-server", both.bootstrap, "--describe", "--group", IDLE, "--verbose")


@pytest.mark.parametrize(
    "words",
    [
        ("--group", LIVE, "--topic", SHARED, "--to-earliest"),
        ("--group", "not-a-group-yet", "--topic", SHARED, "--to-earliest"),
        ("--group", "no-share-group", "--topic", SHARED, "--to-earliest"),
        ("--group", IDLE, "--topic", "no-such-topic", "--to-latest"),
        ("--group", IDLE, "--topic", f"{SHARED}:0,5", "--to-latest"),
        ("--group", IDLE, "--topic", f"{SHARED}:one", "--to-latest"),
        ("--group", IDLE, "--topic", SHARED, "--to-datetime", "yesterday"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_reset(both: BothTools, groups: None, words: tuple[str, ...]) -> None:
    asked = ("--bootstrap-server", both.bootstrap, "--reset-offsets", *words, "--execute")
    both(TOOL, *asked, stderr="first line" if f"{SHARED}:one" in words or LIVE in words else "ignore")


@pytest.mark.parametrize(
    "words",
    [
        ("--group", LIVE, "--topic", SHARED),
        ("--group", IDLE, "--topic", "no-such-topic"),
        ("--group", "no-such-group", "--topic", SHARED, "--topic", "no-such-topic"),
        ("--group", "no-share-group", "--topic", SHARED),
    ],
    ids=" ".join,
)
def test_offsets_that_cannot_be_deleted(both: BothTools, groups: None, words: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, "--delete-offsets", *words)


def test_the_end_of_a_group(both: BothTools, kafka: KafkaServer, client: Client, shared: str) -> None:
    both.each(lambda name: emptied_share_group(kafka, client, name, shared))
    asked = ("--bootstrap-server", both.bootstrap, "--group", "{name}")
    both(TOOL, *asked, "--delete-offsets", "--topic", shared, "--topic", "no-such-topic", mutating=True)
    both(TOOL, *asked, "--describe", mutating=True)
    both(TOOL, *asked, "--delete", mutating=True)
    both(TOOL, *asked, "--describe", mutating=True, stderr="ignore")


# --- bad input

BOOTSTRAP = ("--bootstrap-server", "localhost:9092")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("--version",),
        ("--list",),
        BOOTSTRAP,
        (*BOOTSTRAP, "--list", "--describe", "--all-groups"),
        (*BOOTSTRAP, "--describe"),
        (*BOOTSTRAP, "--describe", "--group", "g", "--members", "--state"),
        (*BOOTSTRAP, "--describe", "--group", "g", "--state", "Empty"),
        (*BOOTSTRAP, "--describe", "--group", "g", "--all-groups"),
        (*BOOTSTRAP, "--list", "--group", "g"),
        (*BOOTSTRAP, "--describe", "--group", "g", "--topic", "t"),
        (*BOOTSTRAP, "--delete"),
        (*BOOTSTRAP, "--delete", "--group", "g", "--all-groups"),
        (*BOOTSTRAP, "--delete", "--group", "g", "--topic", "t"),
        (*BOOTSTRAP, "--delete-offsets", "--topic", "t"),
        (*BOOTSTRAP, "--reset-offsets", "--group", "g", "--execute", "--dry-run"),
        (*BOOTSTRAP, "--reset-offsets", "--group", "g"),
        (*BOOTSTRAP, "--reset-offsets", "--execute"),
        (*BOOTSTRAP, "--reset-offsets", "--execute", "--group", "g"),
        (*BOOTSTRAP, "--reset-offsets", "--execute", "--group", "g", "--topic", "t"),
        (
            *BOOTSTRAP,
            "--reset-offsets",
            "--execute",
            "--group",
            "g",
            "--topic",
            "t",
            "--to-latest",
            "--to-earliest",
        ),
    ],
    ids=" ".join,
)
def test_wrong_words(both: BothTools, words: tuple[str, ...]) -> None:
    done = both(TOOL, *words)
    assert done.returncode == (0 if words == ("--version",) else 1)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--lst",), "lst is not a recognized option"),
        ((*BOOTSTRAP, "--list", "--to-latest", "--group"), "Option group requires an argument"),
        (
            (*BOOTSTRAP, "--list", "--verbose"),
            "Option(s) [verbose] are unavailable given other options on the command line",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_words_that_no_option_takes(words: tuple[str, ...], line: str) -> None:
    """Kafka's throws; both say the same line, Kafka's among its trace."""
    theirs, ours = run_java_tool(TOOL, *words), run_our_tool(TOOL, *words)
    assert (ours.returncode, ours.stdout, ours.stderr) == (1, "", f"{line}\n")
    assert theirs.returncode == 1
    assert line in theirs.stderr


def test_a_state_that_there_is_not(both: BothTools) -> None:
    """Kafka's lists those that there are in an order of its own in every run."""
    asked = ("--bootstrap-server", both.bootstrap, "--list", "--state", "Reconciling")
    theirs, ours = run_java_tool(TOOL, *asked), run_our_tool(TOOL, *asked)
    said = "Invalid state list 'Reconciling'. Valid states are: "
    assert theirs.stderr.startswith(said)
    assert ours.stderr.startswith(f"{said}Empty, Stable, Dead\nOption ")
    assert ours.returncode == theirs.returncode == 1


def test_a_broker_that_is_not_there() -> None:
    address = f"127.0.0.1:{free_port()}"
    asked = ("--bootstrap-server", address, "--describe", "--group", "g", "--timeout", "300")
    theirs, ours = run_java_tool(TOOL, *asked), run_our_tool(TOOL, *asked)
    said = "\nError: Executing share group command failed due to org.apache.kafka.common.errors.TimeoutException: "
    assert theirs.stdout.startswith(said)
    assert ours.stdout.startswith(said)
    assert address in ours.stdout
    assert ours.returncode == theirs.returncode == 0
