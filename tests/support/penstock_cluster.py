"""Three brokers of Penstock as processes, for what one broker cannot show, shared by all tests of a worker.

Broker 1 is in one rack, 2 and 3 in another. Each has two log directories, and replicas follow in small steps, so that a
throttle holds them back from the first kilobyte on. Each has two listeners: EXTERNAL, which clients are given, and
INTERNAL, by which brokers reach each other. A test that stops a broker starts it again; where it failed before it
could, that is done for it, so that the tests behind it are not about the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from penstock.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from penstock.wire.schema import ApiMessage
from tests.broker.asking import metadata
from tests.faults.broker_cluster import BrokerCluster, EmbeddedZooKeeper
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import free_port, wait_for
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

RACKS = {1: "left", 2: "right", 3: "right"}
PATIENCE_SECONDS = 60.0
QUOTA_SECONDS = 2
"""So far back a throttle looks: what was not used of them may come at once."""
SETTINGS = {
    "min.insync.replicas": "1",
    "auto.leader.rebalance.enable": "false",
    "auto.create.topics.enable": "true",
    "default.replication.factor": "2",
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "inter.broker.listener.name": "INTERNAL",
    "listener.security.protocol.map": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
    "replica.fetch.max.bytes": "1024",
    "replica.fetch.response.max.bytes": "1024",
    "replication.quota.window.num": str(QUOTA_SECONDS),
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    "log.retention.check.interval.ms": "300",
    "log.cleaner.backoff.ms": "300",
}


def create_with_replicas(
    client: WireClient, topic: str, replicas: Sequence[Sequence[int]], **configs: str
) -> None:
    """Configs have underscores for dots."""
    assignments = [CreatableReplicaAssignment(index, list(brokers)) for index, brokers in enumerate(replicas)]
    said = [CreatableTopicConfig(name.replace("_", "."), value) for name, value in configs.items()]
    wanted = CreatableTopic(topic, -1, -1, assignments, said)
    (created,) = client.send(CreateTopicsRequest([wanted], timeout_ms=30_000)).topics
    assert created.error_code == 0, created


class PenstockCluster(BrokerCluster):
    def __init__(self, directory: Path, zookeeper_connect: str) -> None:
        super().__init__(directory, zookeeper_connect, settings=SETTINGS)
        self.internal_ports = {number: free_port() for number in self.ports}

    def settings_of(self, number: int) -> Mapping[str, str]:
        internal, external = self.internal_ports[number], self.ports[number]
        return {
            **super().settings_of(number),
            "listeners": (listeners := f"INTERNAL://127.0.0.1:{internal},EXTERNAL://127.0.0.1:{external}"),
            "advertised.listeners": listeners,
            "broker.rack": RACKS[number],
            "log.dirs": ",".join(map(str, self.log_dirs(number))),
        }

    def log_dirs(self, number: int) -> list[Path]:
        return [self.directory / f"broker-{number}-{side}" for side in ("a", "b")]

    def as_server(self) -> KafkaServer:
        """For tests that take any server."""
        return KafkaServer(self.bootstrap, self.directory, 1, False, tuple(self.processes.values()))

    # asking

    def ask(self, number: int, request: ApiMessage, version: int | None = None) -> Any:
        with WireClient(self.address(number)) as client:
            return client.send(request, version)

    def controller(self) -> int:
        """As broker 3 knows it, which tests leave alone."""
        with WireClient(self.address(3)) as client:
            found: int = metadata(client).controller_id
        return found

    def wait_until_registered(self, number: int) -> None:
        def is_known() -> bool:
            with WireClient(self.address(3)) as client:
                return any(broker.node_id == number for broker in metadata(client).brokers)

        wait_for(is_known, PATIENCE_SECONDS, self.processes[number].log_tail)

    def not_the_controller(self) -> int:
        return next(number for number in self.ports if number != self.controller())

    def create(self, topic: str, replicas: Sequence[Sequence[int]], **configs: str) -> None:
        """A topic whose partitions have these replicas; all brokers know of it."""
        with WireClient(self.address(3)) as client:
            create_with_replicas(client, topic, replicas, **configs)
        self.wait_until_whole([topic])

    def partitions(self, topic: str, asked: int = 3) -> dict[int, Any]:
        """What a broker says of each."""
        with WireClient(self.address(asked)) as client:
            (said,) = metadata(client, topic).topics
        return {partition.partition_index: partition for partition in said.partitions}

    def leaders(self, topic: str, asked: int = 3) -> list[int]:
        found = self.partitions(topic, asked)
        return [found[index].leader_id for index in sorted(found)]

    def _knows(self, number: int, topic: str, leaders: list[int]) -> bool:
        try:
            return self.leaders(topic, number) == leaders
        except OSError:  # it is about to listen
            return False

    def wait_for_leaders(self, topic: str, leaders: list[int]) -> None:
        """As all brokers know them that run."""
        for number, process in self.processes.items():
            if process.alive:
                wait_for(
                    lambda: self._knows(number, topic, leaders),  # noqa: B023
                    PATIENCE_SECONDS,
                    lambda: f"{leaders} for {topic}, not {self.leaders(topic)}",
                )


@pytest.fixture(scope="session")
@starts_processes
def penstock_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PenstockCluster]:
    directory = tmp_path_factory.mktemp("penstock-cluster")
    zookeeper = EmbeddedZooKeeper(directory / "zookeeper")
    zookeeper.start()
    try:
        with PenstockCluster(directory / "brokers", zookeeper.connect) as running:
            _running.append(running)
            yield running
    finally:
        _running.clear()
        zookeeper.kill()


_running: list[PenstockCluster] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    try:
        return (yield)
    finally:
        for cluster in _running:
            if not all(process.alive for process in cluster.processes.values()):
                cluster.restore()
