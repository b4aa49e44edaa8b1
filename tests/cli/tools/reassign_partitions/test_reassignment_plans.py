"""What kafka-reassign-partitions works out by itself: where replicas go, and what is throttled."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from penstock.cli.tools.common.failures import CommandFailure
from penstock.cli.tools.reassign_partitions.moves import Move, all_moves, moving_brokers, throttled_replicas
from penstock.cli.tools.reassign_partitions.placement import place
from penstock.cli.tools.reassign_partitions.plans import format_plan, parse_plan
from penstock.client.admin.reassignments import PartitionReassignment
from penstock.client.admin.replica_log_dirs import TopicPartitionReplica
from penstock.types import TopicPartition

RACKS = {1: "a", 2: "a", 3: "b", 4: "b", 5: "c", 6: "c"}
SEEDS = range(20)


@pytest.mark.parametrize("seed", SEEDS)
def test_replicas_spread_over_racks_and_brokers(seed: int) -> None:
    placed = place(RACKS, 12, 3, Random(seed))
    for replicas in placed:
        assert {RACKS[broker] for broker in replicas} == {"a", "b", "c"}
    assert set(Counter(broker for replicas in placed for broker in replicas).values()) == {6}
    assert set(Counter(RACKS[replicas[0]] for replicas in placed).values()) == {4}


@pytest.mark.parametrize("seed", SEEDS)
def test_replicas_without_racks(seed: int) -> None:
    placed = place(dict.fromkeys([3, 1, 2]), 6, 2, Random(seed))
    assert all(len(set(replicas)) == 2 for replicas in placed)
    assert set(Counter(replicas[0] for replicas in placed).values()) == {2}


def test_a_rack_that_is_smaller_than_the_others() -> None:
    for replicas in place({1: "a", 2: "b", 3: "b"}, 9, 3, Random(1)):
        assert sorted(replicas) == [1, 2, 3]


def test_too_few_brokers() -> None:
    with pytest.raises(
        CommandFailure, match="replication factor of 2 cannot be reached because only 1 broker"
    ):
        place({1: None}, 1, 2, Random(1))
    with pytest.raises(CommandFailure, match="All brokers are currently fenced"):
        place({}, 1, 1, Random(1))


# --- throttles

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


def test_what_moves_from_where_to_where() -> None:
    under_way = {
        A0: PartitionReassignment((1, 2, 3), adding=(3,), removing=(1,)),
        B0: PartitionReassignment((1, 2), adding=(2,), removing=()),
    }
    moves = all_moves(under_way, {A0: [4, 2], A1: [1, 3]}, {A0: [1, 2, 3], A1: [1, 2]})
    assert moves == {
        A0: Move(frozenset({1, 2}), frozenset({4})),
        A1: Move(frozenset({1, 2}), frozenset({3})),
        B0: Move(frozenset({1}), frozenset({2})),
    }
    assert throttled_replicas(moves) == {"a": ("0:1,0:2,1:1,1:2", "0:4,1:3"), "b": ("0:1", "0:2")}
    assert moving_brokers(moves) == [1, 2, 3, 4]


# --- JSON


def test_a_plan_that_is_written_is_read_again() -> None:
    log_dirs = {TopicPartitionReplica("a", 1, 3): "/logs"}
    written = format_plan({B0: [2], A1: [1, 3]}, log_dirs)
    assert written == (
        '{"version":1,"partitions":[{"topic":"a","partition":1,"replicas":[1,3],"log_dirs":["any","/logs"]},'
        '{"topic":"b","partition":0,"replicas":[2],"log_dirs":["any"]}]}'
    )
    plan = parse_plan(written)
    assert plan.replicas == {A1: [1, 3], B0: [2]}
    assert plan.log_dirs == log_dirs
