"""A broker that is not there: each command ends by itself, with one line."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.cli.running import Cli
from tests.support.processes import dying_with_us

pytestmark = pytest.mark.processes

HURRY = ("--record-size", "1", "--throughput", "-1")
COMMANDS: dict[str, tuple[str, ...]] = {
    "topics": ("--list",),
    "consumer-groups": ("--list",),
    "groups": ("--list",),
    "configs": ("--describe", "--entity-type", "topics"),
    "acls": ("--list",),
    "get-offsets": ("--time", "-1"),
    "log-dirs": ("--describe",),
    "cluster": ("cluster-id",),
    "features": ("describe",),
    "console-producer": ("--topic", "t"),
    "console-consumer": ("--topic", "t"),
    "console-share-consumer": ("--topic", "t"),
    "producer-perf-test": ("--topic", "t", "--num-records", "1", *HURRY),
    "tail": ("t",),
    "top": ("--once",),
}
END_WITH_0_ON_ANY_FAILURE = {"consumer-groups"}
"""As Kafka's do."""
AS_LONG_AS_IT_TAKES = 30.0


@pytest.fixture
def nobody() -> Iterator[str]:
    """An address at which nobody listens, and nobody will."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


def start(name: str, words: tuple[str, ...], server: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        dying_with_us([sys.executable, "-m", "penstock.cli.main", name, *words]),
        env={**os.environ, "PENSTOCK_BOOTSTRAP_SERVERS": server},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_each_command_says_one_line_and_ends(nobody: str) -> None:
    began = time.monotonic()
    with ExitStack() as all_of_them:
        running = {
            name: all_of_them.enter_context(start(name, words, nobody)) for name, words in COMMANDS.items()
        }
        for name, process in running.items():
            out, err = process.communicate("x\n", timeout=AS_LONG_AS_IT_TAKES)
            said = [line for line in (out + err).splitlines() if "cannot be reached" in line]
            assert len(said) == 1, (name, out, err)
            assert nobody in said[0], (name, out, err)
            assert "is `penstock up` running?" in said[0], (name, out, err)
            assert (out + err).count("\n") <= 2, (
                name,
                out,
                err,
            )  # some of Kafka's begin with a line of their own
            assert process.returncode == (0 if name in END_WITH_0_ON_ANY_FAILURE else 1), (name, out, err)
    assert time.monotonic() - began < 20, "gives up after a few seconds"


def test_a_time_of_the_users_own_is_kept(nobody: str, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("default.api.timeout.ms=300\n")
    began = time.monotonic()
    process = start("topics", ("--list", "--command-config", str(file)), nobody)
    out, err = process.communicate(timeout=AS_LONG_AS_IT_TAKES)
    assert time.monotonic() - began < 4
    assert (out + err).count(nobody) <= 2
    assert "is `penstock up` running?" in out + err


@contextmanager
def forwarding(door: socket.socket, port: int) -> Iterator[None]:
    """Whoever comes through the door is at the port; one after the other."""

    def serve() -> None:
        guest, _ = door.accept()
        with guest, socket.create_connection(("127.0.0.1", port)) as broker:
            back = threading.Thread(target=copy, args=(broker, guest))
            back.start()
            copy(guest, broker)
            back.join()

    def copy(source: socket.socket, target: socket.socket) -> None:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    yield
    server.join()


def test_a_broker_that_comes_up_meanwhile_is_found(penstock_topic: str, cli: Cli) -> None:
    """A script may start the platform and its first tool together: here the port is opened later."""
    port = int(cli.bootstrap_servers.rpartition(":")[2])
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        command = start("topics", ("--list",), f"127.0.0.1:{door.getsockname()[1]}")
        time.sleep(1.0)
        assert command.poll() is None
        door.listen()
        with forwarding(door, port):
            out, err = command.communicate(timeout=AS_LONG_AS_IT_TAKES)
    assert penstock_topic in out.splitlines(), err
