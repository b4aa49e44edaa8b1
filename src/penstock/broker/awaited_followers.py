"""Followers that are to fetch a partition that this broker has come to lead.

A follower's fetch may be parked here for `replica.fetch.wait.max.ms`. A partition that is new, or that has a new
leader, is not in it; and until its followers in sync fetch it nothing that is written to it is committed. So a fetch
of such a follower is answered at once, for it to ask anew, and while the follower is awaited its fetches are parked
for moments only. What is awaited is a first fetch in this leader epoch; a follower that has died is awaited until it
leaves the set of replicas in sync.
"""

from collections import defaultdict
from typing import Protocol

from penstock.broker.partition import Partition

SHORT_WAIT_MS = 20


class ParkedFetch(Protocol):
    def answer(self) -> None: ...


class AwaitedFollowers:
    def __init__(self) -> None:
        self._awaited: defaultdict[int, set[Partition]] = defaultdict(set)
        self._parked: defaultdict[int, dict[ParkedFetch, None]] = defaultdict(dict)

    def on_leader(self, partition: Partition) -> None:
        """This broker leads the partition from now on."""
        for follower in partition.replica_set.isr:
            if follower != partition.broker_id:
                self._awaited[follower].add(partition)
                for parked in list(self._parked[follower]):
                    parked.answer()

    def on_replica_set(self, partition: Partition) -> None:
        """Others are in sync than before, or another broker leads."""
        isr = partition.replica_set.isr if partition.leader is not None else ()
        for follower, partitions in self._awaited.items():
            if follower not in isr:
                partitions.discard(partition)

    def forget(self, partition: Partition) -> None:
        for partitions in self._awaited.values():
            partitions.discard(partition)

    def on_fetched(self, follower: int, partition: Partition) -> None:
        self._awaited[follower].discard(partition)

    def wait_ms(self, follower: int, wanted_ms: int) -> int:
        """How long a follower's fetch may be parked."""
        return min(wanted_ms, SHORT_WAIT_MS) if self._awaited[follower] else wanted_ms

    def on_parked(self, follower: int, fetch: ParkedFetch) -> None:
        self._parked[follower][fetch] = None

    def on_answered(self, follower: int, fetch: ParkedFetch) -> None:
        self._parked[follower].pop(fetch, None)
