"""What the leader of a partition knows of its replicas: who is in sync, and how far all of them are.

The high watermark is the smallest log end offset among the replicas in sync: what lies below it is on all of them, so
no change of leader among them can lose it. With one replica it is simply that replica's end.

Who is in sync stands in ZooKeeper, and changes there before it changes here. While a change is under way, both the old
set and the new one may be what others believe; so the high watermark waits for the replicas of both.

A follower says with each fetch where its log ends. It leaves the set when it has not been at the leader's end for
`replica.lag.time.max.ms`, and joins it when it has all that is committed and some offset of this leader's epoch.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from penstock.replica.replica_set import NOBODY, ReplicaSet

NEVER = -(1 << 62)
UNKNOWN = -1


@dataclass(slots=True)
class Follower:
    """How far one of the other replicas is, as its fetches say."""

    log_end_offset: int = UNKNOWN
    log_start_offset: int = UNKNOWN
    caught_up_ms: int = NEVER
    """When it last had all that the leader had."""
    fetched_ms: int = NEVER
    leader_end_offset: int = 0
    """As it was at the last fetch."""

    def on_fetch(self, offset: int, leader_end_offset: int, now_ms: int) -> None:
        if offset >= leader_end_offset:
            self.caught_up_ms = max(self.caught_up_ms, now_ms)
        elif offset >= self.leader_end_offset:
            self.caught_up_ms = max(self.caught_up_ms, self.fetched_ms)
        self.log_end_offset = offset
        self.leader_end_offset = leader_end_offset
        self.fetched_ms = now_ms


@dataclass(slots=True)
class LeaderState:
    """Progress of the replicas of one partition, kept by its leader for one leader epoch."""

    broker_id: int
    replica_set: ReplicaSet
    high_watermark: int
    epoch_start_offset: int = 0
    followers: dict[int, Follower] = field(default_factory=dict)
    wanted_isr: tuple[int, ...] | None = None
    """The set that ZooKeeper is asked for just now."""
    is_alone: bool = False
    """Whether no other replica is in sync, or about to be: then the leader's own end is the high watermark."""

    @classmethod
    def begin(
        cls, broker_id: int, replica_set: ReplicaSet, high_watermark: int, log_end_offset: int, now_ms: int
    ) -> "LeaderState":
        """For a new leader epoch, which begins at the leader's end. Replicas in sync are given time to fetch."""
        state = cls(broker_id, replica_set, high_watermark, log_end_offset)
        state.on_replica_set(replica_set)
        for follower in replica_set.isr:
            if follower != broker_id:
                state.followers[follower].caught_up_ms = now_ms
        state.on_log_end_offset(log_end_offset)
        return state

    def on_replica_set(self, replica_set: ReplicaSet) -> None:
        """ZooKeeper has another set of replicas, or of those in sync, in the same leader epoch."""
        self.replica_set = replica_set
        self.wanted_isr = None
        known = self.followers
        self.followers = {
            one: known.get(one) or Follower() for one in replica_set.replicas if one != self.broker_id
        }
        self.is_alone = replica_set.isr == (self.broker_id,)

    # the high watermark

    def on_log_end_offset(self, log_end_offset: int) -> bool:
        """The leader's log ends there; True if that moved the high watermark."""
        if not self.is_alone:
            return self._raise_high_watermark(log_end_offset)
        if log_end_offset <= self.high_watermark:
            return False
        self.high_watermark = log_end_offset
        return True

    def _raise_high_watermark(self, log_end_offset: int) -> bool:
        lowest = log_end_offset
        for one in {*self.replica_set.isr, *(self.wanted_isr or ())}:
            if one != self.broker_id:
                follower = self.followers.get(one)
                lowest = min(lowest, UNKNOWN if follower is None else follower.log_end_offset)
        if lowest <= self.high_watermark:
            return False
        self.high_watermark = lowest
        return True

    def on_fetch(self, broker_id: int, offset: int, log_end_offset: int, now_ms: int) -> bool:
        """A follower's log ends at `offset`; True if that moved the high watermark."""
        follower = self.followers[broker_id]
        follower.on_fetch(offset, log_end_offset, now_ms)
        return not self.is_alone and self._raise_high_watermark(log_end_offset)

    @property
    def knows_its_high_watermark(self) -> bool:
        """Whether it has reached this epoch, and with it all that was committed before: a follower that becomes leader
        has heard of the high watermark a fetch later than the leader before it."""
        return self.is_alone or self.high_watermark >= self.epoch_start_offset

    def low_watermark(self, log_start_offset: int, alive: Callable[[int], bool]) -> int:
        """Below it no replica that is alive has records any more."""
        others = (one.log_start_offset for broker_id, one in self.followers.items() if alive(broker_id))
        return min((log_start_offset, *others))

    # who is in sync

    def has_enough_in_sync(self, min_insync_replicas: int) -> bool:
        needed = min(min_insync_replicas, len(self.replica_set.replicas))
        return len(self.replica_set.isr) >= needed

    def decide_joining(self, broker_id: int) -> tuple[int, ...] | None:
        """The set in sync with a follower that has just caught up; None if it has not, or is in it."""
        isr = self.replica_set.isr
        if broker_id in isr or self.wanted_isr is not None or broker_id not in self.followers:
            return None
        offset = self.followers[broker_id].log_end_offset
        if offset < self.high_watermark or offset < self.epoch_start_offset:
            return None
        members = {*isr, broker_id}
        return tuple(replica for replica in self.replica_set.replicas if replica in members)

    def decide_leaving(
        self, log_end_offset: int, now_ms: int, max_lag_ms: int, is_gone: Callable[[int], bool]
    ) -> tuple[int, ...] | None:
        """The set without those that lag, and without those whose broker is away, or was started anew."""
        if self.is_alone or self.wanted_isr is not None:
            return None
        isr = self.replica_set.isr
        kept = tuple(
            one
            for one in isr
            if one == self.broker_id
            or not (self._lags(one, log_end_offset, now_ms, max_lag_ms) or is_gone(one))
        )
        return kept if kept != isr else None

    def _lags(self, broker_id: int, log_end_offset: int, now_ms: int, max_lag_ms: int) -> bool:
        follower = self.followers[broker_id]
        return follower.log_end_offset != log_end_offset and now_ms - follower.caught_up_ms > max_lag_ms

    def awaits_silent_replica(self, now_ms: int, max_lag_ms: int) -> bool:
        """Whether a replica in sync does not fetch: it lags as soon as something is written."""
        return any(
            now_ms - max(self.followers[one].fetched_ms, self.followers[one].caught_up_ms) > max_lag_ms
            for one in self.replica_set.isr
            if one != self.broker_id
        )

    def ask_for(self, isr: tuple[int, ...], joining: Mapping[int, int] = NOBODY) -> ReplicaSet:
        """The state to write, with the broker epochs of those who join; until it is known whether it was written, both
        sets count."""
        self.wanted_isr = isr
        self.is_alone = False
        return self.replica_set.with_isr(isr, joining)

    def forget_wish(self) -> None:
        """It was not written, and will not be."""
        self.wanted_isr = None
        self.is_alone = self.replica_set.isr == (self.broker_id,)
