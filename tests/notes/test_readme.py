"""The project that the README describes, made from the README alone, works as it is written there."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from tests.notes.shell import ROOT, Machine, machine
from tests.support.processes import wait_for
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

README = (ROOT / "README.md").read_text()
FILES = dict(re.findall(r"`(\w+\.py)`[^\n]*\n(?:[^\n]+\n)*\n```python\n(.*?)```", README, flags=re.DOTALL))
SESSIONS = re.findall(r"```\n(\$ .*?)```", README, flags=re.DOTALL)


def session_of(command: str) -> list[str]:
    """What the README says that a command prints."""
    for session in SESSIONS:
        for part in session.split("\n$ "):
            words, _, said = part.removeprefix("$ ").partition("\n")
            if words == command:
                return [line for line in said.splitlines() if line != "^C"]
    raise AssertionError(f"the README does not run {command}")


@pytest.fixture
@starts_processes
def shell(tmp_path: Path) -> Iterator[Machine]:
    with machine(tmp_path) as made:
        yield made


def test_the_files_are_there() -> None:
    assert list(FILES) == ["producer.py", "consumer.py", "test_orders.py"]


def test_a_newcomers_project(shell: Machine) -> None:
    for name, text in FILES.items():
        (shell.two_below / name).write_text(text)
    code, lines, errors = shell.run_to_end("penstock up --detach")
    assert code == 0, (lines, errors)
    assert "Penstock is ready" in lines
    try:
        assert shell.run_to_end("python producer.py") == (0, session_of("python producer.py"), [])
        with shell.run("python consumer.py") as consumer:
            assert consumer.wait_for_lines(3, but="!") == session_of("python consumer.py")
            consumer.interrupt()
        described = shell.run_to_end(
            "kafka-consumer-groups --bootstrap-server localhost:9092 --describe --group kitchen"
        )
        assert re.search(r"kitchen +orders +0 +3 +3 +0 ", "\n".join(described[1])), described
        code, lines, _ = shell.run_to_end("pytest -q test_orders.py -p no:cacheprovider")
        assert code == 0, lines
        assert "1 passed" in lines[-1]
    finally:
        assert shell.run_to_end("penstock down")[0] == 0


def put_commands() -> list[str]:
    """The README's curl commands that create connectors, each over several lines."""
    return re.findall(r"^\$ (curl -s -X PUT .*?}')$", README, flags=re.DOTALL | re.MULTILINE)


def test_a_newcomers_connectors(shell: Machine, tmp_path: Path) -> None:
    """Only the folder differs: /tmp is not the test's own."""
    code, lines, errors = shell.run_to_end("penstock up --detach")
    assert code == 0, (lines, errors)
    try:
        assert len(put_commands()) == 3
        for command in put_commands():
            code, lines, _ = shell.run_to_end(command.replace("/tmp/", f"{tmp_path}/"))
            assert code == 0
            assert "error_code" not in lines[0], lines
        wait_for(lambda: rows_of(tmp_path / "views.db") > 100, 180, "rows", 0.5)
        wait_for(lambda: parquet_of(tmp_path / "lake") > 100, 180, "files of Parquet", 0.5)
        code, lines, _ = shell.run_to_end("curl -s localhost:8083/connectors/lake/status")
        assert lines == session_of("curl -s localhost:8083/connectors/lake/status")
    finally:
        assert shell.run_to_end("penstock down")[0] == 0


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
