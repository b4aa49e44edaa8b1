"""kafka-groups beside Kafka's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.share_members import emptied_share_group
from tests.foreign_clients.drivers.model import Client
from tests.java_tools.members import PROTOCOLS, commit_alone, member
from tests.support.cluster_fixture import KafkaServer
from tests.support.java_tools import run_java_tool
from tests.support.processes import free_port
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

TOOL = "kafka-groups"
WORK = "groups-work"


@pytest.fixture(scope="module")
@starts_processes
def groups(kafka: KafkaServer, client: Client) -> Iterator[None]:
    """One of each type, and one that only has offsets."""
    client.create_topic(WORK)
    with ExitStack() as stack:
        for protocol in PROTOCOLS:
            group = f"groups-of-{protocol}"
            stack.enter_context(member(kafka.bootstrap, group, [WORK], partitions=1, group_protocol=protocol))
        commit_alone(kafka.bootstrap, "groups-with-a-name-longer-than-twenty", {(WORK, 0): 0})
        emptied_share_group(kafka, client, "groups-that-share")
        yield


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ((), 4),
        (("--consumer",), 3),
        (("--share",), 1),
        (("--streams",), 0),
        (("--group-type", "classic"), 2),
        (("--group-type", "CONSUMER"), 1),
        (("--group-type", "classic", "--protocol", "consumer"), 1),
        (("--protocol", "consumer"), 2),
        (("--protocol", "share"), 1),
        (("--protocol", "connect"), 0),
        (("--protocol", ""), 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_list(both: BothTools, groups: None, filters: tuple[str, ...], count: int) -> None:
    said = both(TOOL, "--bootstrap-server", both.bootstrap, "--list", *filters)
    assert said.stdout.count("\ngroups-") == count


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("--version",),
        ("--list",),
        ("--lst",),
        ("--bootstrap-server", "localhost:9092"),
        ("--bootstrap-server", "localhost:9092", "--list", "--consumer", "--share"),
        ("--bootstrap-server", "localhost:9092", "--list", "--share", "--group-type", "share"),
        ("--bootstrap-server", "localhost:9092", "--list", "--streams", "--protocol", "x"),
        ("--bootstrap-server", "localhost:9092", "--list", "--group-type", "secret"),
        ("--bootstrap-server", "localhost:9092", "--list", "--group-type"),
    ],
    ids=" ".join,
)
def test_wrong_words(both: BothTools, words: tuple[str, ...]) -> None:
    done = both(TOOL, *words)
    assert done.returncode == (0 if words == ("--version",) else 1)


def test_a_broker_that_is_not_there(tmp_path: Path) -> None:
    config = tmp_path / "admin.properties"
    config.write_text("default.api.timeout.ms=300\nrequest.timeout.ms=300\n")
    address = f"127.0.0.1:{free_port()}"
    asked = ("--bootstrap-server", address, "--list", "--command-config", str(config))
    theirs, ours = run_java_tool(TOOL, *asked), run_our_tool(TOOL, *asked)
    assert (
        theirs.stdout == "Error while executing groups command : Failed to find brokers to send ListGroups\n"
    )
    assert ours.stdout.startswith("Error while executing groups command : ")
    assert address in ours.stdout
    assert ours.returncode == theirs.returncode == 1


def test_settings_that_make_no_client(both: BothTools) -> None:
    asked = ("--bootstrap-server", "no port", "--list")
    theirs, ours = run_java_tool(TOOL, *asked), run_our_tool(TOOL, *asked)
    said = "Error while executing groups command : Failed to create new KafkaAdminClient"
    assert theirs.stdout == f"{said}\n"
    assert ours.stdout == f"{said}: bootstrap.servers: got 'no port', takes host:port[,host:port...]\n"
    assert ours.returncode == theirs.returncode == 1
