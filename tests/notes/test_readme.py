"""The project that the README describes, made from the README alone, works as it is written there."""

from __future__ import annotations

import re
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from tests.notes.sessions import commands_in
from tests.notes.shell import ROOT, Machine, machine
from tests.support.processes import wait_for
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

README = (ROOT / "README.md").read_text()
FILES = dict(re.findall(r"`(\w+\.py)`[^\n]*\n(?:[^\n]+\n)*\n```python\n(.*?)```", README, flags=re.DOTALL))


FIRST_COMMAND = "penstock up --detach"
NEITHER_ENDS_NOR_IS_INSTALLED = ("penstock top", "duckdb -c")
VARYING = (
    (re.compile(r"(127\.0\.0\.1:\d+) +\d+"), r"\1 PID"),
    (re.compile(r"TopicId: \S+"), "TopicId: ID"),
    (re.compile(r"in \d+\.\d+s"), "in SECONDS"),
    (re.compile(r" {2,}"), "  "),
)


def commands() -> list[tuple[str, list[str]]]:
    """What the README has people type once the platform is up, in its order, each with what it shows of the answer."""
    found = commands_in(README)
    names = [command for command, _ in found]
    return found[names.index(FIRST_COMMAND) :]


def stable(lines: list[str]) -> list[str]:
    """But for what differs from run to run."""
    shown = "\n".join(line.rstrip() for line in lines).strip("\n")
    for pattern, instead in VARYING:
        shown = pattern.sub(instead, shown)
    return shown.splitlines()


@pytest.fixture
@starts_processes
def shell(tmp_path: Path) -> Iterator[Machine]:
    with machine(tmp_path) as made:
        yield made


def test_the_files_are_there() -> None:
    assert list(FILES) == ["producer.py", "consumer.py", "test_orders.py", "word_count.py"]


def test_a_newcomers_afternoon(shell: Machine, tmp_path: Path) -> None:
    """Every command of the README, in its order, on one platform; only /tmp is not the test's own."""
    for name, text in FILES.items():
        (shell.two_below / name).write_text(text)
    try:
        for command, shown in commands():
            if not command.startswith(NEITHER_ENDS_NOR_IS_INSTALLED):
                run(shell, command.replace("/tmp/", f"{tmp_path}/"), shown)
        with shell.run("python consumer.py") as consumer:
            assert consumer.wait_for_lines(1, but="!") == ["3 b'table-7' miso"]
            consumer.interrupt()
        wait_for(lambda: rows_of(tmp_path / "views.db") > 100, 180, "rows", 0.5)
        wait_for(lambda: parquet_of(tmp_path / "lake") > 100, 180, "files of Parquet", 0.5)
    finally:
        assert shell.run_to_end("penstock down")[0] == 0


def run(shell: Machine, command: str, shown: list[str]) -> None:
    """In a shell, with both outputs as a terminal has them."""
    words = f"bash -c {shlex.quote(f'exec 2>&1; {command}')}"
    if shown and shown[-1] == "^C":
        with shell.run(words) as running:
            assert stable(running.wait_for_lines(len(shown) - 1, but="!")) == stable(shown[:-1])
            running.interrupt()
        return
    if command.endswith("/status"):
        wait_for(lambda: shell.run_to_end(words)[1] == shown, 60, lambda: str(shell.run_to_end(words)), 0.5)
        return
    code, lines, _ = shell.run_to_end(words)
    assert code == 0, (command, lines)
    if shown:
        assert stable(lines) == stable(shown), command
    assert not any("error_code" in line for line in lines), lines


def rows_of(database: Path) -> int:
    if not database.exists():
        return 0
    with closing(sqlite3.connect(database, timeout=30)) as connection:
        tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'views'").fetchone()
        return connection.execute("SELECT count(*) FROM views").fetchone()[0] if tables[0] else 0


def parquet_of(lake: Path) -> int:
    if not any(lake.glob("topics/views/*/*.parquet")):
        return 0
    [(count,)] = duckdb.sql(f"SELECT count(*) FROM '{lake}/topics/views/*/*.parquet'").fetchall()
    return count
