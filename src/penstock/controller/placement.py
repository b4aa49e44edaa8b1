"""Where the replicas of new partitions go: to as many racks as possible, each broker with its share.

Brokers are lined up so that neighbours are in different racks: one of each rack, then the next of each. Leaders go
round this line. Followers take the next ones of it, except that a rack gets a second replica only when all racks have
one. With each turn of the leaders the followers begin further away, so that a broker which fails leaves its work to
many.

Brokers that name no rack count as one rack together. As in Kafka, who is about to leave gets nothing new; and of those
that are away, nobody knows.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from penstock.controller.image import BrokerImage

NO_RACK = ""

Racks = Mapping[int, str]
"""The rack of each broker that may have new replicas."""


def racks_to_fill(brokers: Mapping[int, BrokerImage]) -> Racks:
    return {one.id: one.rack or NO_RACK for one in brokers.values() if not one.is_leaving}


def in_line(racks: Racks) -> list[int]:
    """The brokers, those of different racks in turn."""
    by_rack: dict[str, list[int]] = {}
    for broker_id in sorted(racks):
        by_rack.setdefault(racks[broker_id], []).append(broker_id)
    layers = zip_longest(*(by_rack[name] for name in sorted(by_rack)))
    return [broker_id for layer in layers for broker_id in layer if broker_id is not None]


def decide_replicas(
    partitions: range, replication_factor: int, racks: Racks, start: int
) -> dict[int, tuple[int, ...]]:
    """The replicas of each, the leader first; the leader of partition 0 is the one at `start` of the line."""
    line = in_line(racks)
    rack_count = len(set(racks.values()))
    assignment = {}
    for index in partitions:
        shift = (start + index // len(line)) * rack_count
        candidates = _beginning_at(line, start + index, shift)
        assignment[index] = _on_many_racks(candidates, replication_factor, racks, rack_count)
    return assignment


def _beginning_at(line: Sequence[int], first: int, shift: int) -> list[int]:
    """All brokers: the leader, then the others of the line, `shift` of them later."""
    first %= len(line)
    others = [*line[first + 1 :], *line[:first]]
    shift %= max(len(others), 1)
    return [line[first], *others[shift:], *others[:shift]]


def _on_many_racks(
    candidates: Sequence[int], replication_factor: int, racks: Racks, rack_count: int
) -> tuple[int, ...]:
    chosen: list[int] = []
    filled: set[str] = set()
    for broker_id in candidates:
        if len(chosen) < replication_factor and racks[broker_id] not in filled:
            chosen.append(broker_id)
            filled.add(racks[broker_id])
    for broker_id in candidates:
        if len(chosen) < replication_factor and broker_id not in chosen:
            chosen.append(broker_id)
    return tuple(chosen)
