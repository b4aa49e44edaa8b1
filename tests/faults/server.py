"""A server that a test may kill and start again at the same place: Penstock, or Apache Kafka with
`PENSTOCK_TEST_PEER=apache`, so that what these tests ask of Penstock can be proven against the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from tests.broker.platform import Platform
from tests.support.apache_kafka import ApacheKafka, require_java
from tests.support.cluster_fixture import PEER

SETTINGS = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "5",
}


class KillableServer(Protocol):
    @property
    def bootstrap(self) -> str: ...

    def kill(self) -> None: ...

    def start(self) -> None: ...


class Penstock:
    """ZooKeeper stays up; the broker is what is killed."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.bootstrap = platform.bootstrap

    def kill(self) -> None:
        self._platform.broker.kill()

    def start(self) -> None:
        self._platform.start_broker()


class Apache:
    def __init__(self, kafka: ApacheKafka) -> None:
        self._kafka = kafka
        self.bootstrap = kafka.bootstrap

    def kill(self) -> None:
        self._kafka.kill()

    def start(self) -> None:
        self._kafka.start()


@contextmanager
def running_server(directory: Path, settings: Mapping[str, str] | None = None) -> Iterator[KillableServer]:
    chosen = {**SETTINGS, **(settings or {})}
    if PEER == "apache":
        require_java()
        with ApacheKafka(directory, chosen) as kafka:
            yield Apache(kafka)
    else:
        with Platform(directory, chosen) as platform:
            yield Penstock(platform)
