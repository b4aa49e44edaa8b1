"""A consumer group (KIP-848) as its records tell it.

Epochs drive everything, see `modern_group`. What is kept besides the records' content (counts, owners) is derived from
it and could be computed anew.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from penstock.errors import ApiError, ErrorCode
from penstock.group.consumer_member import (
    LEAVE_EPOCH,
    CurrentAssignment,
    Member,
    MemberMetadata,
)
from penstock.group.groups import CONSUMER, CheckPartition
from penstock.group.modern_group import TopicGroup
from penstock.group.subscriptions import ResolvedRegex, Subscriptions
from penstock.machine import Outcome
from penstock.wire.schema import StoredMessage
from penstock.wire.stored.group import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMetadataKey,
)

PROTOCOL_TYPE = "consumer"
FIRST_COMMIT_VERSION_WITH_EPOCHS = 9


class ConsumerGroup(TopicGroup[Member]):
    KIND: ClassVar[str] = CONSUMER

    def __init__(self, group_id: str) -> None:
        super().__init__(group_id)
        self.has_partition_metadata = False
        """Whether the log still has the record in which older versions kept the topics' partitions."""

        self.subscriptions = Subscriptions()
        self.static_members: dict[str, str] = {}
        """Member ids by instance id."""
        self.assignor_votes: Counter[str] = Counter()
        self.classic_member_count = 0
        self.classic_protocol_votes: Counter[str] = Counter()
        self._owners: dict[bytes, dict[int, str]] = {}

        self.checked_epoch: int | None = None
        """Soft: the group epoch in which the topics' metadata was last found to be taken account of."""

    # what it looks like

    @property
    def state_name(self) -> str:
        if not self.members:
            return "Empty"
        if self.group_epoch > self.assignment_epoch:
            return "Assigning"
        if all(member.current.is_reconciled_to(self.assignment_epoch) for member in self.members.values()):
            return "Stable"
        return "Reconciling"

    @property
    def protocol_type(self) -> str:
        return PROTOCOL_TYPE

    def static_member(self, instance_id: str | None) -> Member | None:
        member_id = self.static_members.get(instance_id) if instance_id is not None else None
        return None if member_id is None else self.members[member_id]

    def is_owned(self, topic_id: bytes, partition: int) -> bool:
        """Whether a member owns the partition now, or has yet to give it up."""
        owners = self._owners.get(topic_id)
        return owners is not None and partition in owners

    def preferred_assignor(self, votes: Counter[str] | None = None) -> str | None:
        """The one that most members ask for."""
        counts = self.assignor_votes if votes is None else votes
        return max(sorted(counts), key=counts.__getitem__, default=None)

    # folding

    def fold(self, key: StoredMessage, value: StoredMessage | None) -> None:
        _FOLDS[type(key)](self, key, value)

    def _fold_partition_metadata(
        self, key: ConsumerGroupPartitionMetadataKey, value: ConsumerGroupPartitionMetadataValue | None
    ) -> None:
        self.has_partition_metadata = value is not None

    def _fold_member(
        self, key: ConsumerGroupMemberMetadataKey, value: ConsumerGroupMemberMetadataValue | None
    ) -> None:
        old = self.members.get(key.member_id)
        if value is not None:
            known = old or Member(key.member_id)
            self._replace_member(old, known._replace(metadata=MemberMetadata.decode(value)))
        elif old is not None:
            self._replace_member(old, None)

    def _fold_current(
        self,
        key: ConsumerGroupCurrentMemberAssignmentKey,
        value: ConsumerGroupCurrentMemberAssignmentValue | None,
    ) -> None:
        old = self.members.get(key.member_id)
        if value is not None:
            known = old or Member(key.member_id)
            self._replace_member(old, known._replace(current=CurrentAssignment.decode(value)))
        elif old is not None:
            gone = CurrentAssignment(LEAVE_EPOCH, LEAVE_EPOCH)
            self._replace_member(old, old._replace(current=gone))

    def _fold_regex(
        self, key: ConsumerGroupRegularExpressionKey, value: ConsumerGroupRegularExpressionValue | None
    ) -> None:
        resolved = None
        if value is not None:
            resolved = ResolvedRegex(frozenset(value.topics), value.version, value.timestamp)
        self.subscriptions.replace_resolved(key.regular_expression, resolved)

    # what is derived

    def _replace_member(self, old: Member | None, new: Member | None) -> None:
        if old is not None:
            self._disown(old)
        if new is not None:
            self.members[new.member_id] = new
            self._own(new)
        elif old is not None:
            del self.members[old.member_id]
        if old is None or new is None or old.metadata is not new.metadata:
            self._replace_metadata(old, new)

    def _replace_metadata(self, old: Member | None, new: Member | None) -> None:
        self.subscriptions.replace_member(old and old.metadata, new and new.metadata)
        if old is not None:
            self._count(old, -1)
            instance_id = old.metadata.instance_id
            if instance_id is not None and self.static_members.get(instance_id) == old.member_id:
                del self.static_members[instance_id]
        if new is not None:
            self._count(new, 1)
            if new.metadata.instance_id is not None:
                self.static_members[new.metadata.instance_id] = new.member_id

    def _count(self, member: Member, change: int) -> None:
        if member.metadata.server_assignor is not None:
            _add(self.assignor_votes, member.metadata.server_assignor, change)
        if member.metadata.classic is not None:
            self.classic_member_count += change
            for protocol in member.metadata.classic.supported_protocols:
                _add(self.classic_protocol_votes, protocol.name, change)

    def _own(self, member: Member) -> None:
        for owned in (member.current.assigned, member.current.revoking):
            for topic_id, epochs in owned.items():
                owners = self._owners.setdefault(topic_id, {})
                for partition in epochs:
                    owners[partition] = member.member_id

    def _disown(self, member: Member) -> None:
        for owned in (member.current.assigned, member.current.revoking):
            for topic_id, epochs in owned.items():
                owners = self._owners.get(topic_id, {})
                for partition in epochs:
                    if owners.get(partition) == member.member_id:
                        del owners[partition]
                if not owners:
                    self._owners.pop(topic_id, None)

    # offsets and deletion

    def check_offset_commit(
        self,
        member_id: str,
        group_instance_id: str | None,
        generation_or_epoch: int,
        *,
        is_transactional: bool,
        version: int,
    ) -> CheckPartition | None:
        epoch = generation_or_epoch
        if epoch < 0 and not self.members:
            return None
        if is_transactional and epoch == -1 and not member_id and group_instance_id is None:
            return None
        member = self.member(member_id)
        if (
            not is_transactional
            and not member.uses_classic_protocol
            and version < FIRST_COMMIT_VERSION_WITH_EPOCHS
        ):
            raise ApiError(
                ErrorCode.UNSUPPORTED_VERSION,
                "OffsetCommit version 9 or above must be used by members using the consumer group protocol",
            )
        if epoch == member.current.member_epoch:
            return None
        if epoch > member.current.member_epoch:
            word = "generation id" if member.uses_classic_protocol else "member epoch"
            raise _stale(
                member,
                f"Received {word} {epoch} is newer than current member epoch {member.current.member_epoch}.",
            )
        return lambda topic, topic_id, partition: _check_partition(member, epoch, topic, topic_id, partition)

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        if member_id is None and member_epoch < 0:
            return
        member = self.member(member_id or "")
        expected = member.current.member_epoch
        if member_epoch != expected:
            word = "generation id" if member.uses_classic_protocol else "member epoch"
            raise _stale(
                member,
                f"The received {word} {member_epoch} does not match the expected member epoch {expected}.",
            )

    def check_offset_delete(self) -> None:
        """Offsets may go at any time, but for topics that are subscribed to."""

    def check_delete(self) -> None:
        if self.members:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def is_subscribed_to(self, topic: str) -> bool:
        return topic in self.subscriptions

    def offsets_expire_from_ms(self, topic: str, committed_at_ms: int) -> int | None:
        return None if self.is_subscribed_to(topic) else committed_at_ms

    def write_tombstones(self, outcome: Outcome) -> None:
        self.write_tombstones_of(self.members, outcome)

    def write_tombstones_of(self, member_ids: Iterable[str], outcome: Outcome) -> None:
        """Removes the group, as if it had these members."""
        members = list(member_ids)
        for member_id in members:
            outcome.write(ConsumerGroupCurrentMemberAssignmentKey(self.group_id, member_id))
        for member_id in members:
            outcome.write(ConsumerGroupTargetAssignmentMemberKey(self.group_id, member_id))
        outcome.write(ConsumerGroupTargetAssignmentMetadataKey(self.group_id))
        for member_id in members:
            outcome.write(ConsumerGroupMemberMetadataKey(self.group_id, member_id))
        for regex in self.subscriptions.resolved:
            outcome.write(ConsumerGroupRegularExpressionKey(self.group_id, regex))
        outcome.write(ConsumerGroupPartitionMetadataKey(self.group_id))
        outcome.write(ConsumerGroupMetadataKey(self.group_id))


def _check_partition(member: Member, epoch: int, topic: str, topic_id: bytes, partition: int) -> None:
    """A member that is behind may commit what it has owned since its epoch or before."""
    since = member.current.epoch_of(topic_id, partition)
    place = f"{topic}-{partition}"
    if since is None:
        raise _stale(member, f"Partition {place} is not assigned or pending revocation for member.")
    if epoch < since:
        word = "generation id" if member.uses_classic_protocol else "member epoch"
        raise _stale(
            member, f"Received {word} {epoch} is older than assignment epoch {since} for partition {place}."
        )


def _stale(member: Member, message: str) -> ApiError:
    code = ErrorCode.ILLEGAL_GENERATION if member.uses_classic_protocol else ErrorCode.STALE_MEMBER_EPOCH
    return ApiError(code, message)


def _add(counts: Counter[str], key: str, change: int) -> None:
    counts[key] += change
    if not counts[key]:
        del counts[key]


_FOLDS: dict[type[StoredMessage], Callable[[ConsumerGroup, Any, Any], None]] = {
    ConsumerGroupMetadataKey: ConsumerGroup.fold_epoch,
    ConsumerGroupPartitionMetadataKey: ConsumerGroup._fold_partition_metadata,
    ConsumerGroupMemberMetadataKey: ConsumerGroup._fold_member,
    ConsumerGroupTargetAssignmentMetadataKey: ConsumerGroup.fold_target_epoch,
    ConsumerGroupTargetAssignmentMemberKey: ConsumerGroup.fold_target,
    ConsumerGroupCurrentMemberAssignmentKey: ConsumerGroup._fold_current,
    ConsumerGroupRegularExpressionKey: ConsumerGroup._fold_regex,
}
FOLDED_RECORDS = tuple(_FOLDS)
