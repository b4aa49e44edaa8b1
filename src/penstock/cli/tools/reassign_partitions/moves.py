"""What moves from where to where, and the throttles that follow from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from penstock.cli.tools.common.failures import as_java_says, failing
from penstock.client.admin.configs import (
    AlterConfig,
    ConfigOperation,
    ConfigResource,
    ResourceType,
    alter_configs,
)
from penstock.client.admin.reassignments import PartitionReassignment
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now

BROKER_RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
LOG_DIR_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
TOPIC_REPLICAS = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")


class Move(NamedTuple):
    sources: frozenset[int]
    destinations: frozenset[int]


Moves = dict[TopicPartition, Move]


def all_moves(
    under_way: Mapping[TopicPartition, PartitionReassignment],
    proposed: Mapping[TopicPartition, Sequence[int]],
    current: Mapping[TopicPartition, Sequence[int]],
) -> Moves:
    """Those that are under way and those that are about to be; of one that is both, from where it started."""
    moves = {
        partition: Move(frozenset(each.replicas) - frozenset(each.adding), frozenset(each.adding))
        for partition, each in under_way.items()
    }
    for partition, replicas in proposed.items():
        sources = moves[partition].sources if partition in moves else frozenset(current[partition])
        moves[partition] = Move(sources, frozenset(replicas) - sources)
    return moves


def throttled_replicas(moves: Moves) -> dict[str, tuple[str, str]]:
    """For each topic what leaders and followers are throttled for, as `partition:broker,...`."""
    return {
        topic: (
            _listed((each, move.sources) for each, move in of_topic.items()),
            _listed((each, move.destinations) for each, move in of_topic.items()),
        )
        for topic, of_topic in _by_topic(moves).items()
    }


def _by_topic(moves: Moves) -> dict[str, dict[int, Move]]:
    topics: dict[str, dict[int, Move]] = {}
    for (topic, partition), move in moves.items():
        topics.setdefault(topic, {})[partition] = move
    return topics


def _listed(brokers_of_partitions: Iterable[tuple[int, frozenset[int]]]) -> str:
    pairs = {f"{partition}:{broker}" for partition, brokers in brokers_of_partitions for broker in brokers}
    return ",".join(sorted(pairs))


def moving_brokers(moves: Moves) -> list[int]:
    return sorted({broker for move in moves.values() for broker in (*move.sources, *move.destinations)})


# --- setting and clearing


def throttle_moves(cluster: Cluster, moves: Moves, rate: int) -> None:
    topics = throttled_replicas(moves)
    _alter(
        cluster,
        {
            ConfigResource(ResourceType.TOPIC, topic): _set(zip(TOPIC_REPLICAS, replicas, strict=True))
            for topic, replicas in topics.items()
        },
    )
    rates = _set((name, str(rate)) for name in BROKER_RATES)
    _alter(cluster, dict.fromkeys(map(_broker, moving_brokers(moves)), rates))
    print(f"The inter-broker throttle limit was set to {rate} B/s")


def throttle_log_dirs(cluster: Cluster, brokers: Iterable[int], rate: int) -> None:
    _alter(cluster, dict.fromkeys(map(_broker, brokers), _set([(LOG_DIR_RATE, str(rate))])))
    print(f"The replica-alter-dir throttle limit was set to {rate} B/s")


def clear_throttles(cluster: Cluster, brokers: Sequence[int], topics: Sequence[str]) -> None:
    listed = ",".join(map(str, brokers))
    print(f"Clearing broker-level throttles on broker{'' if len(brokers) == 1 else 's'} {listed}", flush=True)
    _alter(cluster, dict.fromkeys(map(_broker, brokers), _delete((*BROKER_RATES, LOG_DIR_RATE))))
    print(
        f"Clearing topic-level throttles on topic{'' if len(topics) == 1 else 's'} {','.join(topics)}",
        flush=True,
    )
    _alter(cluster, {ConfigResource(ResourceType.TOPIC, topic): _delete(TOPIC_REPLICAS) for topic in topics})


def _broker(broker_id: int) -> ConfigResource:
    return ConfigResource(ResourceType.BROKER, str(broker_id))


def _set(values: Iterable[tuple[str, str]]) -> list[AlterConfig]:
    return [AlterConfig(name, ConfigOperation.SET, value) for name, value in values]


def _delete(names: Iterable[str]) -> list[AlterConfig]:
    return [AlterConfig(name, ConfigOperation.DELETE) for name in names]


def _alter(cluster: Cluster, changes: Mapping[ConfigResource, Sequence[AlterConfig]]) -> None:
    with failing(as_java_says):
        for error in now(alter_configs(cluster, changes)).values():
            if error is not None:
                raise error
