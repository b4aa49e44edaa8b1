"""What the table of docs/operating/cluster.md promises for acks, min.insync.replicas and unclean elections, and what it
does not promise."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from penstock.testing import Cluster
from tests.support.cluster_fixture import PEER
from tests.support.our_tools import our_tools
from tests.support.processes import wait_for
from tools.suite.processes import starts_processes

pytestmark = [
    pytest.mark.processes,
    pytest.mark.faults,
    pytest.mark.timeout(300),
    pytest.mark.skipif(PEER == "apache", reason="it is about clusters of Penstock"),
]

PATIENCE_SECONDS = 60.0
SETTINGS = {"replica.lag.time.max.ms": 30_000}
"""Kafka's own, so that what is paused for a moment stays in sync."""
IMPATIENT = {"socket.timeout.ms": 1_000, "topic.metadata.refresh.interval.ms": 500}


@pytest.fixture(scope="module")
@starts_processes
def running() -> Iterator[Cluster]:
    with Cluster(3, SETTINGS) as cluster:
        yield cluster


@pytest.fixture
def cluster(running: Cluster) -> Iterator[Cluster]:
    yield running
    running.restore()


def produce(cluster: Cluster, topic: str, value: str, acks: str = "all") -> KafkaError | None:
    """Why it is not acknowledged, if so."""
    told: list[KafkaError | None] = []
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap_servers, "acks": acks, "log_level": 0, **IMPATIENT}
    )
    producer.produce(topic, value, partition=0, on_delivery=lambda error, _: told.append(error))
    producer.flush(PATIENCE_SECONDS)
    (error,) = told
    return error


def refused_with(cluster: Cluster, topic: str, value: str) -> str:
    """The broker's own words, which a producer that tries again does not hear."""
    told: list[KafkaError | None] = []
    once = {"acks": "all", "retries": 0, "log_level": 0}
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, **once, **IMPATIENT})
    producer.produce(topic, value, partition=0, on_delivery=lambda error, _: told.append(error))
    producer.flush(PATIENCE_SECONDS)
    (error,) = told
    return "" if error is None else error.name()


def values(cluster: Cluster, topic: str) -> list[str]:
    consumer = Consumer(
        {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "unused", "log_level": 0, **IMPATIENT}
    )
    place = TopicPartition(topic, 0, 0)
    try:
        _, end = consumer.get_watermark_offsets(place, PATIENCE_SECONDS)
        consumer.assign([place])
        return [(message.value() or b"").decode() for message in consumer.consume(end, PATIENCE_SECONDS)]
    finally:
        consumer.close()


def followers_of(cluster: Cluster, leader: int) -> list[int]:
    return [number for number in cluster.numbers if number != leader]


def wait_until_nobody_leads(cluster: Cluster, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    wait_for(
        lambda: admin.list_topics(topic, PATIENCE_SECONDS).topics[topic].partitions[0].leader == -1,
        PATIENCE_SECONDS,
        "the partition to have no leader",
    )


def test_with_two_in_sync_one_broker_costs_nothing_and_two_cost_writes(cluster: Cluster) -> None:
    cluster.create_topic("two")
    assert produce(cluster, "two", "whole") is None
    first = cluster.leader("two")
    cluster.kill(first)
    assert produce(cluster, "two", "one is lost") is None
    second = cluster.leader("two")
    cluster.kill(second)
    wait_for(
        lambda: refused_with(cluster, "two", "refused") == "NOT_ENOUGH_REPLICAS",
        PATIENCE_SECONDS,
        "writes to be refused",
    )
    assert values(cluster, "two") == ["whole", "one is lost"]
    cluster.start(first)
    assert produce(cluster, "two", "one is back") is None
    cluster.start(second)
    cluster.wait_until_in_sync("two")
    assert [each for each in values(cluster, "two") if each != "refused"] == [
        "whole",
        "one is lost",
        "one is back",
    ]


def test_with_one_in_sync_a_record_may_be_on_the_leader_alone(cluster: Cluster) -> None:
    """It is away with it and comes back with it; an unclean election gives it up."""
    cluster.create_topic("one", configs={"min.insync.replicas": 1})
    leader = cluster.leader("one")
    for number in followers_of(cluster, leader):
        cluster.stop(number)
    assert produce(cluster, "one", "on one") is None
    cluster.kill(leader)
    for number in followers_of(cluster, leader):
        cluster.start(number)
    wait_until_nobody_leads(cluster, "one")
    cluster.start(leader)
    assert cluster.leader("one") == leader
    assert values(cluster, "one") == ["on one"]
    cluster.wait_until_in_sync("one")

    for number in followers_of(cluster, leader):
        cluster.stop(number)
    assert produce(cluster, "one", "given up") is None
    cluster.kill(leader)
    for number in followers_of(cluster, leader):
        cluster.start(number)
    wait_until_nobody_leads(cluster, "one")
    words = ["--bootstrap-server", cluster.bootstrap_servers, "--election-type", "unclean"]
    words += ["--topic", "one", "--partition", "0"]
    done = our_tools().run("penstock.cli.tools.kafka_leader_election", words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert cluster.leader("one") != leader
    assert produce(cluster, "one", "instead") is None
    cluster.start(leader)
    cluster.wait_until_in_sync("one")
    assert values(cluster, "one") == ["on one", "instead"]


def test_with_acks_1_what_followers_have_not_fetched_is_lost(cluster: Cluster) -> None:
    cluster.create_topic("acks-1")
    assert produce(cluster, "acks-1", "fetched") is None
    leader = cluster.leader("acks-1")
    followers = followers_of(cluster, leader)
    cluster.wait_until_in_sync("acks-1")
    cluster.partition(leader, *followers)
    assert produce(cluster, "acks-1", "not fetched", acks="1") is None
    cluster.kill(leader)
    assert cluster.leader("acks-1") in followers
    cluster.heal()
    cluster.start(leader)
    cluster.wait_until_in_sync("acks-1")
    assert values(cluster, "acks-1") == ["fetched"]
