"""The cluster of the shipped kit: its faults are real, and it is whole again when it says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from penstock.errors import ConfigError
from penstock.testing import Cluster, ClusterTrouble
from penstock.wire_client.errors import KafkaError
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

PATIENCE_SECONDS = 60.0
SOON_MS = 1_500
IMPATIENT = {"socket.timeout.ms": 1_000, "topic.metadata.refresh.interval.ms": 500}
"""A broker that is cut off takes requests and can't carry them out: a client is to look for another one soon."""


@pytest.fixture(scope="module")
@starts_processes
def running() -> Iterator[Cluster]:
    with Cluster(brokers=3, settings={"num.partitions": 2}) as cluster:
        yield cluster


@pytest.fixture
def cluster(running: Cluster) -> Iterator[Cluster]:
    yield running
    running.restore()


def produce(cluster: Cluster, topic: str, timeout_ms: float = PATIENCE_SECONDS * 1000) -> bool:
    """Whether it is acknowledged by as many as have to be in sync."""
    errors: list[object] = []
    settings = {"acks": "all", "message.timeout.ms": int(timeout_ms), "log_level": 0, **IMPATIENT}
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, **settings})
    producer.produce(topic, b"bread", partition=0, on_delivery=lambda error, _: errors.append(error))
    producer.flush(PATIENCE_SECONDS)
    return [error is None for error in errors] == [True]


def test_a_leader_that_is_killed_is_replaced(cluster: Cluster) -> None:
    cluster.create_topic("killed")
    leader = cluster.leader("killed")
    cluster.kill(leader)
    assert not cluster.processes[leader].alive
    assert produce(cluster, "killed")
    assert cluster.leader("killed") != leader
    with pytest.raises(ClusterTrouble, match=f"broker {leader} does not run"):
        cluster.kill(leader)
    with pytest.raises(ClusterTrouble, match=f"broker {leader} does not run"):
        cluster.wait_until_in_sync()
    cluster.start(leader)
    cluster.wait_until_in_sync()
    assert cluster.controller() in cluster.numbers


def test_a_broker_that_is_stopped_hands_over(cluster: Cluster) -> None:
    cluster.create_topic("stopped")
    leader = cluster.leader("stopped")
    cluster.stop(leader)
    assert cluster.processes[leader].returncode == 0
    assert produce(cluster, "stopped", SOON_MS * 4)


def test_a_broker_that_is_paused_answers_later(cluster: Cluster) -> None:
    cluster.create_topic("paused", replication_factor=1)
    leader = cluster.leader("paused")
    cluster.pause(leader)
    with pytest.raises(ClusterTrouble, match=f"broker {leader} is paused"):
        cluster.wait_until_in_sync()
    assert not produce(cluster, "paused", SOON_MS)
    cluster.resume(leader)
    assert produce(cluster, "paused")


def test_a_leader_without_followers_acknowledges_nothing(cluster: Cluster) -> None:
    """Reached by clients only, it is no leader any more; by ZooKeeper as well, it is, and what it has is not enough."""
    cluster.create_topic("cut")
    leader = cluster.leader("cut")
    others = [number for number in cluster.numbers if number != leader]
    cluster.partition(leader, *others)
    assert not produce(cluster, "cut", SOON_MS)
    cluster.heal()
    cluster.wait_until_in_sync()
    assert produce(cluster, "cut")
    leader = cluster.leader("cut")
    cluster.partition(leader)
    assert produce(cluster, "cut")
    cluster.heal()
    cluster.wait_until_in_sync()
    assert cluster.leader("cut") != leader


def test_records_flow_without_zookeeper(cluster: Cluster) -> None:
    cluster.create_topic("away")
    cluster.zookeeper.kill()
    assert produce(cluster, "away")
    cluster.zookeeper.start()


def test_what_there_is_not_is_refused(cluster: Cluster) -> None:
    with pytest.raises(ClusterTrouble, match=r"got broker 4; there are 1, 2, 3"):
        cluster.kill(4)
    with pytest.raises(ClusterTrouble, match=r"broker 2 runs already"):
        cluster.start(2)
    with pytest.raises(ClusterTrouble, match=r"broker 2 has no link to itself"):
        cluster.cut(2, 2)
    with pytest.raises(KafkaError, match="4 cannot be reached because only 3"):
        cluster.create_topic("too-many", replication_factor=4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num.partitons": 3}, "num.partitons is no setting; did you mean num.partitions"),
        ({"log.dirs": "/tmp"}, "log.dirs: got '/tmp'; is each broker's own"),
    ],
)
def test_settings_that_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises((ConfigError, ClusterTrouble), match=message):
        Cluster(settings=settings)


def test_a_broker_that_does_not_start_says_why() -> None:
    with pytest.raises(ClusterTrouble, match=r"(?s)broker 1 has ended:.*num.partitions: got '0'"):
        Cluster(brokers=1, settings={"num.partitions": 0}).__enter__()


def test_a_directory_that_is_given_stays(tmp_path: Path) -> None:
    place = tmp_path / "place"
    with Cluster(brokers=1, directory=place) as cluster:
        cluster.create_topic("kept")
        assert (cluster.log_dir(1) / "kept-0").is_dir()
    assert "ready" in (place / "broker-1.log").read_text()
    assert (place / "broker-1" / "kept-0").is_dir()
