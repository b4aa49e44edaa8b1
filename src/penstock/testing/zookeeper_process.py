"""The embedded ZooKeeper in a process of its own, which a test may kill and start again at the same place."""

import socket
import sys
from pathlib import Path

from penstock.testing.free_ports import free_port
from penstock.testing.server_process import ServerProcess

HOST = "127.0.0.1"
PATIENCE_SECONDS = 90.0
TICK_MS = 500


class ZooKeeperProcess:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = free_port()
        self.connect = f"{HOST}:{self.port}"
        """What brokers take as `zookeeper.connect`."""
        self._process: ServerProcess | None = None

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.alive

    def start(self) -> None:
        """Returns when it listens."""
        file = self.directory.with_suffix(".properties")
        file.write_text(
            f"clientPort={self.port}\nclientPortAddress={HOST}\ndataDir={self.directory}\ntickTime={TICK_MS}\n"
        )
        command = [sys.executable, "-m", "penstock.cli.tools.zookeeper_server_start", str(file)]
        self._process = ServerProcess(command, self.directory.with_suffix(".log"))
        self._process.wait_until(self._listens, PATIENCE_SECONDS, "ZooKeeper to listen")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _listens(self) -> bool:
        try:
            socket.create_connection((HOST, self.port), 1.0).close()
        except OSError:
            return False
        return True
