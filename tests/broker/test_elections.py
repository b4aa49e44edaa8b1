"""Elections that somebody asks for, on three brokers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from penstock.controller.elections import ElectionType
from penstock.errors import ErrorCode
from penstock.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from tests.broker.asking import batch_of, produced, set_config, values_in
from tests.broker.conftest import only_penstock
from tests.support.penstock_cluster import PenstockCluster
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

pytestmark = [only_penstock, pytest.mark.processes]

Codes = dict[tuple[str, int], ErrorCode]


def elect(
    cluster: PenstockCluster,
    election_type: int,
    partitions: Sequence[tuple[str, Sequence[int]]] | None,
    asked: int | None = None,
    version: int | None = None,
) -> Codes:
    """The error of each partition that is told of."""
    wanted = None if partitions is None else [TopicPartitions(topic, each) for topic, each in partitions]
    number = cluster.controller() if asked is None else asked
    answer = cluster.ask(number, ElectLeadersRequest(election_type, wanted, 30_000), version)
    assert answer.error_code == 0, answer
    return {
        (topic.topic, one.partition_id): ErrorCode(one.error_code)
        for topic in answer.replica_election_results
        for one in topic.partition_result
    }


@pytest.fixture(scope="module")
@starts_processes
def led_by_another(penstock_cluster: PenstockCluster) -> PenstockCluster:
    """Partition 0 of each topic is to be led by broker 1 and is led by 2; partition 1 is led by 3 as it should be."""
    topics = ("asked", "by-any", "all", "old")
    for topic in topics:
        penstock_cluster.create(topic, [[1, 2, 3], [3, 1, 2]])
    penstock_cluster.stop(1)
    for topic in topics:
        penstock_cluster.wait_for_leaders(topic, [2, 3])
    penstock_cluster.start(1)
    penstock_cluster.wait_until_whole(topics)
    return penstock_cluster


def test_preferred_leaders_of_some_partitions(led_by_another: PenstockCluster) -> None:
    cluster = led_by_another
    epoch = cluster.partitions("asked")[0].leader_epoch
    said = elect(cluster, ElectionType.PREFERRED, [("asked", [0, 1, 7]), ("nothing", [0])])
    assert said == {
        ("asked", 0): ErrorCode.NONE,
        ("asked", 1): ErrorCode.ELECTION_NOT_NEEDED,
        ("asked", 7): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ("nothing", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    cluster.wait_for_leaders("asked", [1, 3])
    assert cluster.partitions("asked")[0].leader_epoch == epoch + 1
    with WireClient(cluster.address(1)) as client:
        produced(client, "asked", batch_of(b"bread"))
        assert values_in(client, "asked") == [b"bread"]


def test_a_broker_that_is_not_the_controller_passes_it_on(led_by_another: PenstockCluster) -> None:
    cluster = led_by_another
    said = elect(
        cluster, ElectionType.PREFERRED, [("by-any", [0])], asked=cluster.not_the_controller(), version=1
    )
    assert said == {("by-any", 0): ErrorCode.NONE}
    cluster.wait_for_leaders("by-any", [1, 3])


def test_the_oldest_version_elects_preferred_leaders(led_by_another: PenstockCluster) -> None:
    said = elect(led_by_another, ElectionType.UNCLEAN, [("old", [0])], version=0)  # the type is not sent
    assert said == {("old", 0): ErrorCode.NONE}
    led_by_another.wait_for_leaders("old", [1, 3])


def test_preferred_leaders_of_all_partitions(led_by_another: PenstockCluster) -> None:
    said = elect(led_by_another, ElectionType.PREFERRED, None)
    assert said[("all", 0)] == ErrorCode.NONE
    assert set(said.values()) == {ErrorCode.NONE}, "those that need none are left out"
    assert elect(led_by_another, ElectionType.PREFERRED, None) == {}
    assert elect(led_by_another, ElectionType.UNCLEAN, None) == {}


def test_an_unknown_type(penstock_cluster: PenstockCluster) -> None:
    request = ElectLeadersRequest(7, [TopicPartitions("asked", [0])], 30_000)
    answer: Any = penstock_cluster.ask(penstock_cluster.not_the_controller(), request)
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert answer.replica_election_results[0].partition_result[0].error_code == ErrorCode.INVALID_REQUEST


def test_unclean_leaders(penstock_cluster: PenstockCluster) -> None:
    """Of both topics only broker 1 is in sync, and away; one of them is allowed to be led by another, on the way."""
    cluster, topics = penstock_cluster, ("elected", "allowed")
    for topic in topics:
        cluster.create(topic, [[1, 2]])
    cluster.stop(2)
    with WireClient(cluster.address(1)) as client:
        for topic in topics:
            produced(client, topic, batch_of(b"only-at-1"))
    cluster.stop(1)
    for topic in topics:
        cluster.wait_for_leaders(topic, [-1])
    everything = [(topic, [0]) for topic in topics]
    said = elect(cluster, ElectionType.UNCLEAN, everything, asked=3)
    assert set(said.values()) == {ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE}
    cluster.start(2)
    said = elect(cluster, ElectionType.PREFERRED, everything, asked=3)
    assert set(said.values()) == {ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE}
    cluster.wait_until_registered(2)
    assert elect(cluster, ElectionType.UNCLEAN, [("elected", [0])], asked=3) == {
        ("elected", 0): ErrorCode.NONE
    }
    cluster.wait_for_leaders("elected", [2])
    assert cluster.leaders("allowed") == [-1]
    with WireClient(cluster.address(3)) as client:
        set_config(client, "allowed", "unclean.leader.election.enable", "true")
    cluster.wait_for_leaders("allowed", [2])
    cluster.start(1)
    cluster.wait_until_whole(topics)
    for topic in topics:
        assert cluster.leaders(topic) == [2]
        with WireClient(cluster.address(2)) as client:
            assert values_in(client, topic) == []
