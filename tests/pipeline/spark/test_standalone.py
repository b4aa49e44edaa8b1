"""A cluster of one master and two workers, started by our commands."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.pipeline.spark.test_processes import ticks_in
from tests.support.processes import Process, free_port
from tests.support.spark import QUICK_JAVA, REPOSITORY, require_java

pytestmark = pytest.mark.processes

PATIENCE_S = 120.0
PENSTOCK = Path(sys.executable).parent / "penstock"


def _said(log: Path, line: str) -> Callable[[], bool]:
    return lambda: line in log.read_text()


def test_ticks_are_spread_over_two_workers_and_go_on_with_one(tmp_path: Path) -> None:
    require_java()
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    logs = {name: tmp_path / f"{name}.log" for name in ("master", "one", "two", "ticking")}
    with ExitStack() as stack:
        command = [PENSTOCK, "spark", "master", "--port", str(port), "--data-dir", tmp_path / "master"]
        master = stack.enter_context(Process(command, logs["master"], QUICK_JAVA))
        master.wait_until(_said(logs["master"], f"Spark master at {address}"), PATIENCE_S, "the master")
        workers = {}
        for name in ("one", "two"):
            command = [PENSTOCK, "spark", "worker", address, "--cores", "4", "--memory", "1g"]
            workers[name] = Process([*command, "--data-dir", tmp_path / name], logs[name], QUICK_JAVA)
            stack.enter_context(workers[name])
        for name, worker in workers.items():
            worker.wait_until(_said(logs[name], f"for {address}"), PATIENCE_S, f"worker {name}")
        command = [sys.executable, "-m", "tests.pipeline.spark.ticking", tmp_path / "data", address]
        ticking = stack.enter_context(Process(command, logs["ticking"], QUICK_JAVA, Path(REPOSITORY)))

        def workers_of_last_tick() -> set[str]:
            done = ticks_in(logs["ticking"])
            return {Path(folder).relative_to(tmp_path).parts[0] for folder, _ in done[-1]} if done else set()

        ticking.wait_until(
            lambda: workers_of_last_tick() == {"one", "two"}, PATIENCE_S, "both workers to work"
        )
        os.kill(workers["one"].pid, signal.SIGKILL)
        ticking.wait_until(lambda: workers_of_last_tick() == {"two"}, PATIENCE_S, "one worker to work")
        ticks = len(ticks_in(logs["ticking"]))
        ticking.wait_until(lambda: len(ticks_in(logs["ticking"])) > ticks + 2, PATIENCE_S, "more ticks")
        os.kill(workers["two"].pid, signal.SIGTERM)
        assert workers["two"].wait(PATIENCE_S) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["worker", "127.0.0.1:7077"], "argument master: got '127.0.0.1:7077'; takes spark://host:port"),
        (
            ["worker", "spark://a:1", "--memory", "much"],
            "argument --memory: got 'much'; takes a size as 512m or 4g",
        ),
        (["worker", "spark://a:1", "--cores", "0"], "argument --cores: got '0'; takes a number from 1 on"),
        (["master", "--port", "70000"], "argument --port: got '70000'; takes a port, 1 to 65535"),
    ],
)
def test_bad_words_are_refused_with_one_line(words: list[str], said: str) -> None:
    done = subprocess.run([PENSTOCK, "spark", *words], capture_output=True, text=True)
    assert done.returncode == 2
    assert re.search(re.escape(said), done.stderr)
    assert "Traceback" not in done.stderr
