"""`penstock reassign-partitions --execute --wait`, on three brokers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from penstock.cli.tool_commands.reassignment_wait import all_brokers_show
from penstock.types import TopicPartition
from penstock.wire_client import ClusterConfig, blocking_cluster, now
from tests.cli.running import PENSTOCK, Cli, Terminal
from tests.support.penstock_cluster import PenstockCluster

pytestmark = pytest.mark.processes

THROTTLE = "20000"


def test_it_stays_until_all_has_moved(penstock_cluster: PenstockCluster, tmp_path: Path) -> None:
    topic, cli = "waited-for", Cli(penstock_cluster.bootstrap, tmp_path)
    penstock_cluster.create(topic, [[1], [1]])
    producer = Producer({"bootstrap.servers": penstock_cluster.bootstrap, "batch.size": 4096, "linger.ms": 0})
    for _ in range(50):
        producer.produce(topic, b"x" * 1024, partition=0)
    assert producer.flush(30) == 0
    plan = {
        "version": 1,
        "partitions": [{"topic": topic, "partition": each, "replicas": [2 + each]} for each in range(2)],
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    words = [
        "reassign-partitions",
        "--execute",
        "--reassignment-json-file",
        "plan.json",
        "--throttle",
        THROTTLE,
    ]
    with Terminal([*PENSTOCK, *words, "--wait"], cli.environment(COLUMNS="120"), tmp_path) as terminal:
        shown = terminal.read_to_end()
    assert terminal.process.returncode == 0, shown
    assert "moving partitions  [" in shown
    assert f"Reassignment of partition {topic}-0 is completed." in shown
    assert "Clearing broker-level throttles" in shown
    found = (
        AdminClient({"bootstrap.servers": penstock_cluster.bootstrap}).list_topics(topic, 30).topics[topic]
    )
    assert [found.partitions[each].replicas for each in range(2)] == [[2], [3]]


def test_all_brokers_have_to_show_what_has_moved(penstock_cluster: PenstockCluster) -> None:
    topic = "shown-by-all"
    penstock_cluster.create(topic, [[1, 2], [3, 2]])
    as_it_is = {TopicPartition(topic, 0): [1, 2], TopicPartition(topic, 1): [3, 2]}
    config = ClusterConfig.from_configs({"bootstrap.servers": penstock_cluster.bootstrap})
    with blocking_cluster(config) as cluster:
        assert now(all_brokers_show(cluster, as_it_is))
        for partition, replicas in [(0, [2]), (1, [2, 3]), (2, [1])]:
            other = {**as_it_is, TopicPartition(topic, partition): replicas}
            assert not now(all_brokers_show(cluster, other))
