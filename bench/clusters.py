"""Three brokers of each kind, with three replicas of everything: what `bench.servers` has, as clusters.

Apache Kafka's brokers are their own controllers, as its quickstart for several nodes has them; Penstock's stand on one
embedded ZooKeeper. A broker that stops answering is missed after the same time in both.
"""

from __future__ import annotations

import base64
import uuid
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path

from bench.servers import (
    BOTH_OVERRIDE,
    KAFKAS_JVM_FLAGS,
    START_TIMEOUT_SECONDS,
    Server,
    ZooKeeper,
    run_script,
)
from bench.wire import try_metadata
from tests.support.apache_kafka import java_command, run_tool
from tests.support.processes import Process, free_port

BROKERS = (1, 2, 3)
SESSION_TIMEOUT_MS = 6_000
CLUSTERS_OVERRIDE = {
    **BOTH_OVERRIDE,
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "auto.leader.rebalance.enable": "false",  # leaders stay where the benchmark put them
}


class Cluster(Server):
    replication_factor = len(BROKERS)

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.ports = {broker: free_port() for broker in BROKERS}
        self.processes: dict[int, Process] = {}
        self._ended_cpu_seconds = 0.0

    @property
    def port(self) -> int:
        return self.ports[BROKERS[0]]

    @property
    def broker(self) -> Process:
        return self.processes[BROKERS[0]]

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self.ports.values())

    @property
    def data_directories(self) -> Sequence[Path]:
        return [self._data(broker) for broker in BROKERS]

    def _data(self, broker: int) -> Path:
        return self.directory / f"data-{broker}"

    # life

    @abstractmethod
    def launch_broker(self, broker: int) -> Process:
        """Starts one broker, without waiting for it."""

    def launch(self) -> Process:
        for broker in BROKERS:
            self.processes[broker] = self.launch_broker(broker)
        return self.broker

    def wait_until_answering(self) -> None:
        for broker, process in self.processes.items():
            process.wait_until(
                lambda port=self.ports[broker]: self._knows_all(port),
                START_TIMEOUT_SECONDS,
                f"broker {broker} of {self.name} to know all others",
            )

    def _knows_all(self, port: int) -> bool:
        metadata = try_metadata(port)
        return metadata is not None and metadata.brokers == len(BROKERS)

    def kill(self, broker: int) -> None:
        self._ended_cpu_seconds += self.processes[broker].cpu_seconds()
        self.processes[broker].kill()

    def bring_back(self, broker: int) -> None:
        self.processes[broker] = self.launch_broker(broker)
        self.wait_until_answering()

    def stop_broker(self) -> None:
        for process in self.processes.values():
            process.stop()

    def close(self) -> None:
        self.stop_broker()

    # what they take

    def _alive(self) -> list[Process]:
        return [process for process in self.processes.values() if process.alive]

    def cpu_seconds(self) -> float:
        return self._ended_cpu_seconds + sum(process.cpu_seconds() for process in self._alive())

    def rss_bytes(self) -> int:
        return sum(process.rss_bytes() for process in self._alive())


class ApacheKafkaCluster(Cluster):
    name = "kafka"

    def prepare(self) -> None:
        cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        controllers = {broker: free_port() for broker in BROKERS}
        voters = ",".join(f"{broker}@127.0.0.1:{port}" for broker, port in controllers.items())
        for broker in BROKERS:
            own, controller = f"PLAINTEXT://127.0.0.1:{self.ports[broker]}", controllers[broker]
            settings = {
                "process.roles": "broker,controller",
                "node.id": str(broker),
                "controller.quorum.voters": voters,
                "controller.listener.names": "CONTROLLER",
                "listeners": f"{own},CONTROLLER://127.0.0.1:{controller}",
                "advertised.listeners": own,
                "inter.broker.listener.name": "PLAINTEXT",
                "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
                "log.dirs": str(self._data(broker)),
                "broker.session.timeout.ms": str(SESSION_TIMEOUT_MS),
                **CLUSTERS_OVERRIDE,
            }
            file = self._properties(broker)
            file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
            done = run_tool("kafka-storage", "format", f"--cluster-id={cluster_id}", "-c", str(file))
            if done.returncode:
                raise RuntimeError(f"kafka-storage format failed:\n{done.stdout}{done.stderr}")

    def _properties(self, broker: int) -> Path:
        return self.directory / f"broker-{broker}.properties"

    def launch_broker(self, broker: int) -> Process:
        command = java_command("kafka.Kafka", str(self._properties(broker)), jvm_flags=KAFKAS_JVM_FLAGS)
        return Process(command, self.directory / f"broker-{broker}.log")


class PenstockCluster(Cluster):
    name = "penstock"

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._zookeeper = ZooKeeper(directory)

    @property
    def companions(self) -> Sequence[Process]:
        return self._zookeeper.processes

    def prepare(self) -> None:
        self._zookeeper.start()

    def launch_broker(self, broker: int) -> Process:
        settings = {
            "broker.id": str(broker),
            "listeners": f"PLAINTEXT://127.0.0.1:{self.ports[broker]}",
            "log.dirs": str(self._data(broker)),
            "zookeeper.connect": self._zookeeper.connect,
            "zookeeper.session.timeout.ms": str(SESSION_TIMEOUT_MS),
            **CLUSTERS_OVERRIDE,
        }
        return run_script("kafka-server-start", settings, self.directory, f"broker-{broker}")

    def close(self) -> None:
        super().close()
        self._zookeeper.close()


CLUSTERS: dict[str, type[Cluster]] = {
    cluster.name: cluster for cluster in (ApacheKafkaCluster, PenstockCluster)
}
