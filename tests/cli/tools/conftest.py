"""Each of Kafka's console tools beside ours: the same arguments give the same output and exit code.

    def test_list(both: BothTools) -> None:
        both("kafka-topics", "--bootstrap-server", both.bootstrap, "--list")

runs Kafka's tool (in one JVM for all calls of a worker, some 50 ms each) and then ours, on the same Penstock server,
asserts that standard output, standard error and exit code are the same, and returns ours (`.stdout`, `.stderr`,
`.returncode`) for a look at what both said. What clients warn of in their log is not compared, nor are the stack traces
that some of Kafka's tools print after their message: ours say the message only.

A call that changes something is made twice, so it needs two names: `both(..., "--create", "--topic", "{name}",
mutating=True)` puts `both.kafka_name` or `both.our_name` for `{name}` and compares with `{name}` put back. The two
are equally long and stay the same through a test; `both.each(client.create_topic)` sets the stage for both.
`{broker}` stands for the id of the server.

    stderr="first line"               compares less of standard error than "same", which is the rule;
           "first words"              the first line up to a colon, for errors that we say more of (an unreachable
           "ignore"                   broker: with `hasty`, a command config that waits for half a second only)
    masks=[MILLISECONDS, ...]         masks.py; a test can make its own with `mask(pattern, replacement)`
    sort_lines=True                   for output that has no order (sets, hash maps)
    input="a\nb\n"                    standard input of both
    timeout=20                        seconds for each; the JVM is replaced when its tool does not end

`both_apache` is the same with an Apache Kafka server (KRaft), for what Penstock's server does not serve; it takes ten
seconds to start, so only files that need it ask for it. `client` sets the stage on Penstock, `apache_client` there.
`both_cluster` has three brokers, of Penstock and of Apache Kafka.
A tool that needs a signal, or prints in a shutdown hook (the verifiable ones), runs by apache_kafka.run_tool instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.tools.apache_cluster import BESIDE_APACHE
from tests.cli.tools.both_tools import BothTools
from tests.foreign_clients.drivers.confluent import ConfluentClient
from tests.foreign_clients.drivers.model import Client
from tests.java_tools.conftest import topic
from tests.support.apache_kafka import require_java
from tests.support.cluster_fixture import COORDINATOR_SETTINGS, KafkaServer, running_kafka
from tests.support.penstock_cluster import PenstockCluster
from tools.suite.processes import starts_processes

__all__ = ["topic"]


@pytest.fixture(scope="session")
@starts_processes
def java() -> None:
    require_java()


@pytest.fixture(scope="session")
@starts_processes
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    with running_kafka(tmp_path_factory.mktemp("kafka"), COORDINATOR_SETTINGS) as server:
        yield server


@pytest.fixture(scope="module")
def apache_controller(apache: KafkaServer) -> str:
    """Where the controller of Apache Kafka listens, for `--bootstrap-controller`."""
    settings = (apache.log_dir.parent / "server.properties").read_text()
    return settings.partition("CONTROLLER://")[2].partition("\n")[0]


@pytest.fixture(scope="session")
def client(kafka: KafkaServer) -> Iterator[Client]:
    confluent = ConfluentClient(kafka.bootstrap)
    yield confluent
    confluent.close()


@pytest.fixture(scope="module")
def apache_client(apache: KafkaServer) -> Iterator[Client]:
    confluent = ConfluentClient(apache.bootstrap)
    yield confluent
    confluent.close()


@pytest.fixture
def both(java: None, kafka: KafkaServer, request: pytest.FixtureRequest) -> BothTools:
    return BothTools(kafka, request.node.name)


@pytest.fixture
def both_apache(java: None, apache: KafkaServer, request: pytest.FixtureRequest) -> BothTools:
    return BothTools(apache, request.node.name)


@pytest.fixture(scope="session")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file for `--command-config` with which a client soon gives up."""
    file = tmp_path_factory.mktemp("hasty") / "client.properties"
    file.write_text("default.api.timeout.ms=500\nrequest.timeout.ms=400\n")
    return file


@pytest.fixture(params=["penstock", pytest.param("apache", marks=BESIDE_APACHE)])
@starts_processes
def three_brokers(java: None, request: pytest.FixtureRequest) -> KafkaServer:
    """Of Penstock; and of Apache Kafka, where all is compared. Both tools say the same on either."""
    if request.param == "apache":
        apache: KafkaServer = request.getfixturevalue("apache_cluster")
        return apache
    penstock: PenstockCluster = request.getfixturevalue("penstock_cluster")
    return penstock.as_server()


@pytest.fixture
def both_cluster(three_brokers: KafkaServer, request: pytest.FixtureRequest) -> BothTools:
    return BothTools(three_brokers, request.node.name)


@pytest.fixture
def both_apache_cluster(java: None, apache_cluster: KafkaServer, request: pytest.FixtureRequest) -> BothTools:
    return BothTools(apache_cluster, request.node.name)
