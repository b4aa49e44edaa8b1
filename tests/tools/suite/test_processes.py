"""Tests that start child processes are marked, and what is not marked but starts one fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.suite.planted import run_suite

pytestmark = pytest.mark.processes
STARTS = "import subprocess\n\ndef test_starts():\n    subprocess.run(['true'])\n"
FORKS = """
import multiprocessing

def test_forks():
    child = multiprocessing.get_context("{way}").Process(target=print)
    child.start()
    child.join()
"""
FIXTURE = """
import os
import subprocess

import pytest
from tools.suite.processes import starts_processes

@pytest.fixture(scope="module")
{mark}
def server():
    subprocess.run(["true"])

def test_plain():
    pass

def test_user(server):
    pass
"""


def test_a_mark_of_the_file_leaves_it_out(tmp_path: Path) -> None:
    marked = f"import pytest\npytestmark = pytest.mark.processes\n{STARTS}"
    done = run_suite(tmp_path, {"test_a.py": marked})
    assert done.returncode == 0, done.stdout
    files = {"test_a.py": marked, "test_b.py": "def test_b():\n    pass\n"}
    assert "1 passed in" in run_suite(tmp_path, files, "-m", "not processes").stdout


def test_without_a_mark_it_fails_and_says_what_to_mark(tmp_path: Path) -> None:
    done = run_suite(tmp_path, {"test_a.py": STARTS})
    assert done.returncode == 1
    assert "mark it, or its file, with `pytest.mark.processes`" in done.stdout


@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
def test_so_do_the_processes_of_multiprocessing(tmp_path: Path, way: str) -> None:
    done = run_suite(tmp_path, {"test_a.py": FORKS.format(way=way)}, "-W", "ignore")
    assert "mark it, or its file" in done.stdout


def test_a_fixture_marks_what_uses_it(tmp_path: Path) -> None:
    done = run_suite(tmp_path, {"test_a.py": FIXTURE.format(mark="@starts_processes")})
    assert done.returncode == 0, done.stdout
    quick = run_suite(tmp_path, {}, "-m", "not processes").stdout
    assert "1 passed, 1 deselected" in quick


def test_a_fixture_without_a_mark_is_named(tmp_path: Path) -> None:
    done = run_suite(tmp_path, {"test_a.py": FIXTURE.format(mark="")})
    assert "fixture 'server' of test_a.py starts a child process: `@starts_processes` it" in done.stdout
