"""A real ZooKeeper ensemble: Apache's server from Maven, three processes of which one may be killed."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from tests.support.processes import Process, free_port, wait_for
from tests.zookeeper.java_client import JVM_FLAGS, class_path

MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
PATIENCE_SECONDS = 60.0
TICK_MS = 500


class ZooKeeperEnsemble:
    def __init__(self, directory: Path, size: int = 3) -> None:
        self.directory = directory
        self.ports = [free_port() for _ in range(size)]
        self._quorum_ports = [(free_port(), free_port()) for _ in range(size)]
        self.servers: list[Process] = []

    @property
    def connect(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def _configuration(self, number: int) -> str:
        data = self.directory / f"zookeeper-{number}"
        data.mkdir(parents=True, exist_ok=True)
        (data / "myid").write_text(f"{number}\n")
        members = [
            f"server.{other}=127.0.0.1:{peer}:{election}"
            for other, (peer, election) in enumerate(self._quorum_ports, 1)
        ]
        return "\n".join(
            [
                f"tickTime={TICK_MS}",
                "initLimit=20",
                "syncLimit=10",
                f"dataDir={data}",
                f"clientPort={self.ports[number - 1]}",
                "clientPortAddress=127.0.0.1",
                "admin.enableServer=false",
                "4lw.commands.whitelist=srvr,ruok",
                "maxClientCnxns=0",
                *members,
                "",
            ]
        )

    def start(self, number: int) -> Process:
        """The server of this number, from 1 on; does not wait for it."""
        configuration = self.directory / f"zookeeper-{number}.cfg"
        configuration.write_text(self._configuration(number))
        command = ["java", *JVM_FLAGS, "-cp", class_path(), MAIN, str(configuration)]
        process = Process(command, self.directory / f"zookeeper-{number}.log")
        if len(self.servers) < number:
            self.servers.append(process)
        else:
            self.servers[number - 1] = process
        return process

    def kill(self, number: int) -> None:
        self.servers[number - 1].kill()

    def role_of(self, number: int) -> str:
        """`leader` or `follower`; nothing if the server does not serve."""
        said = _ask(self.ports[number - 1], b"srvr")
        found = [line.partition(": ")[2] for line in said.splitlines() if line.startswith("Mode: ")]
        return found[0] if found else ""

    def leader(self) -> int:
        return next(number for number in range(1, len(self.ports) + 1) if self.role_of(number) == "leader")

    def wait_until_serving(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            wait_for(
                lambda: self.role_of(number),  # noqa: B023
                PATIENCE_SECONDS,
                lambda: f"ZooKeeper {number} to serve\n{self.servers[number - 1].log_tail()}",  # noqa: B023
            )

    def __enter__(self) -> ZooKeeperEnsemble:
        self.directory.mkdir(parents=True, exist_ok=True)
        numbers = range(1, len(self.ports) + 1)
        for number in numbers:
            self.start(number)
        self.wait_until_serving(numbers)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for server in self.servers:
            server.kill()


def _ask(port: int, word: bytes) -> str:
    try:
        with socket.create_connection(("127.0.0.1", port), 2.0) as connection:
            connection.settimeout(2.0)
            connection.sendall(word)
            answer = b""
            while piece := connection.recv(4096):
                answer += piece
    except OSError:
        return ""
    return answer.decode()
