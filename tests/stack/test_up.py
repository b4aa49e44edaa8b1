"""`penstock up`, `status` and `down` with real processes."""

import os
import re
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.log_rotation import LARGEST_LOG_BYTES, older
from tests.stack.platform import PATIENCE_S, PENSTOCK, Up, eventually, is_running, penstock, status
from tests.support.our_tools import our_tools
from tests.support.processes import dying_with_us

pytestmark = pytest.mark.processes

StartUp = Callable[..., Up]


@pytest.fixture
def zookeeper_words(data_dir: Path, offset: str) -> list[str]:
    return ["--data-dir", str(data_dir), "--port-offset", offset, "--only", "zookeeper"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_up_status_and_a_signal(
    start_up: StartUp, data_dir: Path, offset: str, zookeeper_words: list[str], number: signal.Signals
) -> None:
    up = start_up(*zookeeper_words)
    up.wait_for("Penstock is ready\n")
    (service,) = status(data_dir)
    pid, address = service["pid"], f"127.0.0.1:{2181 + int(offset)}"
    assert service == {
        "name": "zookeeper",
        "kind": "zookeeper",
        "address": address,
        "pid": pid,
        "healthy": True,
        "reason": None,
    }
    assert re.search(rf"^zookeeper +{address} +{pid} ", up.output, re.MULTILINE)
    shown = penstock("status", "--data-dir", str(data_dir))
    assert shown.returncode == 0
    assert re.search(rf"^zookeeper +{address} +{pid} +yes$", shown.stdout, re.MULTILINE)
    assert (data_dir / "logs" / "zookeeper.log").read_text()
    assert up.stop(number) == 0
    assert not is_running(pid)
    assert status(data_dir) == []


def test_a_service_that_dies_is_started_again(
    start_up: StartUp, data_dir: Path, zookeeper_words: list[str]
) -> None:
    up = start_up(*zookeeper_words)
    up.wait_for("Penstock is ready\n")
    (before,) = status(data_dir)
    os.kill(before["pid"], signal.SIGKILL)
    up.wait_for("zookeeper answers again")
    assert f"zookeeper (pid {before['pid']}) ended with signal SIGKILL; starting it again" in up.output
    (after,) = status(data_dir)
    assert after["healthy"]
    assert after["pid"] != before["pid"]


def test_a_service_that_keeps_dying_ends_the_platform(
    start_up: StartUp, data_dir: Path, zookeeper_words: list[str]
) -> None:
    up = start_up(*zookeeper_words)
    up.wait_for("Penstock is ready\n")
    (service,) = status(data_dir)
    data = data_dir / "zookeeper"
    data.rename(data_dir / "moved")
    data.write_text("a file where the data directory should be")
    os.kill(service["pid"], signal.SIGKILL)
    assert up.wait() == 1
    assert "zookeeper died more than 5 times in 60 seconds. Its last words:" in up.output
    assert "zookeeper-server-start: " in up.output
    assert status(data_dir) == []


def test_detach_and_down(data_dir: Path, zookeeper_words: list[str]) -> None:
    detached = penstock("up", "--detach", *zookeeper_words)
    assert detached.returncode == 0, detached.stderr
    assert "\nPenstock is ready\n" in detached.stdout
    (service,) = status(data_dir)
    assert service["healthy"]
    stopped = penstock("down", "--data-dir", str(data_dir))
    assert (stopped.returncode, stopped.stdout) == (0, "Penstock has stopped\n")
    assert not is_running(service["pid"])
    again = penstock("down", "--data-dir", str(data_dir))
    assert (again.returncode, again.stdout) == (0, f"Penstock does not run on {data_dir}\n")


def test_penstock_home_names_the_data_directory(
    data_dir: Path, offset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_HOME", str(data_dir))
    assert penstock("up", "--detach", "--port-offset", offset, "--only", "zookeeper").returncode == 0
    assert (data_dir / "zookeeper").is_dir()
    assert penstock("status").returncode == 0
    assert penstock("down").stdout == "Penstock has stopped\n"


def test_two_platforms_do_not_share_a_data_directory(
    start_up: StartUp, data_dir: Path, zookeeper_words: list[str]
) -> None:
    up = start_up(*zookeeper_words)
    up.wait_for("Penstock is ready\n")
    for words in ([], ["--detach"]):
        second = penstock("up", *words, *zookeeper_words)
        assert second.returncode == 1
        assert f"penstock: Penstock already runs on {data_dir} (pid {up.process.pid})" in second.stderr
    assert up.process.poll() is None


def test_a_port_in_use_is_named_with_its_holder(data_dir: Path, offset: str) -> None:
    port = 9092 + int(offset)
    with socket.create_server(("127.0.0.1", port)):
        refused = penstock("up", "--data-dir", str(data_dir), "--port-offset", offset)
    assert refused.returncode == 1
    assert f"Port {port} (broker-1) is in use by pid {os.getpid()}: " in refused.stderr
    assert "--port-offset" in refused.stderr
    assert "zookeeper" not in refused.stderr
    assert status(data_dir) == []


def test_an_ephemeral_platform_leaves_nothing(start_up: StartUp, offset: str) -> None:
    up = start_up("--ephemeral", "--port-offset", offset, "--only", "zookeeper")
    up.wait_for("Penstock is ready\n")
    log = re.search(r"/\S+/logs/zookeeper\.log", up.output)
    assert log is not None
    directory = Path(log[0]).parents[1]
    assert directory.is_dir()
    assert "forceSync=no" in (directory / "config" / "zookeeper.properties").read_text()
    assert up.stop() == 0
    assert not directory.exists()


def test_an_ephemeral_platform_in_the_background(offset: str) -> None:
    detached = penstock("up", "--ephemeral", "--detach", "--port-offset", offset, "--only", "zookeeper")
    named = re.search(r"penstock down --data-dir (\S+)", detached.stdout)
    assert named is not None
    assert penstock("down", "--data-dir", named[1]).stdout == "Penstock has stopped\n"
    assert not Path(named[1]).exists()


def test_a_killed_supervisor_leaves_services_that_down_stops(
    start_up: StartUp, data_dir: Path, zookeeper_words: list[str]
) -> None:
    up = start_up(*zookeeper_words)
    up.wait_for("Penstock is ready\n")
    (service,) = status(data_dir)
    up.stop(signal.SIGKILL)
    assert status(data_dir) == [service]
    assert penstock("down", "--data-dir", str(data_dir)).stdout == "Penstock has stopped\n"
    assert not is_running(service["pid"])


def test_up_replaces_services_whose_supervisor_was_killed(
    start_up: StartUp, data_dir: Path, zookeeper_words: list[str]
) -> None:
    first = start_up(*zookeeper_words)
    first.wait_for("Penstock is ready\n")
    (before,) = status(data_dir)
    first.stop(signal.SIGKILL)
    second = start_up(*zookeeper_words)
    second.wait_for("Penstock is ready\n")
    assert "stopped services whose supervisor had been killed" in second.output
    (after,) = status(data_dir)
    assert after["pid"] != before["pid"]
    eventually(lambda: not is_running(before["pid"]))


@pytest.mark.parametrize("words", [[], ["--detach"]], ids=["foreground", "detached"])
@pytest.mark.parametrize("place", ["--data-dir", "--ephemeral"])
def test_a_service_that_can_not_start_says_why(
    data_dir: Path, offset: str, words: list[str], place: str
) -> None:
    where = [place, str(data_dir)] if place == "--data-dir" else [place]
    refused = penstock(
        "up", *words, *where, "--port-offset", offset, "--only", "broker", "--override", "num.partitions=0"
    )
    assert refused.returncode == 1
    assert "penstock: broker-1 ended with exit code 1 before it answered. Its last words:" in refused.stderr
    assert "kafka-server-start: num.partitions: got '0'; takes an integer, 1 or more" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("flag", "name", "meant"),
    [
        ("--override", "num.partitons", "num.partitions"),
        ("--set", "broker.num.partitons", "broker.num.partitions"),
        ("--set", "zookeeper.tickTme", "zookeeper.tickTime"),
        ("--set", "registry.lisseners", "registry.listeners"),
        ("--set", "rest.lisseners", "rest.listeners"),
        ("--set", "connect.plugin.pth", "connect.plugin.path"),
        ("--set", "broker.xyz", None),
    ],
)
def test_a_misspelt_setting_is_refused(
    data_dir: Path, offset: str, flag: str, name: str, meant: str | None
) -> None:
    words = ["up", "--data-dir", str(data_dir), "--port-offset", offset, flag, f"{name}=3"]
    refused = our_tools().run("penstock.cli.main", words)
    hint = f"; did you mean {meant}?" if meant else ""
    assert refused.stderr.decode() == f"penstock: {flag}: {name} is no setting{hint}\n"
    assert refused.returncode == 1
    assert not data_dir.exists()


WITHOUT_SPARK = """
import sys
from importlib.machinery import PathFinder

class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] == "pyspark" else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
"""


def test_a_plain_install_starts_all_but_connect(
    data_dir: Path, offset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says what is missing, and how to get it, in front of whoever typed the command."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_SPARK)
    path = os.environ.get("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), path]))
    where = ("--data-dir", str(data_dir))
    detached = penstock("up", "--detach", "--port-offset", offset, *where)
    line = "it needs pyspark; get it with: pip install 'penstock[spark]'\n"
    assert (detached.returncode, detached.stderr) == (0, f"penstock: connect is left out: {line}")
    assert [service["name"] for service in status(data_dir)] == ["zookeeper", "broker-1", "registry", "rest"]
    assert penstock("down", *where).returncode == 0
    refused = penstock("up", "--only", "connect", "--port-offset", offset, *where)
    assert refused.stderr == f"penstock: --only: connect can't be started: {line}"


def test_restart_of_one_service(start_up: StartUp, data_dir: Path, offset: str) -> None:
    """The broker ends and starts; ZooKeeper does not notice."""
    where = ("--data-dir", str(data_dir))
    idle = penstock("restart", "zookeeper", *where)
    assert (idle.returncode, idle.stderr.count("\n")) == (1, 1)
    assert f"Penstock does not run on {data_dir}; start it with `penstock up`" in idle.stderr
    up = start_up(*where, "--port-offset", offset, "--only", "zookeeper,broker")
    up.wait_for("Penstock is ready\n")
    zookeeper, broker = status(data_dir)
    for _ in range(6):  # more often than a service may die
        restarted = penstock("restart", "broker", *where)
        assert restarted.returncode == 0, restarted.stderr + up.output
    told = re.fullmatch(
        r"broker-1 \(pid (\d+)\) was stopped, and answers again on (\S+) \(pid (\d+)\) after \d+\.\d s\n",
        restarted.stdout,
    )
    assert told is not None, restarted.stdout
    still_zookeeper, after = status(data_dir)
    assert (still_zookeeper, after["healthy"]) == (zookeeper, True)
    assert (told[2], int(told[3])) == (broker["address"], after["pid"])
    assert not is_running(broker["pid"])
    up.wait_for(f"penstock: restarting broker-1 (pid {broker['pid']}), as asked\n")
    up.wait_for(f"broker-1 answers again (pid {after['pid']})")
    assert "ended with" not in up.output
    refused = penstock("restart", "brokr", *where)
    assert refused.returncode == 1
    assert refused.stderr == "penstock: got 'brokr'; the services that run are zookeeper, broker-1\n"


def test_logs(start_up: StartUp, data_dir: Path, zookeeper_words: list[str]) -> None:
    where = ("--data-dir", str(data_dir))
    assert "no platform has run there" in penstock("logs", *where).stderr
    up = start_up(*zookeeper_words)
    up.wait_for("Penstock is ready\n")
    log = data_dir / "logs" / "zookeeper.log"
    (data_dir / "logs" / "broker-1.log").write_text("".join(f"line {number}\n" for number in range(200)))
    assert penstock("logs", "zookeeper", *where).stdout == log.read_text()
    assert penstock("logs", "broker", "-n", "2", *where).stdout == "line 198\nline 199\n"
    of_all = penstock("logs", "-n", "1", *where).stdout.splitlines()
    assert of_all == ["broker-1  | line 199", f"zookeeper | {log.read_text().splitlines()[-1]}"]
    refused = penstock("logs", "zookeper", *where)
    assert refused.returncode == 1
    assert f"'zookeper' has no log in {data_dir}; there are those of broker-1, zookeeper" in refused.stderr


def test_the_log_of_a_running_service_is_shortened(start_up: StartUp, data_dir: Path, offset: str) -> None:
    up = start_up("--data-dir", str(data_dir), "--port-offset", offset, "--only", "zookeeper")
    up.wait_for("Penstock is ready\n")
    log = data_dir / "logs" / "zookeeper.log"
    with log.open("ab") as file:
        file.write(b"a long line that says little\n" * (LARGEST_LOG_BYTES // 20))
    eventually(lambda: older(log, 1).exists() and log.stat().st_size < LARGEST_LOG_BYTES)
    assert b"ZooKeeper is ready" in older(log, 1).read_bytes()
    assert up.stop() == 0


def test_logs_that_go_on(data_dir: Path) -> None:
    """One that is set aside while it is followed goes on under its name."""
    log = data_dir / "logs" / "rest.log"
    log.parent.mkdir(parents=True)
    log.write_text("before\n")
    command = [*PENSTOCK, "logs", "rest", "-f", "--data-dir", str(data_dir)]
    with subprocess.Popen(dying_with_us(command), stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        assert following.stdout.readline() == "before\n"
        with log.open("a") as file:
            file.write("half")
            file.flush()
            file.write(" a line\nlast of this\n")
        assert following.stdout.readline() == "half a line\n"
        assert following.stdout.readline() == "last of this\n"
        log.rename(log.with_suffix(".log.1"))
        log.write_text("first of the next\n")
        assert following.stdout.readline() == "first of the next\n"
        following.send_signal(signal.SIGINT)
        assert following.wait(PATIENCE_S) == 130


def test_status_names_a_log_directory_that_is_offline(
    start_up: StartUp, data_dir: Path, offset: str, tmp_path: Path
) -> None:
    (tmp_path / "b").write_text("a file where a directory should be")
    log_dirs = f"log.dirs={tmp_path / 'a'},{tmp_path / 'b'}"
    only = ["--only", "zookeeper,broker"]
    up = start_up("--data-dir", str(data_dir), "--port-offset", offset, *only, "--override", log_dirs)
    up.wait_for("Penstock is ready\n")
    shown = penstock("status", "--data-dir", str(data_dir))
    assert shown.returncode == 1
    assert re.search(
        rf"^broker-1 .* no: offline log directory: {tmp_path / 'b'}$", shown.stdout, re.MULTILINE
    )


def test_status_shows_a_service_that_does_not_answer(
    start_up: StartUp, data_dir: Path, zookeeper_words: list[str]
) -> None:
    up = start_up(*zookeeper_words)
    up.wait_for("Penstock is ready\n")
    (service,) = status(data_dir)
    os.kill(service["pid"], signal.SIGSTOP)
    try:
        shown = penstock("status", "--data-dir", str(data_dir))
    finally:
        os.kill(service["pid"], signal.SIGCONT)
    assert shown.returncode == 1
    assert re.search(r"^zookeeper .* no: does not answer$", shown.stdout, re.MULTILINE)
