"""A partition's replicas as the cluster has them, in its topic's znode and its own."""

from dataclasses import dataclass, replace
from typing import NamedTuple

NO_LEADER = -1


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

    def with_leader(self, leader: int, isr: tuple[int, ...]) -> "ReplicaSet":
        return replace(self, leader=leader, isr=isr, leader_epoch=self.leader_epoch + 1)

    def with_isr(self, isr: tuple[int, ...]) -> "ReplicaSet":
        return replace(self, isr=isr)
