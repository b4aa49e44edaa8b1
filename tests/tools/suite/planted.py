"""A small suite in a folder of its own, run by a pytest of its own with the plugins of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
PLUGINS = ("tools.suite.collection", "tools.suite.alone", "tools.suite.seconds", "tools.suite.processes")
FAILS_ONCE = """
from pathlib import Path

def test_fails_once{number}():
    been_here = Path(__file__).with_name("been-here-{number}")
    if not been_here.exists():
        been_here.touch()
        raise AssertionError("only the first time {number}")
"""


def run_suite(directory: Path, files: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    (directory / "pytest.ini").write_text(
        "[pytest]\naddopts = -p xdist -p no:cacheprovider --strict-markers\nmarkers =\n    long_run(is_asked_for)\n"
    )
    (directory / "conftest.py").write_text(f"pytest_plugins = {PLUGINS!r}\n")
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=directory,
        env={**kept, "PYTHONPATH": str(REPOSITORY), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
