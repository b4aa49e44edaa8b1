"""Brokers with two listeners: whoever comes by one of them is sent to others by the same."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import ErrorCode
from penstock.wire.messages.describe_cluster import DescribeClusterRequest
from penstock.wire.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from penstock.wire.messages.find_coordinator import FindCoordinatorRequest
from penstock.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from penstock.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.broker.asking import batch_of, metadata, produced, topic_id
from tests.broker.conftest import only_penstock
from tests.support.penstock_cluster import PenstockCluster
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

pytestmark = [only_penstock, pytest.mark.processes]

BY_NAME = 12
GROUP = 0


@pytest.fixture(scope="module")
@starts_processes
def orders(penstock_cluster: PenstockCluster) -> PenstockCluster:
    """A topic that broker 1 leads, 2 follows, and 3 has nothing of."""
    penstock_cluster.create("orders", [[1, 2]])
    with WireClient(penstock_cluster.address(1)) as client:
        produced(client, "orders", batch_of(b"bread", b"milk"))
    return penstock_cluster


@pytest.mark.parametrize("listener", ["EXTERNAL", "INTERNAL"])
def test_addresses_are_those_of_the_listener(orders: PenstockCluster, listener: str) -> None:
    ports = orders.ports if listener == "EXTERNAL" else orders.internal_ports
    with WireClient(f"127.0.0.1:{ports[3]}") as client:
        said = metadata(client)
        assert {each.node_id: each.port for each in said.brokers} == ports
        assert {each.node_id: each.rack for each in said.brokers} == {1: "left", 2: "right", 3: "right"}
        described = client.send(DescribeClusterRequest())
        assert {each.broker_id: each.port for each in described.brokers} == ports

        def coordinator() -> Any:
            (found,) = client.send(
                FindCoordinatorRequest(key_type=GROUP, coordinator_keys=["g"])
            ).coordinators
            return None if found.error_code else found

        found = wait_for(coordinator, what="a coordinator")
        assert found.port == ports[found.node_id]


# the wrong broker


def test_produce_says_where_the_leader_is(orders: PenstockCluster) -> None:
    for asked in (2, 3):
        with WireClient(orders.address(asked)) as client:
            data = [PartitionProduceData(0, batch_of(b"eggs"))]
            wanted = TopicProduceData(topic_id=topic_id(client, "orders"), partition_data=data)
            answer = client.send(ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=[wanted]))
        (partition,) = answer.responses[0].partition_responses
        assert partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert partition.current_leader.leader_id == 1
        assert [(node.node_id, node.port, node.rack) for node in answer.node_endpoints] == [
            (1, orders.ports[1], "left")
        ]


def fetched(orders: PenstockCluster, asked: int, epoch: int = -1, version: int | None = None) -> Any:
    with WireClient(orders.address(asked)) as client:
        wanted = FetchPartition(partition=0, current_leader_epoch=epoch, partition_max_bytes=1000)
        topic = FetchTopic("orders", topic_id(client, "orders"), [wanted])
        return client.send(FetchRequest(max_wait_ms=0, min_bytes=1, topics=[topic]), version)


def test_fetch_says_where_the_leader_is(orders: PenstockCluster) -> None:
    answer = fetched(orders, 3)
    (partition,) = answer.responses[0].partitions
    assert partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (partition.current_leader.leader_id, partition.current_leader.leader_epoch) == (1, 0)
    assert [(node.node_id, node.port) for node in answer.node_endpoints] == [(1, orders.ports[1])]
    (partition,) = fetched(orders, 3, version=BY_NAME).responses[0].partitions
    assert partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_epochs_of_a_client_that_is_behind_or_ahead(orders: PenstockCluster) -> None:
    epoch = orders.partitions("orders")[0].leader_epoch
    orders.stop(1)
    orders.wait_for_leaders("orders", [2])
    away = orders.partitions("orders")[0]
    assert (list(away.replica_nodes), list(away.offline_replicas)) == ([1, 2], [1])
    said = orders.ask(3, DescribeTopicPartitionsRequest([TopicRequest("orders")], 100))
    (described,) = said.topics[0].partitions
    assert (described.leader_id, list(described.offline_replicas)) == (2, [1])
    assert (list(described.eligible_leader_replicas), list(described.last_known_elr)) == ([], [])

    behind = fetched(orders, 2, epoch)
    (partition,) = behind.responses[0].partitions
    assert partition.error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert (partition.current_leader.leader_id, partition.current_leader.leader_epoch) == (2, epoch + 1)
    assert [node.port for node in behind.node_endpoints] == [orders.ports[2]]
    (partition,) = fetched(orders, 2, epoch + 2).responses[0].partitions
    assert partition.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH

    with WireClient(orders.address(2)) as client:
        produced(client, "orders", batch_of(b"eggs"))
    assert end_of_epoch(orders, 2, epoch, epoch) == (ErrorCode.FENCED_LEADER_EPOCH, -1, -1)
    assert end_of_epoch(orders, 2, epoch + 1, epoch) == (ErrorCode.NONE, epoch, 2)
    assert end_of_epoch(orders, 2, epoch + 1, epoch + 1) == (ErrorCode.NONE, epoch + 1, 3)
    assert end_of_epoch(orders, 3, -1, epoch) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1, -1)
    orders.start(1)
    orders.wait_until_whole(["orders"])
    assert end_of_epoch(orders, 1, -1, epoch) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1, -1)


def end_of_epoch(orders: PenstockCluster, asked: int, current_epoch: int, epoch: int) -> tuple[int, int, int]:
    wanted = OffsetForLeaderTopic("orders", [OffsetForLeaderPartition(0, current_epoch, epoch)])
    answer = orders.ask(asked, OffsetForLeaderEpochRequest(topics=[wanted]))
    (found,) = answer.topics[0].partitions
    return found.error_code, found.leader_epoch, found.end_offset
