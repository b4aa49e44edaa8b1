"""The balance of leaders: a broker that came back leads nothing until the lead is given back to it.

Every partition has a preferred leader, its first replica, and placement spreads those. Of all partitions that a broker
is the preferred leader of, some share is led by others; where it is more than a few percent, the broker leads again
those that it can. A small share is left alone: it is not worth the moment that clients wait for a new leader.
"""

from collections.abc import Iterable

from penstock.controller.elections import Brokers, decide_preferred_leader
from penstock.controller.image import TopicImage
from penstock.replica.replica_set import ReplicaSet
from penstock.types import TopicPartition


def decide_balance(
    topics: Iterable[TopicImage], brokers: Brokers, imbalance_percentage: int
) -> dict[TopicPartition, ReplicaSet]:
    """The states by which brokers whose share of others' leads is larger than allowed lead again what they can."""
    preferred = dict.fromkeys(brokers, 0)
    led_by_others: dict[int, dict[TopicPartition, ReplicaSet]] = {broker_id: {} for broker_id in brokers}
    for topic in topics:
        for index, state in topic.partitions.items():
            first = state.replicas[0]
            if first not in preferred:
                continue
            preferred[first] += 1
            if state.leader != first:
                led_by_others[first][TopicPartition(topic.name, index)] = state
    decided: dict[TopicPartition, ReplicaSet] = {}
    for broker_id, states in led_by_others.items():
        if len(states) * 100 > imbalance_percentage * preferred[broker_id]:
            for partition, state in states.items():
                elected = decide_preferred_leader(state, brokers)
                if elected is not None:
                    decided[partition] = elected
    return decided
