"""Which replica a consumer is told to read from (KIP-392)."""

from typing import TYPE_CHECKING

from penstock.broker.partition import Partition

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
THE_LEADER = -1


def preferred_replica(broker: "Broker", partition: Partition, offset: int, rack: str) -> int:
    """A follower in sync in the consumer's rack that has the offset; `THE_LEADER` if it may as well stay here."""
    leader = partition.leader
    if leader is None or broker.settings.replica_selector_class != RACK_AWARE:
        return THE_LEADER
    if broker.settings.broker_rack == rack:
        return THE_LEADER
    brokers = broker.image.brokers
    candidates = [
        (follower.log_end_offset, broker_id)
        for broker_id, follower in leader.followers.items()
        if broker_id in leader.replica_set.isr
        and broker_id in brokers
        and brokers[broker_id].rack == rack
        and follower.log_end_offset >= offset
    ]
    return max(candidates)[1] if candidates else THE_LEADER
