"""The end of a run says where its time went."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.suite.planted import run_suite

pytestmark = pytest.mark.processes
SLOW = "import time\n\ndef test_slow():\n    time.sleep({seconds})\n"


def test_folders_and_files_are_listed_by_their_seconds(tmp_path: Path) -> None:
    files = {f"tests/some/test_{number}.py": SLOW.format(seconds=0) for number in range(12)}
    files |= {"tests/other/test_slow.py": SLOW.format(seconds=1.2)}
    said = run_suite(tmp_path, files, "-n2").stdout
    folders, _, slowest = said.partition("seconds per folder")[2].partition("10 slowest files")
    assert "1 tests  tests/other" in folders
    assert "12 tests  1 folders of less than 1 s" in folders
    assert "13 tests  all" in folders
    rows = [line for line in slowest.splitlines() if " tests  " in line]
    assert len(rows) == 10
    assert rows[0].endswith("1 tests  tests/other/test_slow.py")
    assert float(rows[0].split()[0]) >= 1.2


def test_a_run_of_one_folder_says_nothing(tmp_path: Path) -> None:
    said = run_suite(tmp_path, {"tests/some/test_one.py": SLOW.format(seconds=0)}).stdout
    assert "seconds per folder" not in said
