"""What kafka-topics --describe says of partitions that are not well, or under way: hard to come by in a cluster."""

from __future__ import annotations

import pytest

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.topics.describe import Report
from penstock.cli.tools.topics.options import parse_options
from penstock.client.admin.configs import ConfigEntry, ConfigSource
from penstock.client.admin.reassignments import PartitionReassignment
from penstock.client.admin.topic_descriptions import TopicDescription, TopicPartitionInfo
from penstock.types import TopicPartition
from penstock.wire_client import Node

NODES = {number: Node(number, "localhost", 9090 + number) for number in range(1, 5)}
MIN_ISR = ConfigEntry("min.insync.replicas", "2", ConfigSource.DEFAULT_CONFIG, False, False, (), None)


def partition(number: int, leader: int | None, replicas: list[int], isr: list[int]) -> TopicPartitionInfo:
    named = [tuple(NODES[each] for each in ids) for ids in (replicas, isr)]
    return TopicPartitionInfo(number, NODES[leader] if leader else None, *named, elr=(), last_known_elr=None)


HEALTHY = partition(0, 1, [1, 2, 3], [1, 2, 3])
LAGGING = partition(1, 1, [1, 2, 3], [1, 2])
ALONE = partition(2, 3, [1, 2, 3], [3])
LEADERLESS = partition(3, None, [1, 2], [])
ON_A_DEAD_BROKER = partition(4, 4, [4, 1], [4, 1])
TOPIC = TopicDescription("orders", "A" * 22, False, (HEALTHY, LAGGING, ALONE, LEADERLESS, ON_A_DEAD_BROKER))


def options(*words: str) -> OptionSet:
    return parse_options(["--bootstrap-server", "localhost:9092", "--describe", *words])


@pytest.mark.parametrize(
    ("report", "reported"),
    [
        ("--under-replicated-partitions", [LAGGING, ALONE, LEADERLESS]),
        ("--unavailable-partitions", [LEADERLESS, ON_A_DEAD_BROKER]),
        ("--under-min-isr-partitions", [ALONE, LEADERLESS]),
        ("--at-min-isr-partitions", [LAGGING, ON_A_DEAD_BROKER]),
    ],
)
def test_reports(report: str, reported: list[TopicPartitionInfo], capsys: pytest.CaptureFixture[str]) -> None:
    Report(options(report), TOPIC, {MIN_ISR.name: MIN_ISR}, {}, live_brokers={1, 2, 3}).print()
    numbers = [line.split("\t")[2] for line in capsys.readouterr().out.splitlines()]
    assert numbers == [f"Partition: {each.partition}" for each in reported]


def test_a_partition_without_a_leader(capsys: pytest.CaptureFixture[str]) -> None:
    topic = TopicDescription("orders", "A" * 22, False, (LEADERLESS,))
    Report(options(), topic, {MIN_ISR.name: MIN_ISR}, {}, live_brokers={1}).print()
    assert capsys.readouterr().out == (
        "Topic: orders\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \n"
        "\tTopic: orders\tPartition: 3\tLeader: none\tReplicas: 1,2\tIsr: \tElr: \tLastKnownElr: N/A\n"
    )


def test_a_partition_that_moves(capsys: pytest.CaptureFixture[str]) -> None:
    """It has one replica more than it is to have; that it is not under-replicated."""
    moving = partition(0, 1, [1, 2, 3, 4], [1, 2, 3])
    topic = TopicDescription("orders", "A" * 21 + "Q", False, (moving,))
    moves = {TopicPartition("orders", 0): PartitionReassignment((1, 2, 3, 4), (4,), (1,))}
    Report(options("--under-replicated-partitions"), topic, {}, moves, live_brokers={1}).print()
    assert capsys.readouterr().out == ""
    Report(options(), topic, {}, moves, live_brokers={1}).print()
    assert capsys.readouterr().out == (
        "Topic: orders\tTopicId: AAAAAAAAAAAAAAAAAAAAAQ\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \n"
        "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3,4\tIsr: 1,2,3\tAdding Replicas: 4"
        "\tRemoving Replicas: 1\tElr: \tLastKnownElr: N/A\n"
    )
