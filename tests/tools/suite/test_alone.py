"""What failed is run once more by itself: planted failures, in one process and beside others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.suite.planted import FAILS_ONCE, run_suite

pytestmark = pytest.mark.processes
FAILS_ALWAYS = "def test_fails():\n    raise AssertionError('every time')\n"
PASSES = "def test_passes():\n    pass\n"
workers = pytest.mark.parametrize("workers", ["-n0", "-n2"])


def once(number: int) -> str:
    return FAILS_ONCE.format(number=number)


def closing_line(output: str) -> str:
    return output.splitlines()[-1]


@workers
def test_one_that_always_fails_fails_the_run(tmp_path: Path, workers: str) -> None:
    done = run_suite(tmp_path, {"test_a.py": FAILS_ALWAYS, "test_b.py": PASSES}, "--failures-alone", workers)
    assert done.returncode == 1
    assert "failed alone, too" in done.stdout
    assert "1 failed, 1 passed" in closing_line(done.stdout)
    assert "passed only when alone" not in done.stdout


@workers
def test_one_that_fails_only_the_first_time_is_listed_and_the_run_passes(
    tmp_path: Path, workers: str
) -> None:
    done = run_suite(tmp_path, {"test_a.py": once(1), "test_b.py": PASSES}, "--failures-alone", workers)
    assert done.returncode == 0, done.stdout
    listed = done.stdout.partition("passed only when alone:\n")[2]
    assert "test_a.py::test_fails_once1" in listed
    assert "AssertionError: only the first time 1" in listed
    assert "1 passed, 1 passed only when alone in" in closing_line(done.stdout)


@workers
def test_what_it_had_printed_is_listed_too(tmp_path: Path, workers: str) -> None:
    text = once(1).replace("        raise", "        print('SEED=17')\n        raise")
    done = run_suite(tmp_path, {"test_a.py": text}, "--failures-alone", workers)
    assert done.returncode == 0, done.stdout
    assert "SEED=17" in done.stdout.partition("passed only when alone:\n")[2]


def test_five_of_them_are_listed_and_six_fail_the_run(tmp_path: Path) -> None:
    for number, code in ((5, 0), (6, 1)):
        directory = tmp_path / str(number)
        directory.mkdir()
        files = {f"test_{some}.py": once(some) for some in range(number)}
        done = run_suite(directory, files, "--failures-alone", "-n2")
        assert done.returncode == code, done.stdout
        assert ("passed only when alone:" in done.stdout) == (code == 0)
    assert "6 tests failed; 5 are the most that may" in done.stdout


def test_one_that_fails_again_fails_the_run_beside_one_that_does_not(tmp_path: Path) -> None:
    done = run_suite(tmp_path, {"test_a.py": once(1), "test_b.py": FAILS_ALWAYS}, "--failures-alone")
    assert done.returncode == 1
    assert "test_a.py::test_fails_once1" in done.stdout.partition("passed only when alone:\n")[2]
    assert "1 failed, 1 passed only when alone in" in closing_line(done.stdout)


def test_what_is_run_again_has_a_process_for_itself(tmp_path: Path) -> None:
    test = """
import os
from pathlib import Path

def test_{name}():
    with Path(__file__).with_name("pids").open("a") as pids:
        print("{name}", os.getpid(), os.environ.get("PYTEST_XDIST_WORKER"), file=pids)
    raise AssertionError
"""
    files = {f"test_{name}.py": test.format(name=name) for name in "ab"}
    run_suite(tmp_path, files, "--failures-alone", "-n2")
    runs = [line.split() for line in (tmp_path / "pids").read_text().splitlines()]
    assert sorted(run[0] for run in runs) == ["a", "a", "b", "b"]
    assert len({run[1] for run in runs[2:]} - {run[1] for run in runs[:2]}) == 2
    assert [run[2] for run in runs[2:]] == ["None", "None"]


@pytest.mark.parametrize("phase", ["setup", "teardown"])
def test_fixtures_that_fail_once_are_given_the_same_chance(tmp_path: Path, phase: str) -> None:
    body = once(1).replace("def test_fails_once1", "def fails_once")
    steps = "fails_once()\n    yield" if phase == "setup" else "yield\n    fails_once()"
    text = f"{body}\nimport pytest\n\n@pytest.fixture\ndef some():\n    {steps}\n\ndef test_one(some): pass\n"
    done = run_suite(tmp_path, {"test_a.py": text}, "--failures-alone")
    assert done.returncode == 0, done.stdout
    assert "only the first time 1" in done.stdout.partition("passed only when alone:\n")[2]


@workers
def test_a_file_that_cannot_be_collected_fails_the_run(tmp_path: Path, workers: str) -> None:
    files = {"test_a.py": once(1), "test_b.py": "import nothing_of_this_name\n"}
    done = run_suite(tmp_path, files, "--failures-alone", "--continue-on-collection-errors", workers)
    assert done.returncode != 0


def test_a_worker_that_dies_with_its_test_fails_once(tmp_path: Path) -> None:
    text = once(1).replace('raise AssertionError("only the first time 1")', "import os; os._exit(1)")
    done = run_suite(tmp_path, {"test_a.py": text, "test_b.py": PASSES}, "--failures-alone", "-n2")
    assert done.returncode == 0, done.stdout
    assert "crashed" in done.stdout.partition("passed only when alone:\n")[2]


def test_without_the_flag_nothing_is_run_again(tmp_path: Path) -> None:
    done = run_suite(tmp_path, {"test_a.py": once(1)})
    assert done.returncode == 1
    assert "1 failed in" in closing_line(done.stdout)
