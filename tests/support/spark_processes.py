"""Processes below one, found from one that a test started downwards; never by name across the machine."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

EXECUTOR_CLASS = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


def children(pid: int) -> list[int]:
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(each) for each in found.stdout.split()]


def java_below(pid: int) -> list[int]:
    """A driver below a pipeline; a master or a worker below its command."""
    return [child for child in children(pid) if "java" in _command(child)]


def executors_below(pid: int) -> list[int]:
    """Of the worker that a command keeps."""
    return [child for worker in java_below(pid) for child in children(worker) if is_executor(child)]


def is_executor(pid: int) -> bool:
    return EXECUTOR_CLASS in _command(pid)


def python_workers_below(java: int) -> list[int]:
    """A daemon forks them."""
    return [worker for daemon in children(java) for worker in children(daemon)]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def kill(pid: int) -> None:
    """One that is gone already is as good."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
