"""What consumer, share and streams groups have in common: their coordinator assigns, and counts in epochs.

The *group epoch* grows with each change that calls for another assignment: members, what they subscribe to, the
partitions of those topics. The *assignment epoch* is the group epoch that the target assignment was computed for. A
*member epoch* is the assignment epoch that a member has arrived at.

`fold_...` takes one record; nothing else changes a group.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from penstock.errors import ApiError, ErrorCode
from penstock.group.groups import Group

MemberT = TypeVar("MemberT")
TargetT = TypeVar("TargetT")
Assignment = Mapping[bytes, frozenset[int]]
"""Partitions by topic id."""
NO_ASSIGNMENT: Assignment = {}

FIRST_EPOCH = 1


class ModernGroup(Group, Generic[MemberT, TargetT]):
    def __init__(self, group_id: str) -> None:
        super().__init__(group_id)
        self.group_epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.assignment_epoch = FIRST_EPOCH
        self.assignment_timestamp_ms = 0
        self.members: dict[str, MemberT] = {}
        self.target: dict[str, TargetT] = {}

    def member(self, member_id: str) -> MemberT:
        member = self.members.get(member_id)
        if member is None:
            raise ApiError(
                ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {self.group_id}."
            )
        return member

    def may_assign(self, interval_ms: int, now_ms: int) -> bool:
        """Whether the last assignment is so long ago that there may be another."""
        last_ms = self.assignment_timestamp_ms
        return not last_ms or not interval_ms or now_ms >= last_ms + interval_ms

    # the records that all kinds have, each with keys and values of its own

    def fold_epoch(self, key: Any, value: Any) -> None:
        if value is not None:
            self.group_epoch = value.epoch
            self.metadata_hash = value.metadata_hash

    def fold_target_epoch(self, key: Any, value: Any) -> None:
        self.assignment_epoch = -1 if value is None else value.assignment_epoch
        self.assignment_timestamp_ms = 0 if value is None else value.assignment_timestamp

    def fold_target(self, key: Any, value: Any) -> None:
        if value is None:
            self.target.pop(key.member_id, None)
        else:
            self.target[key.member_id] = self.decode_target(value)

    @abstractmethod
    def decode_target(self, value: Any) -> TargetT:
        """What a member shall have, as it is stored."""


class TopicGroup(ModernGroup[MemberT, Assignment]):
    """One whose members get partitions of topics."""

    def decode_target(self, value: Any) -> Assignment:
        return decode_assignment(value.topic_partitions)


def decode_assignment(topics: Any) -> Assignment:
    """Of records that have partitions by topic."""
    return {topic.topic_id: frozenset(topic.partitions) for topic in topics}
