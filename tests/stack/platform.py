"""Runs `penstock` as a user does: processes, output, signals."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.stack.services import KINDS
from tests.support.processes import dying_with_us

PATIENCE_S = 60.0
PENSTOCK = [sys.executable, "-m", "penstock.cli.main"]


MORE_BROKERS = (9093, 9094)


def free_port_offset() -> int:
    """An offset that makes every port of the platform free, below the ports that the kernel gives to clients."""
    while True:
        offset = random.randrange(1000, 23000)
        ports = (*(kind.port for kind in KINDS.values()), *MORE_BROKERS)
        if all(_is_free(port + offset) for port in ports):
            return offset


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def penstock(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*PENSTOCK, *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def status(data_dir: Path) -> list[dict[str, Any]]:
    services: list[dict[str, Any]] = json.loads(
        penstock("status", "--data-dir", str(data_dir), "--output", "json").stdout
    )["services"]
    return services


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)


class Up:
    """A `penstock up` in the foreground."""

    def __init__(self, *words: str) -> None:
        self._read, write = os.pipe()
        command = dying_with_us([*PENSTOCK, "up", *words], signal.SIGTERM)  # it ends its services in order
        self.process = subprocess.Popen(command, stdout=write, stderr=write, stdin=subprocess.DEVNULL)
        os.close(write)
        os.set_blocking(self._read, False)
        self.output = ""

    def wait_for(self, text: str) -> None:
        """Until the output has the text; fails with the output if it ends without."""
        eventually(lambda: text in self.update() or self.process.poll() is not None)
        assert text in self.update(), self.output

    def update(self) -> str:
        try:
            while chunk := os.read(self._read, 65536):
                self.output += chunk.decode()
        except BlockingIOError:
            pass
        return self.output

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(PATIENCE_S)
        self.update()
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.stop(signal.SIGTERM)
        os.close(self._read)
