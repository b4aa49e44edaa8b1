"""How long a start may take. The services are stand-ins: a real broker takes that long with ten thousand topics."""

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.stack.services import Service
from tests.stack.platform import PATIENCE_S
from tests.support.processes import free_port

pytestmark = pytest.mark.processes

SUPERVISE = """
import sys
from pathlib import Path
from penstock.stack import supervisor
from penstock.stack.data_dir import DataDir
from penstock.stack.services import Service

supervisor.START_TIMEOUT_S = 2.0
supervisor.READY_LINE = "ready"
data_dir = DataDir(Path(sys.argv[1]))
data_dir.create()
try:
    running = supervisor.Supervisor({services}, data_dir)
    announce = running._announce
    running._announce = lambda: (announce(), sys.exit(0))
    running.run()
except supervisor.ServiceFailed as error:
    sys.exit(str(error))
"""


def service(name: str, turns: int, says: str, gives_up_without: str = "") -> Service:
    port = free_port()
    properties = {
        "port": str(port),
        "turns": str(turns),
        "says": says,
        "gives_up_without": gives_up_without,
    }
    return Service(name, "zookeeper", "127.0.0.1", port, "tests.stack.slow_service", properties)


def supervised(data_dir: Path, *services: Service) -> "subprocess.CompletedProcess[str]":
    script = SUPERVISE.replace("{services}", repr(list(services)))
    command = [sys.executable, "-c", script, str(data_dir)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def test_a_service_that_is_loading_is_waited_for(tmp_path: Path) -> None:
    """With those that need it: one that gives up before it has loaded is started again."""
    loading = service("broker-1", 10, "yes")
    dependent = service("registry", 4, "no", gives_up_without=str(tmp_path / "tried"))
    done = supervised(tmp_path, loading, dependent)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "ready"), done.stderr
    assert "penstock: broker-1 is loading logs: 10 of 10 topics\n" in done.stderr
    assert "penstock: registry (pid" in done.stderr


def test_one_that_says_nothing_is_not(tmp_path: Path) -> None:
    done = supervised(tmp_path, service("broker-1", 10, "no"))
    assert done.returncode == 1
    assert "broker-1 does not answer after 2 seconds" in done.stderr
