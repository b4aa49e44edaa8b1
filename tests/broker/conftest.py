"""`server` is shared by all tests of a worker: a broker in this process, or, with `PENSTOCK_TEST_PEER=apache`, Apache
Kafka, so that what these tests expect can be proven against the reference. `broker` is a fresh Penstock of its own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock.testing import InProcessBroker
from tests.broker.asking import unique_topic
from tests.support.cluster_fixture import PEER, running_apache
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

SERVER_SETTINGS = {
    "auto.create.topics.enable": "false",
    "num.partitions": "1",
    "log.retention.ms": "-1",  # some send records of long ago
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "500",
    "group.share.min.record.lock.duration.ms": "1000",
}


@dataclass(frozen=True)
class Server:
    bootstrap: str
    log_dir: Path
    is_apache: bool

    def partition_dir(self, topic: str, partition: int = 0) -> Path:
        return self.log_dir / f"{topic}-{partition}"


def starts_its_peer(fixture: Callable[..., Iterator[Server]]) -> Callable[..., Iterator[Server]]:
    return starts_processes(fixture) if PEER == "apache" else fixture


@pytest.fixture(scope="session")
@starts_its_peer
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if PEER == "apache":
        with running_apache(tmp_path_factory.mktemp("kafka"), SERVER_SETTINGS) as apache:
            yield Server(apache.bootstrap, apache.log_dir, True)
    else:
        with InProcessBroker(SERVER_SETTINGS) as broker:
            yield Server(broker.bootstrap_servers, broker.log_dirs[0], False)


@pytest.fixture
def client(server: Server) -> Iterator[WireClient]:
    with WireClient(server.bootstrap) as connected:
        yield connected


@pytest.fixture
def other_client(server: Server) -> Iterator[WireClient]:
    with WireClient(server.bootstrap) as connected:
        yield connected


@pytest.fixture
def topic(server: Server) -> str:
    """A fresh topic of one partition."""
    with WireClient(server.bootstrap) as connected:
        return unique_topic(connected)


@pytest.fixture
def broker() -> Iterator[InProcessBroker]:
    with InProcessBroker() as running:
        yield running


only_penstock = pytest.mark.skipif(PEER == "apache", reason="looks inside Penstock")


@pytest.fixture
def server_bootstrap(server: Server) -> str:
    return server.bootstrap
