"""Processes that are measured: jobs that are given to them, and what a tree of them takes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.job_process import JobProcess
from bench.process_tree import ProcessTree
from tests.support.processes import Process, wait_for

pytestmark = pytest.mark.processes

ECHO = "tests.bench.echo_jobs"
BURN = "import time\nwhile time.process_time() < 0.4: pass\n"  # more than is asked for: the kernel counts in ticks
CHILD = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BURN!r}])\nsys.stdin.read()\n"


def test_one_process_answers_many_jobs(tmp_path: Path) -> None:
    with JobProcess(ECHO, {"told": 1}, tmp_path / "log") as process:
        assert [process.run(number=each) for each in range(3)] == [
            {"told": 1, "number": each} for each in range(3)
        ]
        pid = process.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert (tmp_path / "log").read_text() == 3 * "not an answer\n"


def test_a_job_that_fails_says_why(tmp_path: Path) -> None:
    with (
        JobProcess(ECHO, {}, tmp_path / "log") as process,
        pytest.raises(RuntimeError, match="it went wrong"),
    ):
        process.run(fails=True)


def test_a_tree_has_what_children_take(tmp_path: Path) -> None:
    with JobProcess(ECHO, {}, tmp_path / "log") as process:
        alone = ProcessTree(process.pid).rss_bytes_by_kind()
        child = process.run(sleeper=True)["child"]
        tree = ProcessTree(process.pid)
        try:
            wait_for(lambda: "others" in tree.rss_bytes_by_kind(), 30.0, "the child to begin its program")
            both = tree.rss_bytes_by_kind()
        finally:
            os.kill(child, signal.SIGKILL)
    assert set(alone) == {"process"}
    assert set(both) == {"process", "others"}
    assert both["others"] > 0
    assert "process" in ProcessTree(os.getpid()).memory_in_words()


def test_a_tree_has_the_cpu_of_children_that_ended(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE) as parent:
        tree = ProcessTree(parent.pid)
        wait_for(lambda: tree.cpu_seconds_by_kind().get("process", 0.0) >= 0.3, 60.0, "the child's CPU time")
        assert set(tree.cpu_seconds_by_kind()) == {"process"}


def test_a_tree_whose_root_ended_is_empty(tmp_path: Path) -> None:
    process = Process(["true"], tmp_path / "log")
    process.wait()
    assert ProcessTree(process.pid).rss_bytes_by_kind() == {}
