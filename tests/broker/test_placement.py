"""New partitions on three brokers: one is alone in its rack, so it has a replica of everything that has two."""

from __future__ import annotations

import pytest

from penstock.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.broker.asking import create_topic
from tests.broker.conftest import only_penstock
from tests.support.penstock_cluster import PenstockCluster
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

pytestmark = [only_penstock, pytest.mark.processes]


def replicas(cluster: PenstockCluster, topic: str) -> list[list[int]]:
    found = cluster.partitions(topic)
    return [list(found[index].replica_nodes) for index in sorted(found)]


def are_in_both_racks(placed: list[list[int]]) -> bool:
    return all(1 in each and len(set(each)) == 2 for each in placed)


def test_created_grown_and_created_on_the_way(penstock_cluster: PenstockCluster) -> None:
    cluster = penstock_cluster
    elsewhere = cluster.not_the_controller()
    with WireClient(cluster.address(elsewhere)) as client:
        assert create_topic(client, "placed", 6, replicas=2).error_code == 0
        grown = client.send(
            CreatePartitionsRequest(
                [CreatePartitionsTopic("placed", 12, assignments=None)], timeout_ms=30_000
            )
        )
        assert grown.results[0].error_code == 0, grown
        client.send(MetadataRequest([MetadataRequestTopic(name="asked-for")], allow_auto_topic_creation=True))
    wait_for(lambda: len(replicas(cluster, "placed")) == 12, what="all brokers to know")
    placed = replicas(cluster, "placed")
    assert are_in_both_racks(placed), placed
    assert sorted(each[0] for each in placed) == [1] * 4 + [2] * 4 + [3] * 4
    wait_for(lambda: bool(replicas(cluster, "asked-for")), what="the topic that was asked for")
    assert are_in_both_racks(replicas(cluster, "asked-for"))
