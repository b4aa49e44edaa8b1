"""The frame of the console tools, around a real one in a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

pytestmark = pytest.mark.processes

TOPICS = [sys.executable, "-m", "penstock.cli.tools.kafka_topics"]
DEADLINE_SECONDS = 60


def test_a_reader_that_went_away() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed_pipe:
        done = subprocess.run(
            [*TOPICS, "--version"],
            stdout=closed_pipe,
            stderr=subprocess.PIPE,
            timeout=DEADLINE_SECONDS,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_ctrl_c_while_a_broker_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(DEADLINE_SECONDS)
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        tool = subprocess.Popen([*TOPICS, "--bootstrap-server", address, "--list"], stderr=subprocess.PIPE)
        connection, _ = silent.accept()
        with connection:
            connection.settimeout(DEADLINE_SECONDS)
            assert connection.recv(4)
            tool.send_signal(signal.SIGINT)
            _, said = tool.communicate(timeout=DEADLINE_SECONDS)
    assert (tool.returncode, said) == (130, b"")
