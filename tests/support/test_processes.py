"""The servers that tests start end with the tests, however those end."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from penstock.stack.processes import command_of, identify
from tests.support.processes import Process, dying_with_us, wait_for

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
PARENT = f"""
import sys, time
from pathlib import Path
from tests.support.processes import Process
print(Process({SLEEP!r}, Path(sys.argv[1])).pid, flush=True)
time.sleep(600)
"""

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(dying_with_us(SLEEP) == SLEEP, reason="no setpriv on PATH"),
]


def test_a_server_dies_with_a_test_run_that_is_killed(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "log")], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    with parent, parent.stdout:
        try:
            server = identify(int(parent.stdout.readline()))
            assert server is not None
            wait_for(lambda: _is_server(command_of(server.pid)), what="the server itself")
        finally:
            parent.send_signal(signal.SIGKILL)
    wait_for(lambda: not server.is_alive(), what="the end of the server")


def _is_server(command: str) -> bool:
    """No longer the parent that has forked, nor what sets the signal, nor nothing between two programs."""
    return SLEEP[-1] in command and "tests.support" not in command and "setpriv" not in command


def test_a_server_outlives_the_thread_that_started_it(tmp_path: Path) -> None:
    started: list[Process] = []
    thread = threading.Thread(target=lambda: started.append(Process(SLEEP, tmp_path / "log")))
    thread.start()
    thread.join()
    (server,) = started
    with pytest.raises(subprocess.TimeoutExpired), server:
        server.wait(0.2)
