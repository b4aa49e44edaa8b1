"""kafka-consumer-groups beside Kafka's: lists, descriptions and deletions of groups of both protocols."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.foreign_clients.drivers.model import Client
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.java_tools.members import PROTOCOLS, Member, commit_alone, committed, member, wait_until_stable
from tests.support.cluster_fixture import KafkaServer
from tests.support.java_tools import run_java_tool
from tests.support.processes import free_port, wait_for
from tests.support.wire_client import WireClient

pytestmark = pytest.mark.processes

TOOL = "kafka-consumer-groups"
WORK, OTHER = "group-work", "another-topic-with-a-name-of-some-length"
COMMITTED = {(WORK, 0): 4, (WORK, 1): 0}
JOINS_AT_ONCE = 3  # of JoinGroup, the last version that takes a member without an id


@pytest.fixture(scope="module")
def topics(client: Client) -> None:
    client.create_topic(WORK, partitions=3, configs=KEEP_FOR_EVER)
    client.create_topic(OTHER, partitions=1, configs=KEEP_FOR_EVER)
    client.produce(WORK, numbered_records(10))


def shares_out(first: Member, second: Member) -> bool:
    each_has_some = bool(first.assignment and second.assignment)
    return each_has_some and len(first.assignment) + len(second.assignment) == 3


@pytest.fixture(scope="module")
def groups(kafka: KafkaServer, topics: None) -> Iterator[None]:
    """`live-<protocol>` with two members, of which the second is static; `idle-<protocol>` without members; and
    `live-mixed` with a member of either protocol."""
    with ExitStack() as stack:
        for protocol in PROTOCOLS:
            settings = {"group_protocol": protocol, "client_id": f"client-of-{protocol}"}
            group = f"live-{protocol}"
            first = stack.enter_context(member(kafka.bootstrap, group, [WORK], partitions=3, **settings))
            first.commit({**COMMITTED, (OTHER, 0): 0})
            second = Member(kafka.bootstrap, group, [WORK], group_instance_id="an-instance", **settings)
            stack.callback(second.close)
            wait_for(partial(shares_out, first, second), what="both to have partitions")
            wait_until_stable(kafka.bootstrap, group)
            with member(kafka.bootstrap, f"idle-{protocol}", [WORK], partitions=3, **settings) as idle:
                idle.commit(COMMITTED)
        newer = stack.enter_context(
            member(kafka.bootstrap, "live-mixed", [WORK], partitions=3, group_protocol="consumer")
        )
        older = Member(kafka.bootstrap, "live-mixed", [WORK], group_protocol="classic")
        stack.callback(older.close)
        wait_for(partial(shares_out, newer, older), what="both to have partitions")
        wait_until_stable(kafka.bootstrap, "live-mixed")
        commit_alone(kafka.bootstrap, "offsets-only", {(OTHER, 0): 7, (WORK, 2): 1})
        yield


@pytest.mark.parametrize(
    "filters",
    [
        (),
        ("--state",),
        ("--type",),
        ("--state", "--type"),
        ("--state", "Empty"),
        ("--state", "stable,EMPTY", "--type", "consumer"),
        ("--type", "Classic, consumer"),
        ("--state=dead",),
    ],
    ids=" ".join,
)
def test_list(both: BothTools, groups: None, filters: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, "--list", *filters)


GROUPS = ("live-classic", "live-consumer", "live-mixed", "idle-classic", "idle-consumer", "offsets-only")


@pytest.mark.parametrize("verbose", [(), ("--verbose",)], ids=" ".join)
@pytest.mark.parametrize("what", [(), ("--offsets",), ("--members",), ("--state",)], ids=" ".join)
def test_describe(both: BothTools, groups: None, what: tuple[str, ...], verbose: tuple[str, ...]) -> None:
    for group in GROUPS:
        said = both(
            TOOL, "--bootstrap-server", both.bootstrap, "--describe", "--group", group, *what, *verbose
        )
        assert ("has no active members" in said.stderr) == (not group.startswith("live"))
        if (what, verbose) == (("--members",), ("--verbose",)):
            assert ("UPGRADED" in said.stdout) == (group == "live-mixed")


@pytest.mark.parametrize("what", ["--offsets", "--members", "--state"])
def test_describe_several(both: BothTools, groups: None, what: str) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, "--describe", "--all-groups", what)
    named = [word for group in GROUPS for word in ("--group", group)]
    both(TOOL, "--bootstrap-server", both.bootstrap, "--describe", *named, what)


@pytest.mark.parametrize("what", ["--offsets", "--members", "--state"])
def test_describe_a_group_that_is_not_there(both: BothTools, groups: None, what: str) -> None:
    asked = ("--describe", "--group", "idle-classic", "--group", "no-such-group", what)
    said = both(TOOL, "--bootstrap-server", both.bootstrap, *asked)
    assert said.stdout.endswith("GroupIdNotFoundException: Group no-such-group not found.\n")


def test_a_group_of_something_else(both: BothTools, topics: None) -> None:
    protocols = [JoinGroupRequestProtocol("default", b"\0")]
    request = JoinGroupRequest("workers", 30_000, 30_000, protocol_type="connect", protocols=protocols)
    with WireClient(both.bootstrap) as worker:
        wait_for(lambda: not worker.send(request, JOINS_AT_ONCE).error_code, what="the coordinator")
        asked = ("--bootstrap-server", both.bootstrap, "--group", "workers")
        said = both(TOOL, *asked, "--describe")
        assert said.stdout.endswith("GroupId workers is not a consumer group (connect).\n")
        both(TOOL, *asked, "--reset-offsets", "--topic", WORK, "--to-latest", "--dry-run")
        both(TOOL, "--bootstrap-server", both.bootstrap, "--list")


def test_delete(both: BothTools, kafka: KafkaServer, groups: None) -> None:
    both.each(lambda name: commit_alone(kafka.bootstrap, name, COMMITTED))
    delete = ("--bootstrap-server", both.bootstrap, "--delete")
    both(TOOL, *delete, "--group", "{name}", mutating=True)
    both.each(lambda name: commit_alone(kafka.bootstrap, name, COMMITTED))
    mixed = ("--group", "{name}", "--group", "live-classic", "--group", "no-such-group")
    said = both(TOOL, *delete, *mixed, mutating=True, sort_lines=True)
    assert "* Group 'live-classic' could not be deleted due to: " in said.stdout
    assert "These consumer groups were deleted successfully: '{name}'" in said.stdout


@pytest.mark.parametrize(
    "topics_given",
    [
        (WORK,),
        (f"{WORK}:1,0",),
        (f"{WORK}:1", OTHER),
        ("no-such-topic", WORK),
        (f"{WORK}:77",),
    ],
    ids=" ".join,
)
def test_delete_offsets(
    both: BothTools, kafka: KafkaServer, groups: None, topics_given: tuple[str, ...]
) -> None:
    both.each(lambda name: commit_alone(kafka.bootstrap, name, COMMITTED))
    asked = [word for topic in topics_given for word in ("--topic", topic)]
    both(
        TOOL,
        "--bootstrap-server",
        both.bootstrap,
        "--delete-offsets",
        "--group",
        "{name}",
        *asked,
        mutating=True,
    )
    theirs, ours = both.each(lambda name: committed(kafka.bootstrap, name))
    assert ours == theirs


@pytest.mark.parametrize("group", ["live-classic", "live-consumer", "no-such-group"])
def test_offsets_that_cannot_be_deleted(both: BothTools, groups: None, group: str) -> None:
    asked = ("--delete-offsets", "--group", group, "--topic", WORK)
    both(TOOL, "--bootstrap-server", both.bootstrap, *asked)


@pytest.mark.parametrize(
    "regex",
    [
        *(
            "a.*",
            "",
            "(a|b)[0-9]{2,3}",
            "(abc",
            "abc)",
            "[abc",
            "a**",
            "*a",
            "a{1001}",
            "a{2,1}",
            "a\\",
            "\\y",
        ),
        *("[b-a]", "(?z)", "(?P<n", "(?P<n>a)", "[[:foo:]]", "\\pX", "(?=a)"),
    ],
)
def test_validate_regex(both: BothTools, regex: str) -> None:
    both(TOOL, "--validate-regex", regex)


# --- bad input


BOOTSTRAP = ("--bootstrap-server", "{bootstrap}")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("--version",),
        ("--list",),
        (*BOOTSTRAP,),
        (*BOOTSTRAP, "--list", "--describe", "--group", "g"),
        (*BOOTSTRAP, "--describe", "--group", "g", "--members", "--state"),
        (*BOOTSTRAP, "--describe", "--group", "g", "--state", "Empty"),
        (*BOOTSTRAP, "--describe", "--group", "g", "--all-groups"),
        (*BOOTSTRAP, "--describe", "--group", "g", "--topic", "t"),
        (*BOOTSTRAP, "--list", "--group", "g"),
        (*BOOTSTRAP, "--delete", "--group", "g", "--topic", "t"),
        (*BOOTSTRAP, "--reset-offsets", "--group", "g", "--execute", "--dry-run"),
        (*BOOTSTRAP, "--reset-offsets", "--group", "g", "--to-earliest", "--to-latest", "--execute"),
        (*BOOTSTRAP, "--reset-offsets", "--group", "g", "--to-offset", "1", "--shift-by", "1"),
        (*BOOTSTRAP, "--reset-offsets", "--group", "g", "--to-earliest"),
        (*BOOTSTRAP, "--reset-offsets", "--group", "g", "--to-earliest", "--dry-run", "--topic", "t:a"),
        (*BOOTSTRAP, "--reset-offsets", "--group", "g", "--to-earliest", "--dry-run", "--topic", "t:0:1"),
    ],
    ids=" ".join,
)
def test_wrong_words(both: BothTools, topics: None, words: tuple[str, ...]) -> None:
    """What was given that cannot be, then the usage."""
    given = [word.replace("{bootstrap}", both.bootstrap) for word in words]
    done = both(TOOL, *given)
    assert done.returncode == (0 if words == ("--version",) else 1)


@pytest.mark.parametrize(
    "words",
    [
        (*BOOTSTRAP, "--delete-offsets", "--group", "g", "--group", "h", "--topic", "t"),
        (*BOOTSTRAP, "--list", "--timeout", "soon"),
        (*BOOTSTRAP, "--reset-offsets", "--group", "g", "--topic", WORK, "--dry-run", "--to-offset", "first"),
        (*BOOTSTRAP, "--reset-offsets", "--group", "g", "--topic", WORK, "--dry-run", "--by-duration", "P"),
        (*BOOTSTRAP, "--reset-offsets", "--group", "g", "--topic", WORK, "--dry-run", "--to-datetime", "now"),
        (*BOOTSTRAP, "--reset-offsets", "--group", "g", "--topic", WORK, "--dry-run", "--to-datetime", "1T2"),
    ],
    ids=" ".join,
)
def test_words_that_show_to_be_wrong_at_work(both: BothTools, topics: None, words: tuple[str, ...]) -> None:
    """Told on standard output, with 0 at the end, as Kafka's tells all that goes wrong at work."""
    given = [word.replace("{bootstrap}", both.bootstrap) for word in words]
    done = both(TOOL, *given)
    assert done.stdout.startswith("\nError: Executing consumer group command failed due to ")
    assert done.returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        (*BOOTSTRAP, "--describe"),
        (*BOOTSTRAP, "--delete"),
        (*BOOTSTRAP, "--reset-offsets", "--dry-run"),
        (*BOOTSTRAP, "--delete-offsets", "--group", "g"),
        (*BOOTSTRAP, "--list", "--state", "Sleeping"),
        (*BOOTSTRAP, "--list", "--type", "share"),
        (*BOOTSTRAP, "--reset-offsets", "--group", "g", "--topic", WORK, "--dry-run"),
    ],
    ids=" ".join,
)
def test_wrong_words_with_a_choice(both: BothTools, topics: None, words: tuple[str, ...]) -> None:
    """Java lists what there is to choose from in an order of its own in every run."""
    given = [word.replace("{bootstrap}", both.bootstrap) for word in words]
    theirs, ours = run_java_tool(TOOL, *given), run_our_tool(TOOL, *given)
    for kafkas, penstocks in zip(theirs.stderr.splitlines(), ours.stderr.splitlines(), strict=True):
        assert sorted(penstocks.replace("[[", "[").replace("]]", "]").replace(",", "").split()) == sorted(
            kafkas.replace("[[", "[").replace("]]", "]").replace(",", "").split()
        )
    assert (ours.stdout, ours.returncode) == (theirs.stdout, theirs.returncode) == ("", 1)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--lst",), "lst is not a recognized option"),
        (("--bootstrap-server",), "Option bootstrap-server requires an argument"),
        (
            (*BOOTSTRAP, "--list", "--members"),
            "Option(s) [members] are unavailable given other options on the command line",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_words_that_no_option_takes(both: BothTools, words: tuple[str, ...], line: str) -> None:
    """Kafka's throws; both say the same line, Kafka's among its trace."""
    given = [word.replace("{bootstrap}", both.bootstrap) for word in words]
    theirs, ours = run_java_tool(TOOL, *given), run_our_tool(TOOL, *given)
    assert (ours.returncode, ours.stdout, ours.stderr) == (1, "", f"{line}\n")
    assert theirs.returncode == 1
    assert line in theirs.stderr


def test_a_broker_that_is_not_there() -> None:
    """Both fail after the timeout, say so on standard output, and end with 0, as Kafka's always did."""
    asked = ("--bootstrap-server", f"127.0.0.1:{free_port()}", "--list", "--timeout", "300")
    theirs, ours = run_java_tool(TOOL, *asked), run_our_tool(TOOL, *asked)
    said = "\nError: Executing consumer group command failed due to java.util.concurrent.ExecutionException: org.apache"
    assert theirs.stdout.startswith(said)
    assert ours.stdout.startswith(said)
    assert asked[1] in ours.stdout
    assert len(ours.stdout.strip().splitlines()) == 1
    assert "Traceback" not in ours.stderr
    assert ours.returncode == theirs.returncode == 0


def test_a_command_config(both: BothTools, groups: None, tmp_path: Path) -> None:
    config = tmp_path / "admin.properties"
    config.write_text("request.timeout.ms=20000\nclient.id=admin\n")
    asked = ("--bootstrap-server", both.bootstrap, "--list")
    both(TOOL, *asked, "--command-config", str(config))
    missing = run_our_tool(TOOL, *asked, "--command-config", str(tmp_path / "no-such-file"))
    assert "no-such-file" in missing.stdout + missing.stderr
    assert "Traceback" not in missing.stderr
