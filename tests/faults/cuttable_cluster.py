"""Three brokers that reach each other, and ZooKeeper, by links that can be cut, and whose disks can be full; clients
reach them as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from tests.broker.asking import metadata
from tests.faults.broker_cluster import PATIENCE_SECONDS, BrokerCluster
from tests.faults.links import Network
from tests.support import small_disk
from tests.support.processes import free_port, wait_for
from tests.support.wire_client import WireClient

DISK_BYTES = 1 << 30
DISK_FAILED = 74
"""The exit code of a broker that has no log directory left."""
SETTINGS = {
    "replica.lag.time.max.ms": "2500",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,BROKERS:PLAINTEXT",
    "inter.broker.listener.name": "BROKERS",
}


class CuttableCluster(BrokerCluster):
    def __init__(
        self, directory: Path, zookeeper_ports: Mapping[str, int], small_disks: Iterable[int] = ()
    ) -> None:
        """`zookeeper_ports` by the server's name."""
        super().__init__(directory, "", settings=SETTINGS)
        self.zookeeper_ports = zookeeper_ports
        self.disks = {number: directory / f"disk-{number}" for number in small_disks}
        self._own_ports = {number: free_port() for number in self.ports}
        self._told_ports: dict[int, int] = {}
        self._connect: dict[int, str] = {}
        self._left = ExitStack()

    def log_dir(self, number: int) -> Path:
        return self.disks.get(number, self.directory) / f"broker-{number}"

    def settings_of(self, number: int) -> Mapping[str, str]:
        to_clients = f"PLAINTEXT://127.0.0.1:{self.ports[number]}"
        return {
            **super().settings_of(number),
            "listeners": f"{to_clients},BROKERS://127.0.0.1:{self._own_ports[number]}",
            "advertised.listeners": f"{to_clients},BROKERS://127.0.0.1:{self._told_ports[number]}",
            "zookeeper.connect": self._connect[number],
        }

    # faults

    def fill_disk(self, number: int) -> None:
        """Returns when the broker has ended by it."""
        small_disk.resize(self.disks[number], small_disk.FULL)
        process = self.processes[number]
        wait_for(
            lambda: not process.alive,
            PATIENCE_SECONDS,
            lambda: f"the end of broker {number}, whose disk is full\n{process.log_tail()}",
        )
        assert process.returncode == DISK_FAILED, process.log_tail()

    def make_room(self, number: int) -> None:
        small_disk.resize(self.disks[number], DISK_BYTES)

    def cut_brokers(self, source: int, target: int) -> None:
        self.network.cut(f"broker-{source}", f"broker-{target}")

    def cut_zookeeper(self, number: int) -> None:
        for server in self.zookeeper_ports:
            self.network.cut(f"broker-{number}", server)

    # looking

    def controller(self) -> int:
        """As soon as all brokers agree who it is."""

        def agreed() -> int:
            said = {self._controller_by(port) for port in self.ports.values()}
            return max(said) if len(said) == 1 else 0

        return wait_for(lambda: max(agreed(), 0), PATIENCE_SECONDS, "a controller")

    def _controller_by(self, port: int) -> int:
        with WireClient(f"127.0.0.1:{port}") as client:
            return int(metadata(client).controller_id)

    # life

    def __enter__(self) -> CuttableCluster:
        self.directory.mkdir(parents=True, exist_ok=True)
        for disk in self.disks.values():
            self._left.enter_context(small_disk.mounted(disk, DISK_BYTES))
        self.network = Network()
        self._left.callback(self.network.close)
        for number, port in self._own_ports.items():
            self._told_ports[number] = self.network.to_broker(number, port)
            links = (
                self.network.to_zookeeper(number, server, at) for server, at in self.zookeeper_ports.items()
            )
            self._connect[number] = ",".join(f"127.0.0.1:{link}" for link in links)
        super().__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, traceback)
        self._left.close()
