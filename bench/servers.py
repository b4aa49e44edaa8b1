"""The two servers that are compared, behind one interface.

A server has a broker process, which is what is measured, and may have companions that it cannot do without
(Penstock's ZooKeeper; Apache Kafka's controller lives in the broker process). Memory is reported with and
without them, and their CPU beside the broker's.
"""

from __future__ import annotations

import socket
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from bench.wire import try_metadata
from tests.support.apache_kafka import ApacheKafka
from tests.support.cluster_fixture import ONE_BROKER
from tests.support.processes import Process, free_port

SCRIPTS = Path(sys.executable).parent
START_TIMEOUT_SECONDS = 60.0
BOTH_OVERRIDE = {
    "log.segment.delete.delay.ms": "0",  # a deleted topic gives its disk and page cache back at once
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
}
KAFKAS_JVM_FLAGS = (
    "-Xmx1G",
    "-Xms1G",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
)
"""What Kafka's own start script passes."""


def run_script(script: str, settings: Mapping[str, str], directory: Path, name: str = "") -> Process:
    """One of Penstock's own servers, by its script."""
    overrides = [part for key, value in settings.items() for part in ("--override", f"{key}={value}")]
    return Process([SCRIPTS / script, *overrides], directory / f"{name or script}.log", cwd=directory)


class ZooKeeper:
    """The embedded one, without which no Penstock broker starts."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._port = free_port()
        self.connect = f"127.0.0.1:{self._port}"
        self.processes: Sequence[Process] = ()

    def start(self) -> None:
        settings = {"clientPort": str(self._port), "dataDir": str(self._directory / "zookeeper")}
        process = run_script("zookeeper-server-start", settings, self._directory)
        self.processes = (process,)
        process.wait_until(self._is_ok, START_TIMEOUT_SECONDS, "ZooKeeper to answer ruok")

    def close(self) -> None:
        for process in self.processes:
            process.stop()

    def _is_ok(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), 1.0) as connection:
                connection.sendall(b"ruok")
                return connection.recv(4) == b"imok"
        except OSError:
            return False


class Server(ABC):
    name: str
    replication_factor = 1

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True)
        self.directory = directory

    @property
    @abstractmethod
    def port(self) -> int: ...

    @property
    @abstractmethod
    def broker(self) -> Process: ...

    @property
    @abstractmethod
    def data_directories(self) -> Sequence[Path]:
        """Where the directories of the partitions are."""

    @property
    def companions(self) -> Sequence[Process]:
        return ()

    @abstractmethod
    def prepare(self) -> None:
        """All that happens before the broker process starts, and is not part of its start."""

    @abstractmethod
    def launch(self) -> Process:
        """Starts the broker process, without waiting for it."""

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    def wait_until_answering(self) -> None:
        self.broker.wait_until(
            lambda: try_metadata(self.port), START_TIMEOUT_SECONDS, f"{self.name} to answer Metadata"
        )

    def start(self) -> None:
        self.prepare()
        self.launch()
        self.wait_until_answering()

    def stop_broker(self) -> None:
        self.broker.stop()

    @abstractmethod
    def close(self) -> None:
        """Stops all that was started, however far the start came."""

    def cpu_seconds(self) -> float:
        return self.broker.cpu_seconds()

    def companion_cpu_seconds(self) -> float:
        return sum(companion.cpu_seconds() for companion in self.companions)

    def rss_bytes(self) -> int:
        return self.broker.rss_bytes()

    def rss_bytes_with_companions(self) -> int:
        return self.rss_bytes() + sum(companion.rss_bytes() for companion in self.companions)

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class ApacheKafkaServer(Server):
    name = "kafka"

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._kafka = ApacheKafka(directory, BOTH_OVERRIDE, KAFKAS_JVM_FLAGS)

    @property
    def port(self) -> int:
        return self._kafka.port

    @property
    def broker(self) -> Process:
        return self._kafka.process

    @property
    def data_directories(self) -> Sequence[Path]:
        return (self._kafka.log_dir,)

    def prepare(self) -> None:
        self._kafka.format()

    def launch(self) -> Process:
        return self._kafka.launch()

    def close(self) -> None:
        self._kafka.stop()


class PenstockServer(Server):
    name = "penstock"

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._port = free_port()
        self._data = directory / "data"
        self._zookeeper = ZooKeeper(directory)
        self._broker: Process | None = None

    @property
    def port(self) -> int:
        return self._port

    @property
    def broker(self) -> Process:
        assert self._broker is not None, "not started"
        return self._broker

    @property
    def data_directories(self) -> Sequence[Path]:
        return (self._data,)

    @property
    def companions(self) -> Sequence[Process]:
        return self._zookeeper.processes

    def prepare(self) -> None:
        self._zookeeper.start()

    def launch(self) -> Process:
        settings = {
            "broker.id": "0",
            "listeners": f"PLAINTEXT://{self.bootstrap}",
            "log.dirs": str(self._data),
            "zookeeper.connect": self._zookeeper.connect,
            **ONE_BROKER,
            **BOTH_OVERRIDE,
        }
        self._broker = run_script("kafka-server-start", settings, self.directory)
        return self._broker

    def close(self) -> None:
        if self._broker:
            self._broker.stop()
        self._zookeeper.close()


class Platform:
    """All of Penstock by its one command, `penstock up`."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True)
        self.directory = directory
        self.port = 0

    def launch(self) -> Process:
        offset = _free_port_offset()
        self.port = 9092 + offset
        where = ("--data-dir", str(self.directory / "data"), "--port-offset", str(offset))
        command = [str(SCRIPTS / "penstock"), "up", *where, "--only", "zookeeper,broker"]
        return Process(command, self.directory / "penstock.log")


def _free_port_offset() -> int:
    """An offset at which the ports of both ZooKeeper and the broker are free."""
    while True:
        offset = free_port() - 9092
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", 2181 + offset))
                return offset
            except OSError:
                continue


SERVERS: dict[str, type[Server]] = {server.name: server for server in (ApacheKafkaServer, PenstockServer)}
