"""What the leader of a partition knows of its replicas: who is in sync, and how far all of them are.

The high watermark is the smallest log end offset among the replicas in sync: what lies below it is on all of
them, so no change of leader among them can lose it. With one replica it is simply that replica's end.
"""

from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class ReplicaSet:
    """A partition's replicas as the controller decided them."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int

    def with_leader(self, leader: int, isr: tuple[int, ...]) -> "ReplicaSet":
        return replace(self, leader=leader, isr=isr, leader_epoch=self.leader_epoch + 1)


@dataclass(slots=True)
class LeaderState:
    """Progress of the replicas of one partition, kept by its leader for one leader epoch."""

    broker_id: int
    replica_set: ReplicaSet
    high_watermark: int
    log_end_offsets: dict[int, int] = field(default_factory=dict)

    def on_log_end_offset(self, replica: int, log_end_offset: int) -> bool:
        """Notes how far a replica is; True if that moved the high watermark."""
        if len(self.replica_set.isr) == 1 and replica == self.broker_id:
            moved = log_end_offset > self.high_watermark
            self.high_watermark = max(self.high_watermark, log_end_offset)
            return moved
        self.log_end_offsets[replica] = log_end_offset
        lowest = min(self.log_end_offsets.get(member, 0) for member in self.replica_set.isr)
        if lowest <= self.high_watermark:
            return False
        self.high_watermark = lowest
        return True

    def has_enough_in_sync(self, min_insync_replicas: int) -> bool:
        needed = min(min_insync_replicas, len(self.replica_set.replicas))
        return len(self.replica_set.isr) >= needed
