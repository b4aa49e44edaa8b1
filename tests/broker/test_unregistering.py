"""Brokers that are away stay known until somebody has the cluster forget them."""

from __future__ import annotations

import pytest

from penstock.errors import ErrorCode
from penstock.wire.messages.describe_cluster import DescribeClusterRequest
from penstock.wire.messages.unregister_broker import UnregisterBrokerRequest
from tests.broker.conftest import only_penstock
from tests.support.penstock_cluster import PenstockCluster

pytestmark = [only_penstock, pytest.mark.processes]


def listed(cluster: PenstockCluster, *, with_fenced: bool) -> dict[int, tuple[int, str, bool]]:
    """Port, rack and whether it is away, of each broker that broker 3 tells of."""
    answer = cluster.ask(3, DescribeClusterRequest(include_fenced_brokers=with_fenced))
    assert answer.error_code == 0, answer
    return {each.broker_id: (each.port, each.rack, each.is_fenced) for each in answer.brokers}


def unregister(cluster: PenstockCluster, number: int, asked: int) -> tuple[int, str]:
    answer = cluster.ask(asked, UnregisterBrokerRequest(number))
    return answer.error_code, answer.error_message


def test_a_broker_that_is_away(penstock_cluster: PenstockCluster) -> None:
    cluster = penstock_cluster
    cluster.create("kept", [[1, 2]])
    ports = cluster.ports
    cluster.stop(1)
    away = {1: (ports[1], "left", True)}
    others = {2: (ports[2], "right", False), 3: (ports[3], "right", False)}
    assert listed(cluster, with_fenced=False) == others
    assert listed(cluster, with_fenced=True) == {**away, **others}
    asked = next(number for number in (2, 3) if number != cluster.controller())
    assert unregister(cluster, 1, asked) == (ErrorCode.NONE, None)
    assert listed(cluster, with_fenced=True) == others
    assert unregister(cluster, 1, asked) == (
        ErrorCode.BROKER_ID_NOT_REGISTERED,
        "Broker ID 1 is not currently registered",
    )
    assert list(cluster.partitions("kept")[0].replica_nodes) == [1, 2]
    cluster.start(1)
    cluster.wait_until_whole(["kept"])
    assert listed(cluster, with_fenced=True) == {1: (ports[1], "left", False), **others}


def test_a_broker_that_runs(penstock_cluster: PenstockCluster) -> None:
    code, message = unregister(penstock_cluster, 2, penstock_cluster.not_the_controller())
    assert code == ErrorCode.INVALID_REQUEST
    assert "Broker ID 2 is running; stop it first" in message
    assert 2 in listed(penstock_cluster, with_fenced=False)


def test_a_broker_that_nobody_knows(penstock_cluster: PenstockCluster) -> None:
    assert unregister(penstock_cluster, 77, 3)[0] == ErrorCode.BROKER_ID_NOT_REGISTERED
