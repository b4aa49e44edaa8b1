"""`zookeeper-server-start` as a process: its one line, its end, its refusals, and `kill -9` under load."""

import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from struct import unpack_from

import pytest

from penstock.errors import DISK_EXIT_CODE
from tests.support.small_disk import fill, mounted
from tests.zookeeper.raw_client import RawClient, create_body, text
from tests.zookeeper.running import WAIT_SECONDS, ServerProcess
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

CREATE, GET_DATA = 1, 4
ROUNDS = 5


def run_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "penstock.cli.tools.zookeeper_server_start", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)


def test_it_says_where_it_serves_and_stops_on_a_signal(tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        server = ServerProcess(tmp_path)
        assert server.first_line == f"ZooKeeper is ready on 127.0.0.1:{server.port}\n"
        with RawClient(server.address) as client:
            client.connect()
            output, errors = server.end(number)
            assert client.is_closed()
        assert (server.process.returncode, output, errors) == (0, "", "")


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run_command("--override", f"clientPort={port}", "--override", f"dataDir={tmp_path}")
    assert result.returncode == 1
    expected = (
        f"zookeeper-server-start: clientPort: can't listen on 127.0.0.1:{port}: Address already in use\n"
    )
    assert (result.stdout, result.stderr) == ("", expected)


def test_a_bad_setting(tmp_path: Path) -> None:
    file = tmp_path / "zookeeper.properties"
    file.write_text("clientPort=many\n")
    result = run_command(str(file))
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "clientPort: got 'many'; takes an integer between 0 and 65535" in result.stderr


def test_a_data_directory_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run_command("--override", f"dataDir={tmp_path / 'file'}", "--override", "clientPort=0")
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "Not a directory" in result.stderr or "File exists" in result.stderr


class Writer:
    """Creates nodes as fast as it may, and remembers which of them were answered."""

    def __init__(self, address: str, name: str) -> None:
        self.answered: list[str] = []
        self._name = name
        self._client = RawClient(address).connect()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for start in range(0, 1_000_000, 20):
                paths = [f"/{self._name}-{start + number}" for number in range(20)]
                bodies = [create_body(path, path.encode()) for path in paths]
                self._client.send_bytes(b"".join(self._client.request_frame(CREATE, body) for body in bodies))
                for path in paths:
                    assert self._client.receive().error == 0
                    self.answered.append(path)
        except OSError:
            pass
        except EOFError:
            pass

    def finish(self) -> list[str]:
        self._thread.join(WAIT_SECONDS)
        self._client.close()
        return self.answered


def test_nothing_answered_is_lost_by_kill_9(tmp_path: Path) -> None:
    dice = random.Random(3)
    answered: list[str] = []
    port = 0
    for round_number in range(ROUNDS):
        server = ServerProcess(tmp_path, port, snapCount=300)
        port = server.port
        writers = [Writer(server.address, f"{round_number}-{number}") for number in range(3)]
        enough = dice.randrange(100, 900)
        while sum(len(writer.answered) for writer in writers) < enough:
            assert server.process.poll() is None
        server.end(signal.SIGKILL)
        for writer in writers:
            answered += writer.finish()
    server = ServerProcess(tmp_path, port)
    try:
        with RawClient(server.address) as client:
            client.connect()
            for path in answered:
                reply = client.call(GET_DATA, text(path) + b"\0")
                assert reply.error == 0, path
                size = unpack_from(">i", reply.body)[0]
                assert reply.body[4 : 4 + size] == path.encode()
    finally:
        server.end()
    assert len(answered) >= ROUNDS * 100


@pytest.fixture
@starts_processes
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "small", 2 << 20) as place:
        yield place


def test_nothing_answered_is_lost_by_a_full_disk(small_disk: Path) -> None:
    """The server ends, as the broker does; snapshots that did not fit leave nothing behind."""
    server = ServerProcess(small_disk / "data", snapCount=300)
    fill(small_disk / "filler", leave_bytes=300_000)
    writer = Writer(server.address, "n")
    answered = writer.finish()
    assert server.process.wait(WAIT_SECONDS) == DISK_EXIT_CODE
    _, errors = server.end()
    assert "can't be written: No space left on device" in errors or "can't be created" in errors
    assert "Traceback" not in errors
    (small_disk / "filler").unlink()
    assert not list((small_disk / "data").rglob("*.tmp"))
    server = ServerProcess(small_disk / "data", server.port)
    try:
        with RawClient(server.address) as client:
            client.connect()
            assert all(client.exists(path) for path in answered)
            assert client.create("/next").error == 0
    finally:
        server.end()
    assert len(answered) > 100


def test_sessions_survive_kill_9(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    with RawClient(server.address) as before:
        before.connect().create("/e", flags=1)
        server.end(signal.SIGKILL)
    server = ServerProcess(tmp_path, server.port)
    try:
        with RawClient(server.address) as after:
            after.connect(session_id=before.session_id, password=before.password)
            assert after.session_id == before.session_id
            assert after.exists("/e")
    finally:
        server.end()
