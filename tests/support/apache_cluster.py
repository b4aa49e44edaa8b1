"""Three brokers of Apache Kafka in one JVM, for what one broker cannot show: partitions that move, leaders that change.

Broker 1 is the controller too. Each has two log directories; brokers 1 and 2 are in racks, 3 is in none. Replicas
follow in small steps, so that a throttle holds them back from the first kilobyte on.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.cli.tool_commands.reassignment_wait import all_brokers_show
from penstock.types import TopicPartition
from penstock.wire.messages.metadata import MetadataRequest
from penstock.wire_client import ClusterConfig, blocking_cluster, now
from tests.support.apache_kafka import SHORT_LIVED_JVM_FLAGS, require_java
from tests.support.cluster_fixture import KafkaServer
from tests.support.java_tools import run_java_tool
from tests.support.processes import Process, free_port, wait_for
from tests.support.toolchains import java_program
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

SOURCE = Path(__file__).parent / "java_brokers"
BROKERS = (1, 2, 3)
CONTROLLER = 1
RACKS = {1: "left", 2: "right"}
START_TIMEOUT_SECONDS = 120.0
METADATA_VERSION = 9


def log_dirs(directory: Path, broker: int) -> list[Path]:
    return [directory / f"broker-{broker}-{side}" for side in ("a", "b")]


def _settings(directory: Path, broker: int, ports: dict[int, int], controller_port: int) -> dict[str, str]:
    listener = f"PLAINTEXT://127.0.0.1:{ports[broker]}"
    controller = f"127.0.0.1:{controller_port}"
    is_controller = broker == CONTROLLER
    return {
        "process.roles": "broker,controller" if is_controller else "broker",
        "node.id": str(broker),
        "controller.quorum.voters": f"{CONTROLLER}@{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"{listener},CONTROLLER://{controller}" if is_controller else listener,
        "advertised.listeners": listener,
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": ",".join(map(str, log_dirs(directory, broker))),
        "offsets.topic.replication.factor": "1",
        "auto.create.topics.enable": "false",
        "auto.leader.rebalance.enable": "false",
        "replica.fetch.max.bytes": "1024",
        "replica.fetch.response.max.bytes": "1024",
        "log.cleaner.dedupe.buffer.size": "2097152",
        "num.io.threads": "2",
        "num.network.threads": "1",
        **({"broker.rack": RACKS[broker]} if broker in RACKS else {}),
    }


def _write(directory: Path, cluster_id: str, broker: int, settings: dict[str, str]) -> Path:
    file = directory / f"broker-{broker}.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    done = run_java_tool("kafka-storage", "format", f"--cluster-id={cluster_id}", "-c", str(file))
    assert done.returncode == 0, done
    return file


def _are_all_there(bootstrap: str) -> bool:
    try:
        with WireClient(bootstrap, timeout=5.0) as client:
            return len(client.send(MetadataRequest([]), METADATA_VERSION).brokers) == len(BROKERS)
    except OSError:
        return False


@contextmanager
def running_apache_cluster(directory: Path) -> Iterator[KafkaServer]:
    require_java()
    ports = {broker: free_port() for broker in BROKERS}
    controller_port = free_port()
    cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    files = [
        _write(directory, cluster_id, broker, _settings(directory, broker, ports, controller_port))
        for broker in BROKERS
    ]
    bootstrap = ",".join(f"127.0.0.1:{port}" for port in ports.values())
    command = [*java_program("java-brokers", SOURCE, "Brokers", SHORT_LIVED_JVM_FLAGS), *map(str, files)]
    with Process(command, directory / "brokers.log") as process:
        for port in ports.values():
            process.wait_until(
                lambda address=f"127.0.0.1:{port}": _are_all_there(address),
                START_TIMEOUT_SECONDS,
                "three brokers",
            )
        yield KafkaServer(bootstrap, directory, CONTROLLER, True, (process,))


def create_topic(server: KafkaServer, topic: str, replicas: list[list[int]]) -> None:
    """A topic whose partitions have these replicas; all brokers know of it."""
    admin = AdminClient({"bootstrap.servers": server.bootstrap, "log_level": 0})
    wanted = NewTopic(topic, num_partitions=len(replicas), replica_assignment=replicas)
    [created] = admin.create_topics([wanted]).values()
    created.result(START_TIMEOUT_SECONDS)
    wait_until_shown(server, topic, dict(enumerate(replicas)))


def wait_until_shown(server: KafkaServer, topic: str, replicas: Mapping[int, Sequence[int]]) -> None:
    """By every broker: a tool asks any of them, and they hear from the controller one after the other."""
    config = ClusterConfig.from_configs({"bootstrap.servers": server.bootstrap})
    wanted = {TopicPartition(topic, partition): each for partition, each in replicas.items()}
    with blocking_cluster(config) as cluster:
        wait_for(lambda: now(all_brokers_show(cluster, wanted)), what=f"all brokers to show {wanted}")


@pytest.fixture(scope="session")
@starts_processes
def apache_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    """Three brokers, for partitions that move."""
    with running_apache_cluster(tmp_path_factory.mktemp("apache-cluster")) as server:
        yield server
