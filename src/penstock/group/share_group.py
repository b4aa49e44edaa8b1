"""A share group (KIP-932) as its records tell it.

Its epochs are those of a consumer group, see `modern_group`. But a member takes its new assignment at once: nobody has
to give up a partition for another to get it.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from penstock.errors import ApiError, ErrorCode
from penstock.group.groups import SHARE, CheckPartition
from penstock.group.modern_group import NO_ASSIGNMENT, TopicGroup, decode_assignment
from penstock.group.share_members import ShareMember
from penstock.group.share_partitions import SharePartitions
from penstock.machine import Outcome
from penstock.wire.schema import StoredMessage
from penstock.wire.stored.share_group import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
    ShareGroupMetadataKey,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMetadataKey,
)


class ShareGroup(TopicGroup[ShareMember]):
    KIND: ClassVar[str] = SHARE

    def __init__(self, group_id: str) -> None:
        super().__init__(group_id)
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

    def fold(self, key: StoredMessage, value: StoredMessage | None) -> None:
        FOLDS[type(key)](self, key, value)
        self.is_settled = False

    def fold_partitions(self, value: ShareGroupStatePartitionMetadataValue | None, timestamp_ms: int) -> None:
        """The one record whose time matters: it says when initialising began."""
        self.partitions = (
            SharePartitions() if value is None else SharePartitions.of_record(value, timestamp_ms)
        )
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

    def _fold_current(
        self,
        key: ShareGroupCurrentMemberAssignmentKey,
        value: ShareGroupCurrentMemberAssignmentValue | None,
    ) -> None:
        old = self.members.get(key.member_id)
        if value is not None:
            self._put_member(
                replace(
                    old or ShareMember(key.member_id),
                    member_epoch=value.member_epoch,
                    previous_member_epoch=value.previous_member_epoch,
                    assigned=decode_assignment(value.assigned_partitions),
                )
            )
        elif old is not None:
            self._put_member(replace(old, member_epoch=-1, previous_member_epoch=-1, assigned=NO_ASSIGNMENT))


Fold = Callable[[ShareGroup, Any, Any], None]
FOLDS: dict[type[StoredMessage], Fold] = {
    ShareGroupMemberMetadataKey: ShareGroup._fold_member,
    ShareGroupMetadataKey: ShareGroup.fold_epoch,
    ShareGroupTargetAssignmentMetadataKey: ShareGroup.fold_target_epoch,
    ShareGroupTargetAssignmentMemberKey: ShareGroup.fold_target,
    ShareGroupCurrentMemberAssignmentKey: ShareGroup._fold_current,
}
