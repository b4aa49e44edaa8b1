"""Replication that is held back, so that clients are served while much is copied.

A topic names the replicas that are throttled, by partition and broker: on the leader's side those that send, on the
follower's side those that fetch. The limits are the broker's, for all of them together. A replica that is in sync is
never held back, since what is written waits for it; it counts, though.
"""

from collections.abc import Callable
from typing import NamedTuple

from penstock.broker.partition import Partition
from penstock.broker.registration import Registration
from penstock.clock import Clock
from penstock.replica.throttle import Throttle
from penstock.settings.broker import BrokerSettings

Settings = Callable[[], BrokerSettings]
ALL = ("*",)


class _Listed(NamedTuple):
    replicas: tuple[str, ...]
    as_set: frozenset[str]


class SideThrottle:
    """Of what leaders send, or of what followers fetch."""

    def __init__(
        self,
        registration: Registration,
        clock: Clock,
        throttle: Throttle,
        limit: Callable[[], int],
        listed: Callable[[Partition], tuple[str, ...]],
    ) -> None:
        self._registration = registration
        self._clock = clock
        self._throttle = throttle
        self._limit = limit
        self._listed = listed
        self._known: dict[str, _Listed] = {}

    def is_exceeded(self) -> bool:
        return self._throttle.is_exceeded(self._limit(), self._clock.monotonic_ms())

    def applies_to(self, partition: Partition) -> bool:
        """Whether the topic names the replica of this broker."""
        replicas = self._listed(partition)
        if not replicas or replicas == ALL:
            return bool(replicas)
        topic, index = partition.topic_partition
        known = self._known.get(topic)
        if known is None or known.replicas is not replicas:
            known = self._known[topic] = _Listed(replicas, frozenset(replicas))
        return f"{index}:{self._registration.broker_id}" in known.as_set

    def record(self, partition: Partition, size: int) -> None:
        if size and self.applies_to(partition):
            self._throttle.record(size, self._clock.monotonic_ms())


class ReplicationThrottles:
    def __init__(
        self, settings: Settings, static: BrokerSettings, registration: Registration, clock: Clock
    ) -> None:
        windows = static.replication_quota_window_num, static.replication_quota_window_size_seconds * 1000
        self.leaders = SideThrottle(
            registration,
            clock,
            Throttle(*windows),
            lambda: settings().leader_replication_throttled_rate,
            lambda partition: partition.log.settings.leader_replication_throttled_replicas,
        )
        self.followers = SideThrottle(
            registration,
            clock,
            Throttle(*windows),
            lambda: settings().follower_replication_throttled_rate,
            lambda partition: partition.log.settings.follower_replication_throttled_replicas,
        )

    def is_withheld_from(self, follower: int, partition: Partition) -> bool:
        """Whether a follower that asks this broker gets nothing for now."""
        leaders = self.leaders
        return (
            follower not in partition.replica_set.isr
            and leaders.applies_to(partition)
            and leaders.is_exceeded()
        )
