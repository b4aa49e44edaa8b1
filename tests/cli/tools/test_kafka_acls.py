from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.masks import mask
from tests.support.java_tools import ToolRun, run_java_tool

pytestmark = pytest.mark.processes

TOOL = "kafka-acls"
OPERATIONS = mask(
    r"(?<=supports operations )\[.*\]", "<operations>"
)  # Java has them in a set without an order

FIRST_OF_A_LIST = mask(r"^ \t", "\t")


def changed(both: BothTools, *words: str, **how: object) -> ToolRun:
    """The entries of a set come in any order."""
    server = ("--bootstrap-server", both.bootstrap)
    return both(TOOL, *server, *words, mutating=True, sort_lines=True, masks=[FIRST_OF_A_LIST], **how)


@pytest.mark.parametrize(
    "words",
    [
        ("--list",),
        ("--list", "--topic", "some"),
        ("--list", "--principal", "User:ann"),
        ("--add", "--topic", "some", "--allow-principal", "User:ann", "--operation", "Read"),
        ("--remove", "--topic", "some", "--force"),
    ],
)
def test_without_an_authorizer(both: BothTools, words: tuple[str, ...]) -> None:
    done = both(TOOL, "--bootstrap-server", both.bootstrap, *words, sort_lines=True)
    assert "SecurityDisabledException: No Authorizer is configured" in done.stdout
    assert done.returncode == 1


def test_topics(both_apache: BothTools) -> None:
    both, topic = both_apache, ("--topic", "{name}")
    read = ("--operation", "Read", "--operation", "describeconfigs", "--allow-principal", "User:ann")
    for _ in ("added", "there already"):
        changed(both, "--add", *topic, *read, "--deny-principal", "User:bob", "--deny-host", "127.0.0.1")
    changed(both, "--add", *topic, "--allow-principal", "User:*", "--resource-pattern-type", "prefixed")
    for pattern_type in ("literal", "PREFIXED", "any", "match"):
        changed(both, "--list", *topic, "--resource-pattern-type", pattern_type)
    changed(both, "--list", *topic, "--principal", "User:ann", "--principal", "User:bob")
    changed(both, "--remove", *topic, *read, "--force")
    assert "User:bob" in changed(both, "--list", *topic).stdout
    changed(both, "--remove", *topic, "--force", "--resource-pattern-type", "any")
    assert changed(both, "--list", *topic, "--resource-pattern-type", "any").stdout == ""


def test_roles(both_apache: BothTools) -> None:
    both, who = (
        both_apache,
        ("--allow-principal", "User:{name}", "--allow-host", "127.0.0.1", "--allow-host", "::1"),
    )
    changed(
        both, "--add", "--producer", "--topic", "{name}", "--transactional-id", "{name}", "--idempotent", *who
    )
    changed(both, "--add", "--consumer", "--topic", "{name}", "--group", "{name}", *who)
    changed(both, "--list", "--principal", "User:{name}")
    for resource in ("--topic", "--group", "--transactional-id"):
        changed(both, "--list", resource, "{name}")
    changed(
        both,
        "--remove",
        "--producer",
        "--consumer",
        "--topic",
        "{name}",
        "--group",
        "{name}",
        *who,
        "--force",
    )
    changed(both, "--remove", "--cluster", "--operation", "IdempotentWrite", *who, "--force")
    changed(both, "--list", "--principal", "User:{name}")


def test_other_resources(both_apache: BothTools) -> None:
    both = both_apache
    for flag, operation in (("--delegation-token", "Describe"), ("--user-principal", "CreateTokens")):
        changed(both, "--add", flag, "{name}", "--operation", operation, "--allow-principal", "User:ann")
        changed(both, "--list", flag, "{name}")
        changed(both, "--remove", flag, "{name}", "--force")


def test_controllers(both_apache: BothTools, apache_controller: str) -> None:
    for words in (
        ("--add", "--topic", "{name}", "--allow-principal", "User:ann"),
        ("--list", "--topic", "{name}"),
        ("--remove", "--topic", "{name}", "--force"),
    ):
        both_apache(TOOL, "--bootstrap-controller", apache_controller, *words, mutating=True)


def test_a_question_is_asked(both_apache: BothTools) -> None:
    """Kafka's wants a terminal for the answer; ours takes it from wherever it comes."""
    server = ("--bootstrap-server", both_apache.bootstrap)
    topic = ("--topic", both_apache.our_name)
    run_our_tool(TOOL, *server, "--add", *topic, "--allow-principal", "User:ann")
    for answer, left in (("n\n", True), ("", True), ("Y\n", False)):
        done = run_our_tool(TOOL, *server, "--remove", *topic, input=answer)
        assert done.stdout.startswith(
            "Are you sure you want to delete all ACLs for resource filter `Resource"
        )
        assert done.returncode == 0
        assert ("User:ann" in run_our_tool(TOOL, *server, "--list", *topic).stdout) is left


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--version",),
        ("--add", "--list"),
        ("--topic", "some"),
        ("--list", "--producer", "--topic", "some"),
        ("--list", "--allow-host", "a"),
        ("--add", "--producer", "--topic", "some", "--operation", "Read"),
        ("--add", "--consumer", "--topic", "some", "--deny-principal", "User:ann"),
        ("--add", "--topic", "some", "--principal", "User:ann"),
        ("--add", "--producer", "--allow-principal", "User:ann"),
        ("--add", "--topic", "some", "--idempotent"),
        ("--add", "--consumer", "--topic", "some", "--allow-principal", "User:ann"),
        (
            "--add",
            "--consumer",
            "--topic",
            "some",
            "--group",
            "g",
            "--cluster",
            "--allow-principal",
            "User:ann",
        ),
        ("--add", "--allow-principal", "User:ann"),
        ("--add", "--topic", "some"),
        ("--add", "--topic", "some", "--allow-principal", "ann"),
        ("--add", "--topic", "some", "--allow-principal", "User:a", "--resource-pattern-type", "any"),
        ("--list", "--resource-pattern-type", "round"),
        ("--list", "--resource-pattern-type", "unknown"),
        ("--add", "--topic", "some", "--allow-principal", "User:a", "--operation", "Dance"),
        ("--add", "--group", "some", "--allow-principal", "User:a", "--operation", "Write"),
        ("--list", "--no-such-flag"),
        ("--list", "--topic"),
    ],
)
def test_words(both: BothTools, words: tuple[str, ...]) -> None:
    compare_but_for_the_order_of_operations(both, "--bootstrap-server", both.bootstrap, *words)


@pytest.mark.parametrize("words", [(), ("--help",), ("--list",), ("--list", "--bootstrap-server")])
def test_words_without_a_server(both: BothTools, words: tuple[str, ...]) -> None:
    compare_but_for_the_order_of_operations(both, *words)


def compare_but_for_the_order_of_operations(both: BothTools, *words: str) -> None:
    """The help lists them, in Kafka's as a set without an order gives them."""
    theirs, ours = run_java_tool(TOOL, *words), run_our_tool(TOOL, *words)
    assert ours.returncode == theirs.returncode
    assert ours.stdout.splitlines()[:1] == theirs.stdout.splitlines()[:1]
    lines = [
        sorted(OPERATIONS.pattern.sub(OPERATIONS.replacement, done.stderr).splitlines())
        for done in (theirs, ours)
    ]
    assert lines[0] == lines[1]


def test_an_unreachable_broker(both: BothTools, hasty: Path) -> None:
    words = ("--list", "--bootstrap-server", "127.0.0.1:9", "--command-config", str(hasty))
    both(TOOL, *words, masks=[mask("(?<=ACL command: ).*", "<why>")])
    assert "127.0.0.1:9" in run_our_tool(TOOL, *words).stdout
