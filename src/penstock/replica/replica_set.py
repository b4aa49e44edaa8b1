"""A partition's replicas as the cluster has them, in its topic's znode and its own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

NO_LEADER = -1
NOBODY: Mapping[int, int] = MappingProxyType({})


class Assignment(NamedTuple):
    """Which brokers have replicas: what the topic's znode says of a partition."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplicaSet:
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    version: int = -1
    """Of the state znode, which changes are compared with before they are made."""
    zxid: int = -1
    """When the state was written, in ZooKeeper's count: later than a broker's registration, or before it."""
    controller_epoch: int = 0
    lives: tuple[int, ...] = ()
    """The broker epochs that the replicas in sync had as they came to be so; empty in a state that does not say so."""
    adding: tuple[int, ...] = ()
    """Replicas that a reassignment has brought, until it is complete."""
    removing: tuple[int, ...] = ()
    """Replicas that go when it is complete."""

    @property
    def assignment(self) -> Assignment:
        return Assignment(self.replicas, self.adding, self.removing)

    @property
    def is_being_reassigned(self) -> bool:
        return bool(self.adding or self.removing)

    def with_leader(
        self, leader: int, isr: tuple[int, ...], joining: Mapping[int, int] = NOBODY
    ) -> "ReplicaSet":
        return replace(self.with_isr(isr, joining), leader=leader, leader_epoch=self.leader_epoch + 1)

    def with_isr(self, isr: tuple[int, ...], joining: Mapping[int, int] = NOBODY) -> "ReplicaSet":
        """Those who are in sync already are so by the life that they were so before, whatever has become of it."""
        known = {**dict(zip(self.isr, self.lives, strict=False)), **joining}
        lives = tuple(known[one] for one in isr) if all(one in known for one in isr) else ()
        return replace(self, isr=isr, lives=lives)

    def life_of(self, broker_id: int) -> int:
        """The epoch that a replica in sync had as it came to be so; without epochs, the latest that it can be."""
        if self.lives and broker_id in self.isr:
            return self.lives[self.isr.index(broker_id)]
        return self.zxid

    def is_about(self, broker_id: int, epoch: int) -> bool:
        """Whether this life of a broker is meant; without epochs, any that began before the state was written."""
        if self.lives and broker_id in self.isr:
            return self.lives[self.isr.index(broker_id)] == epoch
        return epoch < self.zxid
