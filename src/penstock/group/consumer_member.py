"""One member of a consumer group: what it says of itself, and what it owns.

The two halves are two records of the log. Both are values: a handler makes new ones, and `replay` puts them in place.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import NamedTuple

from penstock.wire.stored.group import (
    ClassicMemberMetadata,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    CurrentTopicPartitions,
)

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
LEAVE_STATIC_EPOCH = -2
"""The epoch of a static member that is away and expected back within its session timeout."""

PartitionEpochs = Mapping[bytes, Mapping[int, int]]
"""Partitions by topic id, each with the epoch in which its owner got it."""


class MemberState(IntEnum):
    """How far a member is on its way to the target assignment, as stored."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    """It must give up partitions before it moves on."""
    UNRELEASED_PARTITIONS = 2
    """It waits for partitions that others must give up."""
    UNKNOWN = 127
    """Written by a newer version."""


@dataclass(frozen=True, slots=True)
class MemberMetadata:
    """What a member says of itself."""

    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: frozenset[str] = frozenset()
    subscribed_topic_regex: str | None = ""
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = None
    classic: ClassicMemberMetadata | None = None
    """Given if the member speaks the classic protocol."""

    @classmethod
    def decode(cls, value: ConsumerGroupMemberMetadataValue) -> "MemberMetadata":
        return cls(
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            subscribed_topic_names=frozenset(value.subscribed_topic_names),
            subscribed_topic_regex=value.subscribed_topic_regex,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            server_assignor=value.server_assignor,
            classic=value.classic_member_metadata,
        )

    def encode(self) -> ConsumerGroupMemberMetadataValue:
        return ConsumerGroupMemberMetadataValue(
            instance_id=self.instance_id,
            rack_id=self.rack_id,
            client_id=self.client_id,
            client_host=self.client_host,
            subscribed_topic_names=sorted(self.subscribed_topic_names),
            subscribed_topic_regex=self.subscribed_topic_regex,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            server_assignor=self.server_assignor,
            classic_member_metadata=self.classic,
        )


@dataclass(frozen=True, slots=True)
class CurrentAssignment:
    """What a member owns, and in which epoch it is."""

    member_epoch: int = JOIN_EPOCH
    previous_member_epoch: int = -1
    state: MemberState = MemberState.STABLE
    assigned: PartitionEpochs = field(default_factory=dict)
    revoking: PartitionEpochs = field(default_factory=dict)
    """Still its own until it says that it gave them up."""

    def is_reconciled_to(self, target_epoch: int) -> bool:
        return self.state == MemberState.STABLE and self.member_epoch == target_epoch

    def become(
        self,
        state: MemberState,
        member_epoch: int,
        assigned: PartitionEpochs,
        revoking: PartitionEpochs | None = None,
    ) -> "CurrentAssignment":
        """The next one; its previous epoch is the epoch of this one."""
        return CurrentAssignment(member_epoch, self.member_epoch, state, assigned, revoking or {})

    def away(self) -> "CurrentAssignment":
        """Of a static member that will be back: what it owned counts as its own from the start."""
        return replace(
            self,
            member_epoch=LEAVE_STATIC_EPOCH,
            assigned={topic_id: dict.fromkeys(epochs, 0) for topic_id, epochs in self.assigned.items()},
            revoking={},
        )

    def epoch_of(self, topic_id: bytes, partition: int) -> int | None:
        """The epoch since which the partition is owned, if it is."""
        for owned in (self.assigned, self.revoking):
            epochs = owned.get(topic_id)
            if epochs is not None and partition in epochs:
                return epochs[partition]
        return None

    @classmethod
    def decode(cls, value: ConsumerGroupCurrentMemberAssignmentValue) -> "CurrentAssignment":
        known = value.state in MemberState.__members__.values()
        fallback_epoch = max(value.member_epoch, 0)
        return cls(
            member_epoch=value.member_epoch,
            previous_member_epoch=value.previous_member_epoch,
            state=MemberState(value.state) if known else MemberState.UNKNOWN,
            assigned=_decode_epochs(value.assigned_partitions, fallback_epoch),
            revoking=_decode_epochs(value.partitions_pending_revocation, fallback_epoch),
        )

    def encode(self) -> ConsumerGroupCurrentMemberAssignmentValue:
        return ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=self.member_epoch,
            previous_member_epoch=self.previous_member_epoch,
            state=int(self.state),
            assigned_partitions=_encode_epochs(self.assigned),
            partitions_pending_revocation=_encode_epochs(self.revoking),
        )


class Member(NamedTuple):
    member_id: str
    metadata: MemberMetadata = MemberMetadata()
    current: CurrentAssignment = CurrentAssignment()

    @property
    def uses_classic_protocol(self) -> bool:
        return self.metadata.classic is not None


def _decode_epochs(topics: Iterable[CurrentTopicPartitions], fallback_epoch: int) -> PartitionEpochs:
    """Before there were epochs per partition, all of them had the member's."""
    return {
        topic.topic_id: dict(zip(topic.partitions, topic.assignment_epochs, strict=True))
        if topic.assignment_epochs is not None and len(topic.assignment_epochs) == len(topic.partitions)
        else dict.fromkeys(topic.partitions, fallback_epoch)
        for topic in topics
    }


def _encode_epochs(owned: PartitionEpochs) -> list[CurrentTopicPartitions]:
    topics = []
    for topic_id in sorted(owned):
        partitions = sorted(owned[topic_id])
        epochs = [owned[topic_id][partition] for partition in partitions]
        topics.append(CurrentTopicPartitions(topic_id, partitions, epochs))
    return topics
