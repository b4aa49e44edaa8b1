"""Where replicas go when all may go anywhere: striped over racks first, and over the brokers of each.

The replicas of a partition are taken from the racks in turn, from each rack the next of its brokers. Every partition
begins one rack and one broker further, so leaders and followers spread; both begin somewhere at random. After as many
partitions as there are brokers the stripes would repeat, so the racks and their brokers are shuffled.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, zip_longest
from random import Random
from typing import TypeVar

from penstock.cli.tools.common.failures import CommandFailure

T = TypeVar("T")


def place(
    racks_of_brokers: Mapping[int, str | None], partitions: int, replication_factor: int, random: Random
) -> list[list[int]]:
    """The replicas of each partition, the leader first."""
    if not racks_of_brokers:
        raise CommandFailure("All brokers are currently fenced, or have all their log directories cordoned.")
    if replication_factor > len(racks_of_brokers):
        raise CommandFailure(
            f"The target replication factor of {replication_factor} cannot be reached because only "
            f"{len(racks_of_brokers)} broker(s) are registered or some brokers have all their log directories cordoned."
        )
    racks = _racks(racks_of_brokers)
    starts = [random.randrange(len(rack)) for rack in racks]
    first_rack = random.randrange(len(racks))
    placed = []
    for number in range(partitions):
        turn = number % len(racks_of_brokers)
        if number and not turn:
            _shuffle(racks, random)
        brokers = [_rotated(rack, start + turn) for rack, start in zip(racks, starts, strict=True)]
        placed.append(_taken_in_turn(_rotated(brokers, first_rack + turn), replication_factor))
    return placed


def _racks(racks_of_brokers: Mapping[int, str | None]) -> list[list[int]]:
    racks: dict[str, list[int]] = {}
    for broker in sorted(racks_of_brokers):
        racks.setdefault(racks_of_brokers[broker] or "", []).append(broker)
    return [racks[name] for name in sorted(racks)]


def _shuffle(racks: list[list[int]], random: Random) -> None:
    random.shuffle(racks)
    for rack in racks:
        random.shuffle(rack)


def _rotated(values: list[T], by: int) -> list[T]:
    by %= len(values)
    return values[by:] + values[:by]


def _taken_in_turn(racks: list[list[int]], count: int) -> list[int]:
    taken = (broker for layer in zip_longest(*racks) for broker in layer if broker is not None)
    return list(islice(taken, count))
