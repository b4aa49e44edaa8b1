"""Followers that a leader can't hear: what is written waits for them no longer than it has to, and who counts."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from penstock.errors import ErrorCode
from penstock.testing import Cluster
from tests.broker.asking import batch_of, produce, produced, values_in
from tests.broker.conftest import only_penstock
from tests.support.penstock_cluster import PenstockCluster, create_with_replicas
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

pytestmark = [only_penstock, pytest.mark.processes]

LAG_MS = 4000
BETWEEN_CHECKS_SECONDS = LAG_MS / 2 / 1000
PARTITIONS = 4


@pytest.fixture
@starts_processes
def pair() -> Iterator[Cluster]:
    settings = {"replica.lag.time.max.ms": LAG_MS, "min.insync.replicas": 1}
    with Cluster(2, settings) as running:
        yield running


def test_who_is_silent_holds_up_one_write_and_not_each(pair: Cluster) -> None:
    """A producer of ordered records sends on only when it has the answers: its partitions wait one after the other."""
    with WireClient(pair.address(1)) as client:
        create_with_replicas(client, "orders", [[1, 2]] * PARTITIONS)
        pair.wait_until_in_sync("orders")
        pair.partition(1, 2)
        seconds = []
        for partition in range(PARTITIONS):
            began = time.monotonic()
            produced(client, "orders", batch_of(b"bread"), partition)
            seconds.append(time.monotonic() - began)
    first, *others = seconds
    assert first > BETWEEN_CHECKS_SECONDS, "the follower is given time"
    assert sum(others) < BETWEEN_CHECKS_SECONDS, seconds


def test_too_few_in_sync_after_and_before_the_append(penstock_cluster: PenstockCluster) -> None:
    """The follower dies: what was taken while it counted is not acknowledged when it counts no more."""
    cluster = penstock_cluster
    cluster.create("guarded", [[1, 2]], min_insync_replicas="2")
    try:
        with WireClient(cluster.address(1)) as client:
            produced(client, "guarded", batch_of(b"bread"))
            cluster.kill(2)
            taken = produce(client, "guarded", batch_of(b"milk"))
            assert taken.error_code == ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
            assert produce(client, "guarded", batch_of(b"eggs")).error_code == ErrorCode.NOT_ENOUGH_REPLICAS
            assert produce(client, "guarded", batch_of(b"salt"), acks=1).error_code == ErrorCode.NONE
            assert values_in(client, "guarded") == [b"bread", b"milk", b"salt"]
    finally:
        cluster.restore()
    with WireClient(cluster.address(1)) as client:
        produced(client, "guarded", batch_of(b"eggs"))
