"""What long runs alone are for is no part of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.suite.planted import run_suite

pytestmark = pytest.mark.processes
LONG_RUNS = """
import pytest

@pytest.mark.long_run(True)
def test_that_was_asked_for():
    pass

@pytest.mark.long_run(False)
def test_of_a_long_run():
    raise AssertionError
"""


def test_what_nobody_asked_for_is_left_out_and_not_skipped(tmp_path: Path) -> None:
    run = run_suite(tmp_path, {"tests/some/test_one.py": LONG_RUNS}, "-n2")
    assert run.returncode == 0
    assert "1 passed" in run.stdout
    assert "skipped" not in run.stdout
