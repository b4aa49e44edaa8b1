"""The records of consumer groups, as they are written."""

from penstock.group.consumer_member import CurrentAssignment, Member, MemberMetadata
from penstock.group.modern_group import Assignment
from penstock.group.subscriptions import ResolvedRegex
from penstock.machine import Outcome
from penstock.wire.stored.group import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
    TargetTopicPartitions,
)


def write_group_epoch(outcome: Outcome, group_id: str, epoch: int, metadata_hash: int) -> None:
    outcome.write(ConsumerGroupMetadataKey(group_id), ConsumerGroupMetadataValue(epoch, metadata_hash))


def write_metadata(outcome: Outcome, group_id: str, member_id: str, metadata: MemberMetadata) -> None:
    outcome.write(ConsumerGroupMemberMetadataKey(group_id, member_id), metadata.encode())


def write_current(outcome: Outcome, group_id: str, member_id: str, current: CurrentAssignment) -> None:
    outcome.write(ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), current.encode())


def write_target(outcome: Outcome, group_id: str, member_id: str, partitions: Assignment) -> None:
    topics = [
        TargetTopicPartitions(topic_id, sorted(partitions[topic_id])) for topic_id in sorted(partitions)
    ]
    outcome.write(
        ConsumerGroupTargetAssignmentMemberKey(group_id, member_id),
        ConsumerGroupTargetAssignmentMemberValue(topics),
    )


def write_target_epoch(outcome: Outcome, group_id: str, epoch: int, timestamp_ms: int) -> None:
    outcome.write(
        ConsumerGroupTargetAssignmentMetadataKey(group_id),
        ConsumerGroupTargetAssignmentMetadataValue(epoch, timestamp_ms),
    )


def write_regex(outcome: Outcome, group_id: str, regex: str, resolved: ResolvedRegex) -> None:
    outcome.write(
        ConsumerGroupRegularExpressionKey(group_id, regex),
        ConsumerGroupRegularExpressionValue(sorted(resolved.topics), resolved.version, resolved.timestamp_ms),
    )


def write_regex_removal(outcome: Outcome, group_id: str, regex: str) -> None:
    outcome.write(ConsumerGroupRegularExpressionKey(group_id, regex))


def write_member_removal(outcome: Outcome, group_id: str, member_id: str) -> None:
    outcome.write(ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id))
    outcome.write(ConsumerGroupTargetAssignmentMemberKey(group_id, member_id))
    outcome.write(ConsumerGroupMemberMetadataKey(group_id, member_id))


def write_member_replacement(
    outcome: Outcome, group_id: str, old_member_id: str, new: Member, target: Assignment
) -> None:
    """A static member is back under another id: it takes over what the old id had."""
    write_member_removal(outcome, group_id, old_member_id)
    write_metadata(outcome, group_id, new.member_id, new.metadata)
    write_target(outcome, group_id, new.member_id, target)
    write_current(outcome, group_id, new.member_id, new.current)
