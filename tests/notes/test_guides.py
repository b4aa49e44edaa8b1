"""What the guides of the REST proxy and the registry have people type works in its order, and answers as it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.notes.sessions import commands_in
from tests.notes.shell import ROOT, Machine, machine
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

GUIDE = ROOT / "docs" / "guide"
PLATFORM = "penstock up --detach --only zookeeper,broker,registry,rest"
BEFORE = """
kafka-topics --create --bootstrap-server localhost:9092 --topic orders
kafka-topics --create --bootstrap-server localhost:9092 --topic users
"""
SERVERS = ("kafka-rest-start", "schema-registry-start")
END = "--- end of"


@pytest.fixture
@starts_processes
def shell(tmp_path: Path) -> Iterator[Machine]:
    with machine(tmp_path) as made:
        assert made.run_to_end(PLATFORM)[0] == 0
        yield made
        assert made.run_to_end("penstock down")[0] == 0


def as_pattern(shown: list[str]) -> re.Pattern[str]:
    """An ellipsis and a time stand for anything."""
    text = re.sub(r'"timestamp":"[^"]*"', '"timestamp":...', "\n".join(shown))
    return re.compile(".*?".join(map(re.escape, text.split("..."))))


def answers(shell: Machine, before: str, commands: list[str]) -> list[str]:
    """In one shell, to which a variable that nobody has set is an error."""
    script = "\n".join(f"{command}\necho '{END} {number}'" for number, command in enumerate(commands))
    script = script.replace("curl -N", "curl -N --max-time 2").replace("curl ", "curl --silent ")
    (shell.two_below / "script").write_text(f"set -u\n{before}\necho '{END} all before'\n{script}\n")
    _, lines, errors = shell.run_to_end("bash script")
    assert not any("unbound variable" in line for line in errors), errors
    _, *said = re.split(rf"{END} .*\n", "\n".join(lines) + "\n")
    return said[:-1]


def check(guide: str, shown: list[tuple[str, list[str]]], said: list[str]) -> None:
    assert len(said) == len(shown)
    for (command, lines), answer in zip(shown, said, strict=True):
        assert as_pattern(lines).match(answer), f"{guide}: {command}\nsays {answer}\nnot {lines}"


def test_the_guide_of_the_rest_proxy(shell: Machine) -> None:
    shown = [
        each for each in commands_in((GUIDE / "rest_proxy.md").read_text()) if not each[0].startswith(SERVERS)
    ]
    assert len(shown) > 10
    check("rest_proxy.md", shown, answers(shell, BEFORE, [command for command, _ in shown]))


def test_the_guide_of_the_registry(shell: Machine) -> None:
    text = (GUIDE / "schema_registry.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    (shell.two_below / "program.py").write_text(program)
    shown = [each for each in commands_in(text) if not each[0].startswith(SERVERS)]
    shown.insert(2, ("python program.py", ["{'name': 'Ada'}"]))
    check("schema_registry.md", shown, answers(shell, BEFORE, [command for command, _ in shown]))
