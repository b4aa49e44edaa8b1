"""The members of share groups."""

from dataclasses import dataclass, field

from penstock.group.modern_group import Assignment
from penstock.wire.stored.share_group import TargetTopicPartitions

STABLE = 0
"""Share members have no other state: they need not give up anything before they get something new."""


@dataclass(frozen=True, slots=True)
class ShareMember:
    member_id: str
    member_epoch: int = 0
    previous_member_epoch: int = -1
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: frozenset[str] = frozenset()
    assigned: Assignment = field(default_factory=dict)


def to_topic_partitions(assignment: Assignment) -> list[TargetTopicPartitions]:
    return [
        TargetTopicPartitions(topic_id, sorted(partitions))
        for topic_id, partitions in assignment.items()
        if partitions
    ]
