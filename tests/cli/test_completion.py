"""Completion: what may come next, and that real shells offer it when somebody presses Tab."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.cli.commands import COMMANDS, TOOLS
from penstock.cli.completion.candidates import candidates
from tests.cli.running import Cli, Terminal
from tests.support.toolchains import unavailable

HAVE_TABLES = sorted(name for name, command in COMMANDS.items() if command.has_flags and name != "version")


def offered(*words: str) -> list[str]:
    return [candidate.text for candidate in candidates(words)]


@pytest.fixture
def ask(cli: Cli) -> Callable[..., list[str]]:
    def asked(*words: str) -> list[str]:
        return [line.partition("\t")[0] for line in cli.output("__complete", *words).splitlines()]

    return asked


def test_commands() -> None:
    assert offered("") == list(COMMANDS)
    assert offered("console-") == ["console-producer", "console-consumer", "console-share-consumer"]
    assert offered("nothing") == offered("nothing", "") == []
    assert offered("completion", "") == ["bash", "zsh", "fish"]


@pytest.mark.parametrize("name", HAVE_TABLES)
def test_flags_come_from_the_tools_own_table(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    found = offered(name, "--")
    assert "--help" in found
    assert len(found) == len(set(found))
    if name in TOOLS and TOOLS[name].bootstrap is not None and name != "cluster":
        assert "--bootstrap-server" in found
    assert capfd.readouterr() == ("", "")


def test_flags_and_values() -> None:
    assert offered("topics", "--partitio") == ["--partition-size-limit-per-response", "--partitions"]
    assert offered("topics", "--list", "--output", "") == ["table", "json", "text"]
    assert offered("topics", "--output=j") == ["--output=json"]
    assert offered("topics", "--output", "=", "j") == offered("topics", "--output", "j") == ["json"]
    assert offered("get-offsets", "--time", "e") == ["earliest"]
    assert offered("topics", "--command-config", "") == []  # a file: the shell knows
    assert offered("cluster", "") == ["cluster-id", "unregister", "list-endpoints"]
    assert "--bootstrap-server" in offered("cluster", "cluster-id", "--")
    assert offered("server-stop", "-") == []


@pytest.mark.processes
def test_names_that_the_broker_knows(
    ask: Callable[..., list[str]], cli: Cli, penstock_topic: str, group: str
) -> None:
    start = penstock_topic[:-1]
    assert ask("penstock", "topics", "--describe", "--topic", start) == [penstock_topic]
    assert ask("penstock", "topics", "--describe", f"--topic={start}") == [f"--topic={penstock_topic}"]
    assert ask("penstock", "tail", start) == [penstock_topic]
    assert group in ask("penstock", "consumer-groups", "--describe", "--group", "")
    assert ask("kafka-topics", "--bootstrap-server", cli.bootstrap_servers, "--topic", start) == [
        penstock_topic
    ]
    assert ask("kafka-topics.sh", "--topic", start) == [penstock_topic]
    assert ask("kafka-topics", "--bootstrap-server", "127.0.0.1:1", "--topic", "") == []


def penstock_on_path(directory: Path) -> str:
    """A PATH on which `penstock` is the command under test."""
    script = directory / "penstock"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m penstock.cli.main "$@"\n')
    script.chmod(0o755)
    return f"{directory}:{os.environ['PATH']}"


SHELLS = {
    "bash": (["--norc", "--noprofile", "-i"], "PS1='ready> '; source <(penstock completion bash)"),
    "zsh": (
        ["-f", "-i"],
        "PS1='ready> '; autoload -U compinit; compinit -u -D; source <(penstock completion zsh)",
    ),
    "fish": (
        ["--no-config", "-i"],
        "function fish_prompt; echo 'ready> '; end; penstock completion fish | source",
    ),
}


@pytest.mark.processes
@pytest.mark.parametrize("shell", SHELLS)
def test_a_real_shell(shell: str, cli: Cli, penstock_topic: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        unavailable(f"{shell} is not installed")
    arguments, setup = SHELLS[shell]
    environment = cli.environment(PATH=penstock_on_path(tmp_path), HOME=str(tmp_path), COLUMNS="200")
    with Terminal([program, *arguments], environment, tmp_path) as terminal:
        terminal.type(f"{setup}; echo set''up\n")
        terminal.read_until("setup\r\n")
        terminal.type("penstock consumer-g\t")
        terminal.read_until("roups ")
        terminal.type("--all-g\t")
        terminal.read_until("roups ")
        terminal.type("\x15penstock tail " + penstock_topic[:-2] + "\t")
        terminal.read_until(penstock_topic[-2:])
        terminal.type("\x15kafka-topics --exclude-\t")
        terminal.read_until("internal ")
