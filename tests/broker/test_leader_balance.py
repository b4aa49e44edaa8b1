"""Two brokers: one that was away leads again what it is to lead, by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.broker.asking import metadata
from tests.broker.conftest import only_penstock
from tests.faults.broker_cluster import BrokerCluster, EmbeddedZooKeeper
from tests.support.penstock_cluster import create_with_replicas
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

pytestmark = [only_penstock, pytest.mark.processes]

SETTINGS = {"min.insync.replicas": "1", "leader.imbalance.check.interval.seconds": "1"}


def test_leaders_come_back(tmp_path: Path) -> None:
    zookeeper = EmbeddedZooKeeper(tmp_path / "zookeeper")
    zookeeper.start()
    try:
        with BrokerCluster(tmp_path / "brokers", zookeeper.connect, brokers=2, settings=SETTINGS) as cluster:
            staying = f"127.0.0.1:{cluster.ports[2]}"

            def leaders() -> list[int]:
                with WireClient(staying) as client:
                    (topic,) = metadata(client, "orders").topics
                return [partition.leader_id for partition in topic.partitions]

            with WireClient(staying) as client:
                create_with_replicas(client, "orders", [[1, 2], [2, 1]])
            cluster.wait_until_whole(["orders"])
            assert leaders() == [1, 2]
            cluster.stop(1)
            wait_for(lambda: leaders() == [2, 2], what="the other one to lead")
            cluster.start(1)
            wait_for(lambda: leaders() == [1, 2], what="the balance")
    finally:
        zookeeper.kill()
