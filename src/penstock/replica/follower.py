"""What a follower knows of its partition, and where it cuts its log to be a prefix of the leader's.

A follower's fetch names the epoch of its last record. If the leader's log has no such record at that place, the leader
answers with the last epoch up to that one that it knows, and where that epoch ended there. Up to the smaller of the two
ends both logs hold the same; so the follower cuts there and fetches again, perhaps to hear of an earlier epoch. What it
cuts was never committed: whoever is elected has all that is.
"""

from collections.abc import Callable
from dataclasses import dataclass

from penstock.replica.replica_set import ReplicaSet

UNDEFINED = -1


@dataclass(slots=True)
class FollowerState:
    """The high watermark is the leader's as the last fetch told it, as far as the log goes here."""

    replica_set: ReplicaSet
    high_watermark: int

    def on_fetched(self, leader_high_watermark: int, log_end_offset: int) -> bool:
        """True if the high watermark moved."""
        reached = min(leader_high_watermark, log_end_offset)
        if reached <= self.high_watermark:
            return False
        self.high_watermark = reached
        return True

    def on_truncated(self, log_end_offset: int) -> None:
        self.high_watermark = min(self.high_watermark, log_end_offset)


def decide_truncation(
    leader_epoch: int,
    leader_end_offset: int,
    end_offset_for: Callable[[int], tuple[int, int]],
    log_end_offset: int,
    high_watermark: int,
) -> int:
    """Where to cut: the leader knows `leader_epoch`, which ended there at `leader_end_offset`; `end_offset_for` tells
    the same of the follower's log."""
    if leader_epoch == UNDEFINED or leader_end_offset == UNDEFINED:
        return min(high_watermark, log_end_offset)
    own_epoch, own_end_offset = end_offset_for(leader_epoch)
    if own_epoch == UNDEFINED:
        return min(leader_end_offset, log_end_offset)
    if own_epoch == leader_epoch:
        return min(leader_end_offset, own_end_offset, log_end_offset)
    return min(own_end_offset, log_end_offset)
