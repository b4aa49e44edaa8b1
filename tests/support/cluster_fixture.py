"""The server that the client and tool suites talk to: `kafka`, one per test worker, for all that need no settings.

By default it is Penstock, as a user starts it: two processes, ZooKeeper and one broker. With `PENSTOCK_TEST_BROKERS=3`
it is a cluster of three brokers, whose topics have three replicas, for what runs above the broker: `tests/registry`,
`tests/rest`, `tests/pipeline`. With `PENSTOCK_TEST_PEER=apache` it is Apache Kafka from Maven, so that the same tests
can be proven against the reference. A test that must tell them apart (there should be next to none) asks
`kafka.is_apache`.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock.client.admin.acls import ANY_ACL, delete_acls
from penstock.testing import Cluster
from penstock.testing.server_process import ServerProcess
from penstock.wire_client import ClusterConfig, blocking_cluster, now
from tests.support.apache_kafka import ApacheKafka, answers_metadata, require_java
from tests.support.processes import Process, free_port
from tools.suite.processes import starts_processes

PEER = os.environ.get("PENSTOCK_TEST_PEER", "penstock")
BROKERS = int(os.environ.get("PENSTOCK_TEST_BROKERS", 1))
REPLICAS = str(min(3, BROKERS))
"""Of topics for which a test asks for a number."""
only_one_broker = pytest.mark.skipif(BROKERS > 1, reason="it knows the one broker, or looks into it")
# Coordinators that answer soon: members hear of a change at their next heartbeat, timeouts are looked at often,
# and the topics of the coordinators are small.
COORDINATOR_SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "300",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.share.min.heartbeat.interval.ms": "300",
    "group.share.heartbeat.interval.ms": "300",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.streams.min.heartbeat.interval.ms": "300",
    "group.streams.heartbeat.interval.ms": "300",
    "group.streams.min.session.timeout.ms": "1000",
    "group.streams.initial.rebalance.delay.ms": "0",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "300",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.num.partitions": "4",
}
# What Kafka's own server.properties sets for a single broker.
ONE_BROKER = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}
# Whoever comes may do anything, and access control lists can be kept.
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
# Named, so that they are known to the tests that rely on them; all else is the default of both servers.
SERVER_SETTINGS = {"num.partitions": "1", "auto.create.topics.enable": "true"}
START_TIMEOUT_SECONDS = 60.0
SCRIPTS = Path(sys.executable).parent


@dataclass(frozen=True)
class KafkaServer:
    bootstrap: str
    log_dir: Path
    broker_id: int
    is_apache: bool
    processes: tuple[ServerProcess, ...]

    @property
    def host(self) -> str:
        return self.bootstrap.partition(":")[0]

    @property
    def port(self) -> int:
        return int(self.bootstrap.rpartition(":")[2])

    def partition_dir(self, topic: str, partition: int = 0) -> Path:
        return self.log_dir / f"{topic}-{partition}"


def _overrides(settings: Mapping[str, str]) -> list[str]:
    return [part for key, value in settings.items() for part in ("--override", f"{key}={value}")]


def _accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1.0).close()
    except OSError:
        return False
    return True


@contextmanager
def running_penstock(directory: Path, settings: Mapping[str, str] | None = None) -> Iterator[KafkaServer]:
    """A ZooKeeper and a broker of Penstock, or as many as are asked for, each its own process."""
    if BROKERS > 1:
        with running_cluster(directory, settings) as cluster:
            yield cluster
        return
    zookeeper_port, port = free_port(), free_port()
    log_dir = directory / "kafka-logs"
    zookeeper_settings = {"clientPort": str(zookeeper_port), "dataDir": str(directory / "zookeeper")}
    broker_settings = {
        "broker.id": "0",
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "log.dirs": str(log_dir),
        "zookeeper.connect": f"127.0.0.1:{zookeeper_port}",
        **ONE_BROKER,
        **SERVER_SETTINGS,
        **(settings or {}),
    }
    zookeeper_command = [SCRIPTS / "zookeeper-server-start", *_overrides(zookeeper_settings)]
    broker_command = [SCRIPTS / "kafka-server-start", *_overrides(broker_settings)]
    with Process(zookeeper_command, directory / "zookeeper.log") as zookeeper:
        zookeeper.wait_until(lambda: _accepts(zookeeper_port), START_TIMEOUT_SECONDS, "ZooKeeper to listen")
        with Process(broker_command, directory / "broker.log") as broker:
            broker.wait_until(lambda: answers_metadata(port), START_TIMEOUT_SECONDS, "the broker to answer")
            yield KafkaServer(f"127.0.0.1:{port}", log_dir, 0, False, (zookeeper, broker))


@contextmanager
def running_cluster(directory: Path, settings: Mapping[str, str] | None = None) -> Iterator[KafkaServer]:
    chosen = {**SERVER_SETTINGS, **(settings or {})}
    with Cluster(BROKERS, chosen, directory=directory / "cluster") as cluster:
        processes = tuple(cluster.processes.values())
        yield KafkaServer(cluster.bootstrap_servers, cluster.log_dir(1), 1, False, processes)


@contextmanager
def running_apache(directory: Path, settings: Mapping[str, str] | None = None) -> Iterator[KafkaServer]:
    require_java()
    server = ApacheKafka(directory, {**SERVER_SETTINGS, **(settings or {})})
    with server:
        yield KafkaServer(server.bootstrap, server.log_dir, 1, True, (server.process,))


@contextmanager
def running_kafka(directory: Path, settings: Mapping[str, str] | None = None) -> Iterator[KafkaServer]:
    """The server under test, with settings of its own: for the few tests that cannot share one."""
    run = running_apache if PEER == "apache" else running_penstock
    with run(directory, settings) as server:
        yield server


@pytest.fixture(scope="session")
@starts_processes
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    with running_kafka(tmp_path_factory.mktemp("kafka")) as server:
        yield server


@pytest.fixture(scope="session")
@starts_processes
def shared_apache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    with running_apache(tmp_path_factory.mktemp("apache"), {**COORDINATOR_SETTINGS, **AUTHORIZER}) as server:
        yield server


@pytest.fixture(scope="module")
def apache(shared_apache: KafkaServer) -> Iterator[KafkaServer]:
    """Apache Kafka with an authorizer, one for all files of a worker; each begins without access control lists."""
    yield shared_apache
    config = ClusterConfig.from_configs({"bootstrap.servers": shared_apache.bootstrap})
    with blocking_cluster(config) as cluster:
        now(delete_acls(cluster, [ANY_ACL]))
