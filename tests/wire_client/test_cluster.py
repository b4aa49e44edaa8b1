"""Finding the broker to ask: any, a node, the controller, coordinators, leaders."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest

from penstock.client.admin.cluster_nodes import describe_cluster
from penstock.client.admin.list_offsets import ListedOffset, list_offsets
from penstock.errors import ConfigError, ErrorCode
from penstock.testing import InProcessBroker
from penstock.types import TopicPartition
from penstock.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from penstock.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from penstock.wire.messages.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from penstock.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from penstock.wire.messages.metadata import MetadataRequest, MetadataResponse
from penstock.wire_client import Cluster, ClusterConfig, ClusterView, CoordinatorKind, Disconnected, Node
from penstock.wire_client.errors import (
    BrokerUnreachableError,
    KafkaError,
    KafkaTimeoutError,
    UnsupportedVersionError,
)
from tests.broker.conftest import only_penstock
from tests.support.penstock_cluster import PenstockCluster
from tests.support.processes import free_port
from tests.wire_client.conftest import Asker


def test_who_is_there(ask: Asker, broker: InProcessBroker) -> None:
    view = ask(Cluster.describe, broker.bootstrap_servers)
    assert [(node.id, node.host, node.port) for node in view.nodes] == [(0, broker.host, broker.port)]
    assert view.controller_id == 0
    assert view.cluster_id


def test_the_controller_creates_and_the_leader_answers(ask: Asker, broker: InProcessBroker) -> None:
    topic = f"led-{ask.is_blocking}"

    async def question(cluster: Cluster) -> Any:
        request = CreateTopicsRequest([CreatableTopic(topic, 3, -1)])
        created = await cluster.ask_controller(request, CreateTopicsResponse)
        assert not created.topics[0].error_code
        wanted = {TopicPartition(topic, number): -2 for number in range(3)}
        return await cluster.ask_leaders(wanted, _list_offsets, ListOffsetsResponse)

    answers = ask(question, broker.bootstrap_servers)
    assert list(answers) == [0]
    partitions = answers[0].topics[0].partitions
    assert sorted((each.partition_index, each.offset) for each in partitions) == [(0, 0), (1, 0), (2, 0)]


def _list_offsets(wanted: dict[TopicPartition, int]) -> ListOffsetsRequest:
    (topic,) = {partition.topic for partition in wanted}
    partitions = [
        ListOffsetsPartition(partition_index=partition.partition, timestamp=timestamp)
        for partition, timestamp in wanted.items()
    ]
    return ListOffsetsRequest(-1, 0, [ListOffsetsTopic(topic, partitions)])


@pytest.mark.parametrize("kind", [CoordinatorKind.GROUP, CoordinatorKind.TRANSACTION])
def test_coordinators(ask: Asker, broker: InProcessBroker, kind: CoordinatorKind) -> None:
    async def question(cluster: Cluster) -> int:
        return await cluster.find_coordinator("anybody", kind)

    assert ask(question, broker.bootstrap_servers) == 0


def test_a_question_to_a_coordinator(ask: Asker, broker: InProcessBroker) -> None:
    async def question(cluster: Cluster) -> Any:
        request = DescribeGroupsRequest(["nobody"])
        return await cluster.ask_coordinator("nobody", request, DescribeGroupsResponse)

    assert ask(question, broker.bootstrap_servers).groups[0].group_id == "nobody"


@only_penstock
@pytest.mark.processes
@pytest.mark.parametrize("role", ["controller", "coordinator", "leader"])
def test_whoever_takes_over_is_asked(penstock_cluster: PenstockCluster, role: str) -> None:
    """The client knows who it is as that broker dies, long before anybody has taken over."""
    ask, topic = Asker(is_blocking=True), f"taken-over-{role}"
    penstock_cluster.create(topic, [[1, 2]])

    async def work(cluster: Cluster, name: str) -> object:
        if role == "controller":
            request = CreateTopicsRequest([CreatableTopic(name, 1, 2)], timeout_ms=30_000)
            created = await cluster.ask_controller(request, CreateTopicsResponse)
            return created.topics[0].error_code
        if role == "coordinator":
            said = await cluster.ask_coordinator(
                "nobody",
                DescribeGroupsRequest(["nobody"]),
                DescribeGroupsResponse,
                error_of=lambda answer: int(answer.groups[0].error_code),
            )
            return said.groups[0].error_code
        (found,) = (await list_offsets(cluster, {TopicPartition(topic, 0): -1})).values()
        return 0 if isinstance(found, ListedOffset) else found

    async def question(cluster: Cluster) -> tuple[object, object]:
        first = await work(cluster, f"{topic}-before")
        if role == "controller":
            victim = (await cluster.describe()).controller_id
        elif role == "coordinator":
            victim = await cluster.find_coordinator("nobody")
        else:
            (victim,) = (await cluster.leaders_of([TopicPartition(topic, 0)])).values()
        penstock_cluster.kill(victim)
        return first, await work(cluster, f"{topic}-after")

    try:
        said = ask(question, penstock_cluster.bootstrap, default_api_timeout_ms="20000")
    finally:
        penstock_cluster.restore()
    assert said[0] == said[1], said


def test_several_at_once(ask: Asker, broker: InProcessBroker) -> None:
    async def question(cluster: Cluster) -> list[MetadataResponse]:
        return await cluster.each(cluster.metadata([]) for _ in range(5))

    assert len({answer.cluster_id for answer in ask(question, broker.bootstrap_servers)}) == 1


def test_an_older_version_on_request(ask: Asker, broker: InProcessBroker) -> None:
    """Version 1 has no cluster id."""

    async def question(cluster: Cluster) -> Any:
        return await cluster.ask_any(MetadataRequest([]), MetadataResponse, at_most=1)

    assert ask(question, broker.bootstrap_servers).cluster_id is None


def test_an_api_that_the_broker_lacks(ask: Asker, broker: InProcessBroker) -> None:
    async def question(cluster: Cluster) -> Any:
        return await cluster.ask_any(DescribeQuorumRequest(), DescribeQuorumResponse)

    with pytest.raises(UnsupportedVersionError, match="DESCRIBE_QUORUM") as caught:
        ask(question, broker.bootstrap_servers)
    assert caught.value.java_name == "org.apache.kafka.common.errors.UnsupportedVersionException"


def test_a_broker_that_has_just_gone_is_not_asked_for_its_versions(
    ask: Asker, broker: InProcessBroker
) -> None:
    """The others may still tell of it, and of it first."""

    async def question(cluster: Cluster) -> Any:
        view = await cluster.describe()
        gone = Node(-1, "127.0.0.1", free_port(), None)

        async def describe(**_: Any) -> ClusterView:
            return view._replace(nodes=(gone, *view.nodes))

        cluster.describe = describe  # type: ignore[method-assign]
        return await describe_cluster(cluster, include_fenced_brokers=True)

    described = ask(question, broker.bootstrap_servers, default_api_timeout_ms="5000")
    assert [each.node.id for each in described.nodes] == [0]


def test_the_second_of_the_bootstrap_servers(ask: Asker, broker: InProcessBroker) -> None:
    servers = f"127.0.0.1:{free_port()}, {broker.bootstrap_servers}"
    assert ask(Cluster.describe, servers).controller_id == 0


def test_nobody_there(ask: Asker, caplog: pytest.LogCaptureFixture) -> None:
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(BrokerUnreachableError, match=f"{address} .bootstrap.servers. cannot be reached"):
        ask(Cluster.describe, address, default_api_timeout_ms="300")
    assert address in caplog.text


def test_a_wrong_advertised_listener_is_named(ask: Asker) -> None:
    address, wrong = f"127.0.0.1:{free_port()}", free_port()
    listeners = {
        "listeners": f"PLAINTEXT://{address}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{wrong}",
    }
    with InProcessBroker(listeners):

        async def question(cluster: Cluster) -> Any:
            return await cluster.ask_node(0, MetadataRequest([]), MetadataResponse)

        with pytest.raises(BrokerUnreachableError) as caught:
            ask(question, address, default_api_timeout_ms="300")
        expected = f"127.0.0.1:{wrong}, the address of node 0 that {address} advertises"
        assert expected in str(caught.value)
        assert "advertised.listeners" in str(caught.value)


def test_somebody_who_does_not_answer(ask: Asker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(BrokerUnreachableError, match="no answer in time"):
            ask(Cluster.describe, address, default_api_timeout_ms="200", request_timeout_ms="200")


def test_somebody_who_hangs_up(ask: Asker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as rude:
        address = f"127.0.0.1:{rude.getsockname()[1]}"
        threading.Thread(target=_hang_up_until_closed, args=(rude,), daemon=True).start()
        with pytest.raises(BrokerUnreachableError):
            ask(Cluster.describe, address, default_api_timeout_ms="200")
        rude.shutdown(socket.SHUT_RDWR)


def _hang_up_until_closed(server: socket.socket) -> None:
    while True:
        try:
            server.accept()[0].close()
        except OSError:
            return


def test_the_broker_comes_back(ask: Asker) -> None:
    """A connection that broke off is made again, without anybody noticing."""
    with InProcessBroker() as broker:

        async def question(cluster: Cluster) -> tuple[str | None, str | None]:
            before = await cluster.metadata([])
            for connection in list(cluster._connections.values()):
                connection._channel.close()
            return before.cluster_id, (await cluster.metadata([])).cluster_id

        before, after = ask(question, broker.bootstrap_servers)
        assert before == after


def test_a_topic_that_is_not_there(ask: Asker, broker: InProcessBroker) -> None:
    async def question(cluster: Cluster) -> Any:
        return await cluster.leaders_of([TopicPartition("missing", 0)])

    with pytest.raises(KafkaTimeoutError, match="leaders for missing did not come about within 300 ms"):
        ask(question, broker.bootstrap_servers, default_api_timeout_ms="300")


def test_a_node_that_is_not_there(ask: Asker, broker: InProcessBroker) -> None:
    async def question(cluster: Cluster) -> Any:
        return await cluster.connection_to(77)

    with pytest.raises(Disconnected, match="node 77 is not in the cluster"):
        ask(question, broker.bootstrap_servers)


@pytest.mark.parametrize(
    ("configs", "complaint"),
    [
        ({}, "bootstrap.servers: missing"),
        ({"bootstrap.servers": "localhost"}, "bootstrap.servers: got 'localhost', takes host:port"),
        ({"bootstrap.servers": "localhost:x"}, "bootstrap.servers: got 'localhost:x'"),
        ({"bootstrap.servers": "a:1", "request.timeout.ms": "soon"}, "request.timeout.ms: got 'soon'"),
        (
            {"bootstrap.servers": "a:1", "security.protocol": "TLS"},
            "security.protocol: got 'TLS', takes PLAIN",
        ),
        (
            {"bootstrap.servers": "a:1", "security.protocol": "SASL_SSL", "sasl.mechanism": "MAGIC"},
            "sasl.mechanism: got 'MAGIC', takes PLAIN, SCRAM-SHA-256, SCRAM-SHA-512",
        ),
        (
            {"bootstrap.servers": "a:1", "security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"},
            "sasl.jaas.config: has no username and password",
        ),
        (
            {"bootstrap.servers": "a:1", "security.protocol": "SSL", "ssl.truststore.location": "a.jks"},
            "ssl.truststore.type: got JKS, takes PEM",
        ),
    ],
)
def test_bad_settings(configs: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ClusterConfig.from_configs(configs)
    assert complaint in str(caught.value)


def test_addresses() -> None:
    config = ClusterConfig.from_configs({"bootstrap.servers": "a:1, PLAINTEXT://b:2 ,[::1]:3"})
    assert [tuple(address) for address in config.bootstrap] == [("a", 1), ("b", 2), ("::1", 3)]
    assert str(config.bootstrap[2]) == "[::1]:3"


def test_every_code_has_its_error() -> None:
    from penstock.wire_client.errors import error_for, java_exception_name

    for code in ErrorCode:
        if code is not ErrorCode.NONE:
            error = error_for(code)
            assert isinstance(error, KafkaError)
            assert error.code is code
            assert str(error)
            assert error.java_name == java_exception_name(code)
    assert error_for(9999).code is ErrorCode.UNKNOWN_SERVER_ERROR
