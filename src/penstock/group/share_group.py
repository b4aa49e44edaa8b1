"""A share group (KIP-932) as its records tell it.

Its epochs are those of a consumer group: the group epoch grows with each change that calls for another assignment, the
assignment epoch says for which one the target assignment was computed, a member epoch which one the member has. But a
member takes its new assignment at once: nobody has to give up a partition for another to get it.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from penstock.errors import ApiError, ErrorCode
from penstock.group.groups import SHARE, CheckPartition, Group
from penstock.group.share_members import Assignment, ShareMember, assignment_of
from penstock.group.share_partitions import SharePartitions
from penstock.machine import Outcome, RecordContext
from penstock.wire.schema import StoredMessage
from penstock.wire.stored.share_group import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)

FIRST_EPOCH = 1
NO_ASSIGNMENT: Assignment = {}


class ShareGroup(Group):
    KIND: ClassVar[str] = SHARE

    def __init__(self, group_id: str) -> None:
        super().__init__(group_id)
        self.group_epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.assignment_epoch = FIRST_EPOCH
        self.assignment_timestamp_ms = 0
        self.members: dict[str, ShareMember] = {}
        self.target: dict[str, Assignment] = {}
        self.partitions = SharePartitions()
        self.subscribed: Counter[str] = Counter()
        """Members by topic."""
        self.is_settled = False
        """Soft: nothing has changed since a look found all topics initialised, assigned, and their hash right."""

    # what a group can say of itself

    @property
    def state_name(self) -> str:
        return "Stable" if self.members else "Empty"

    @property
    def protocol_type(self) -> str:
        return "share"

    def find_member(self, member_id: str) -> ShareMember:
        member = self.members.get(member_id)
        if member is None:
            message = f"Member {member_id} is not a member of group {self.group_id}."
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID, message)
        return member

    def topics_after(self, old: ShareMember | None, new: ShareMember | None) -> set[str]:
        """The topics that are wanted when a member changes so, joins or leaves."""
        counts = Counter(self.subscribed)
        counts.subtract(old.subscribed_topic_names if old else ())
        counts.update(new.subscribed_topic_names if new else ())
        return {name for name, count in counts.items() if count > 0}

    def check_offset_commit(
        self,
        member_id: str,
        group_instance_id: str | None,
        generation_or_epoch: int,
        *,
        is_transactional: bool,
        version: int,
    ) -> CheckPartition | None:
        raise self._has_no_offsets()

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        raise self._has_no_offsets()

    def check_offset_delete(self) -> None:
        raise self._has_no_offsets()

    def _has_no_offsets(self) -> ApiError:
        return ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {self.group_id} is not a consumer group.")

    def check_delete(self) -> None:
        if self.members:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP, "The group is not empty.")

    def is_subscribed_to(self, topic: str) -> bool:
        return topic in self.subscribed

    def offsets_expire_from_ms(self, topic: str, committed_at_ms: int) -> int | None:
        return None

    def write_tombstones(self, outcome: Outcome) -> None:
        for member_id in self.members:
            outcome.write(ShareGroupCurrentMemberAssignmentKey(self.group_id, member_id))
        for member_id in self.members:
            outcome.write(ShareGroupTargetAssignmentMemberKey(self.group_id, member_id))
        outcome.write(ShareGroupTargetAssignmentMetadataKey(self.group_id))
        for member_id in self.members:
            outcome.write(ShareGroupMemberMetadataKey(self.group_id, member_id))
        outcome.write(ShareGroupStatePartitionMetadataKey(self.group_id))
        outcome.write(ShareGroupMetadataKey(self.group_id))

    # records

    def fold(self, key: StoredMessage, value: StoredMessage | None, context: RecordContext) -> None:
        FOLDS[type(key)](self, key, value, context)
        self.is_settled = False

    def _put_member(self, member: ShareMember) -> None:
        self._remove_member(member.member_id)
        self.members[member.member_id] = member
        self.subscribed.update(member.subscribed_topic_names)

    def _remove_member(self, member_id: str) -> None:
        old = self.members.pop(member_id, None)
        if old is not None:
            self.subscribed.subtract(old.subscribed_topic_names)
            self.subscribed = +self.subscribed

    def _fold_member(
        self,
        key: ShareGroupMemberMetadataKey,
        value: ShareGroupMemberMetadataValue | None,
        context: RecordContext,
    ) -> None:
        if value is None:
            self._remove_member(key.member_id)
            return
        old = self.members.get(key.member_id) or ShareMember(key.member_id)
        self._put_member(
            replace(
                old,
                rack_id=value.rack_id,
                client_id=value.client_id,
                client_host=value.client_host,
                subscribed_topic_names=frozenset(value.subscribed_topic_names),
            )
        )

    def _fold_group(
        self, key: ShareGroupMetadataKey, value: ShareGroupMetadataValue | None, context: RecordContext
    ) -> None:
        if value is not None:
            self.group_epoch = value.epoch
            self.metadata_hash = value.metadata_hash

    def _fold_target_metadata(
        self,
        key: ShareGroupTargetAssignmentMetadataKey,
        value: ShareGroupTargetAssignmentMetadataValue | None,
        context: RecordContext,
    ) -> None:
        self.assignment_epoch = -1 if value is None else value.assignment_epoch
        self.assignment_timestamp_ms = 0 if value is None else value.assignment_timestamp

    def _fold_target(
        self,
        key: ShareGroupTargetAssignmentMemberKey,
        value: ShareGroupTargetAssignmentMemberValue | None,
        context: RecordContext,
    ) -> None:
        if value is None:
            self.target.pop(key.member_id, None)
        else:
            self.target[key.member_id] = assignment_of(value.topic_partitions)

    def _fold_current(
        self,
        key: ShareGroupCurrentMemberAssignmentKey,
        value: ShareGroupCurrentMemberAssignmentValue | None,
        context: RecordContext,
    ) -> None:
        old = self.members.get(key.member_id)
        if value is not None:
            self._put_member(
                replace(
                    old or ShareMember(key.member_id),
                    member_epoch=value.member_epoch,
                    previous_member_epoch=value.previous_member_epoch,
                    assigned=assignment_of(value.assigned_partitions),
                )
            )
        elif old is not None:
            self._put_member(replace(old, member_epoch=-1, previous_member_epoch=-1, assigned=NO_ASSIGNMENT))

    def _fold_partitions(
        self,
        key: ShareGroupStatePartitionMetadataKey,
        value: ShareGroupStatePartitionMetadataValue | None,
        context: RecordContext,
    ) -> None:
        self.partitions = (
            SharePartitions() if value is None else SharePartitions.of_record(value, context.timestamp_ms)
        )


Fold = Callable[[ShareGroup, Any, Any, RecordContext], None]
FOLDS: dict[type[StoredMessage], Fold] = {
    ShareGroupMemberMetadataKey: ShareGroup._fold_member,
    ShareGroupMetadataKey: ShareGroup._fold_group,
    ShareGroupTargetAssignmentMetadataKey: ShareGroup._fold_target_metadata,
    ShareGroupTargetAssignmentMemberKey: ShareGroup._fold_target,
    ShareGroupCurrentMemberAssignmentKey: ShareGroup._fold_current,
    ShareGroupStatePartitionMetadataKey: ShareGroup._fold_partitions,
}
