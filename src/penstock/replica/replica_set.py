"""A partition's replicas as the cluster has them, in its state znode."""

from dataclasses import dataclass, replace

NO_LEADER = -1


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

    def with_leader(self, leader: int, isr: tuple[int, ...]) -> "ReplicaSet":
        return replace(self, leader=leader, isr=isr, leader_epoch=self.leader_epoch + 1)

    def with_isr(self, isr: tuple[int, ...]) -> "ReplicaSet":
        return replace(self, isr=isr)
