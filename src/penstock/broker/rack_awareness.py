"""Which replica a consumer is told to read from (KIP-392)."""

from collections.abc import Mapping

from penstock.broker.partition import Partition
from penstock.controller.image import BrokerImage
from penstock.settings.broker import BrokerSettings

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
THE_LEADER = -1


def preferred_replica(
    settings: BrokerSettings, brokers: Mapping[int, BrokerImage], partition: Partition, offset: int, rack: str
) -> int:
    """A follower in sync in the consumer's rack that has the offset; `THE_LEADER` if it may as well stay here."""
    leader = partition.leader
    if leader is None or settings.replica_selector_class != RACK_AWARE or settings.broker_rack == rack:
        return THE_LEADER
    candidates = [
        (follower.log_end_offset, broker_id)
        for broker_id, follower in leader.followers.items()
        if broker_id in leader.replica_set.isr
        and broker_id in brokers
        and brokers[broker_id].rack == rack
        and follower.log_end_offset >= offset
    ]
    return max(candidates)[1] if candidates else THE_LEADER
