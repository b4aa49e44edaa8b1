"""Three brokers as processes, over the embedded ZooKeeper or a real ensemble, for faults of every kind."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType

from tests.broker.asking import metadata
from tests.broker.platform import SCRIPTS, accepts, overrides
from tests.support.apache_kafka import answers_metadata
from tests.support.processes import Process, free_port, wait_for
from tests.support.wire_client import WireClient

PATIENCE_SECONDS = 90.0
SESSION_TIMEOUT_MS = 4000
SETTINGS = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "group.initial.rebalance.delay.ms": "0",
    "auto.create.topics.enable": "false",
    "zookeeper.session.timeout.ms": str(SESSION_TIMEOUT_MS),
    "replica.fetch.backoff.ms": "200",
}


class EmbeddedZooKeeper:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = free_port()
        self.connect = f"127.0.0.1:{self.port}"
        self.process: Process

    def start(self) -> None:
        settings = {"clientPort": str(self.port), "dataDir": str(self.directory), "tickTime": "500"}
        command = [SCRIPTS / "zookeeper-server-start", *overrides(settings)]
        self.process = Process(command, self.directory.with_suffix(".log"))
        self.process.wait_until(lambda: accepts(self.port), PATIENCE_SECONDS, "ZooKeeper to listen")

    def kill(self) -> None:
        self.process.kill()


class BrokerCluster:
    def __init__(
        self,
        directory: Path,
        zookeeper_connect: str,
        brokers: int = 3,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.directory = directory
        self.zookeeper_connect = zookeeper_connect
        self.settings = {**SETTINGS, **(settings or {})}
        self.ports = {number: free_port() for number in range(1, brokers + 1)}
        self.processes: dict[int, Process] = {}

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self.ports.values())

    def log_dir(self, number: int) -> Path:
        return self.directory / f"broker-{number}"

    # faults

    def settings_of(self, number: int) -> Mapping[str, str]:
        return {
            "broker.id": str(number),
            "listeners": f"PLAINTEXT://127.0.0.1:{self.ports[number]}",
            "log.dirs": str(self.log_dir(number)),
            "zookeeper.connect": self.zookeeper_connect,
            **self.settings,
        }

    def start(self, number: int) -> None:
        """Does not wait for it."""
        command = [SCRIPTS / "kafka-server-start", *overrides(self.settings_of(number))]
        self.processes[number] = Process(command, self.directory / f"broker-{number}.log")

    def kill(self, number: int) -> None:
        self.processes[number].kill()

    def stop(self, number: int) -> None:
        assert self.processes[number].stop() == 0, self.processes[number].log_tail()

    def pause(self, number: int) -> None:
        self.processes[number].signal(signal.SIGSTOP)

    def resume(self, number: int) -> None:
        self.processes[number].signal(signal.SIGCONT)

    # looking

    def wait_until_whole(self, topics: Iterable[str] = ()) -> None:
        """All brokers are there, and all replicas of these topics in sync, as each broker sees it."""
        for port in self.ports.values():
            wait_for(
                lambda: self._is_whole(port, list(topics)),  # noqa: B023
                PATIENCE_SECONDS,
                lambda: "\n".join(process.log_tail(15) for process in self.processes.values()),
            )

    def _is_whole(self, port: int, topics: list[str]) -> bool:
        if not answers_metadata(port):
            return False
        with WireClient(f"127.0.0.1:{port}") as client:
            said = metadata(client, *topics)
        states = [partition for topic in said.topics for partition in topic.partitions]
        is_known = not any(topic.error_code for topic in said.topics)
        return (is_known and len(said.brokers) == len(self.ports)) and all(
            partition.leader_id >= 0 and set(partition.isr_nodes) == set(partition.replica_nodes)
            for partition in states
        )

    def __enter__(self) -> BrokerCluster:
        self.directory.mkdir(parents=True, exist_ok=True)
        for number in self.ports:
            self.start(number)
        self.wait_until_whole()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for process in self.processes.values():
            process.kill()
