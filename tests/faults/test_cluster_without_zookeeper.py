"""The embedded ZooKeeper is away for longer than sessions last: three brokers serve produce and fetch meanwhile, as if
nothing had happened, and are one cluster again when it is back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kazoo.client import KazooClient

from tests.broker.asking import create_topic
from tests.faults.broker_cluster import PATIENCE_SECONDS, SESSION_TIMEOUT_MS, BrokerCluster, EmbeddedZooKeeper
from tests.faults.cluster_clients import Reader
from tests.faults.history import require_none
from tests.faults.load import Load, read_log
from tests.support.cluster_fixture import PEER
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

PARTITIONS = 3
SECONDS_AWAY = 1.5 * SESSION_TIMEOUT_MS / 1000
LONGEST_SILENCE_SECONDS = 1.0
MOST_SECONDS_TO_THE_NEXT_WRITE = SESSION_TIMEOUT_MS / 1000 + 2

pytestmark = [
    pytest.mark.processes,
    pytest.mark.faults,
    pytest.mark.timeout(300),
    pytest.mark.skipif(PEER == "apache", reason="Apache Kafka runs without ZooKeeper"),
]


@pytest.fixture
@starts_processes
def zookeeper(tmp_path: Path) -> Iterator[EmbeddedZooKeeper]:
    running = EmbeddedZooKeeper(tmp_path / "zookeeper")
    running.start()
    yield running
    running.kill()


@pytest.fixture
@starts_processes
def cluster(zookeeper: EmbeddedZooKeeper, tmp_path: Path) -> Iterator[BrokerCluster]:
    with BrokerCluster(tmp_path / "brokers", zookeeper.connect) as running:
        with WireClient(running.bootstrap.partition(",")[0]) as client:
            assert create_topic(client, "foods", PARTITIONS, replicas=3).error_code == 0
        running.wait_until_whole(["foods"])
        yield running


def registered(zookeeper: EmbeddedZooKeeper) -> list[str]:
    client = KazooClient(zookeeper.connect)
    client.start()
    try:
        return sorted(client.get_children("/brokers/ids"))
    finally:
        client.stop()
        client.close()


def wait_until_read_on(reader: Reader) -> float:
    """How long it took."""
    began, count = time.monotonic(), len(reader.steps)
    wait_for(lambda: len(reader.steps) > count, PATIENCE_SECONDS, "records to be read")
    return time.monotonic() - began


def test_records_flow_while_zookeeper_is_away(cluster: BrokerCluster, zookeeper: EmbeddedZooKeeper) -> None:
    load = Load(
        cluster.bootstrap,
        "foods",
        PARTITIONS,
        idempotent=True,
        pause_seconds=0.1,
        settings={"topic.metadata.refresh.interval.ms": 500},
    )
    reader = Reader(cluster.bootstrap, "foods", PARTITIONS, "read_uncommitted")
    with reader, load:
        load.wait_for_progress_everywhere()
        wait_until_read_on(reader)
        load.begin_to_measure()
        zookeeper.kill()
        ends_at = time.monotonic() + SECONDS_AWAY
        while time.monotonic() < ends_at:
            load.wait_for_progress_everywhere()
            assert wait_until_read_on(reader) < LONGEST_SILENCE_SECONDS
        zookeeper.start()
        wait_for(lambda: registered(zookeeper) == ["1", "2", "3"], PATIENCE_SECONDS, "three brokers")
        cluster.wait_until_whole(["foods"])
        load.wait_for_progress_everywhere()
        assert load.longest_silence_seconds() < LONGEST_SILENCE_SECONDS
        with WireClient(cluster.bootstrap.partition(",")[0]) as client:
            assert create_topic(client, "drinks", PARTITIONS, replicas=3).error_code == 0
        load.begin_to_measure()
        cluster.kill(1)
        load.wait_for_progress_everywhere()
        assert load.longest_silence_seconds() < MOST_SECONDS_TO_THE_NEXT_WRITE
        cluster.start(1)
        cluster.wait_until_whole(["foods", "drinks"])
        load.finish()
        logs = {index: read_log(cluster.bootstrap, "foods", index) for index in range(PARTITIONS)}
        reader.wait_until_read(logs)
        reader.finish()
    load.check(cluster.bootstrap)
    require_none(reader.find(logs))
