"""One member's turn: what its request changes in the group, in three steps.

1. `update_metadata`: what the member says of itself now. A new subscription makes a new group epoch, and so do topics
   that have changed since the group was last looked at.
2. `update_target`: when the group epoch is ahead of the target assignment, that is computed anew, for all members, but
   not more often than the assignment interval allows.
3. `reconcile`: the member takes a step towards its target.

Nothing here changes the group: each step writes records and hands on what the group will be once they are replayed.
"""

from collections import Counter
from enum import Enum

from penstock.group.consumer_group import ConsumerGroup
from penstock.group.consumer_member import Member, MemberMetadata, MemberState
from penstock.group.consumer_records import (
    write_current,
    write_group_epoch,
    write_metadata,
    write_regex_removal,
)
from penstock.group.consumer_world import ConsumerWorld, rebalance_timer
from penstock.group.modern_group import Assignment
from penstock.group.reconciliation import Aim, Owned, reconcile
from penstock.group.subscriptions import subscribed_topic_ids
from penstock.group.target_assignment import compute_target, target_of, write_changes
from penstock.group.topic_regexes import check_regex
from penstock.machine import Outcome
from penstock.wire.stored.group import ConsumerGroupPartitionMetadataKey

REGEX_REFRESH_MIN_INTERVAL_MS = 10_000


class RegexChange(Enum):
    NONE = 0
    UNRESOLVED = 1
    """The group epoch grows when the new expression is resolved, not before."""
    RESOLVED = 2


class Turn:
    def __init__(self, world: ConsumerWorld, group: ConsumerGroup, outcome: Outcome, now_ms: int) -> None:
        self.world = world
        self.group = group
        self.outcome = outcome
        self.now_ms = now_ms
        self.group_epoch = group.group_epoch
        self.is_subscription_changed = False
        self.target_epoch = group.assignment_epoch
        self.target: Assignment = {}

    # 1: what the member says

    def update_metadata(
        self, member: Member, metadata: MemberMetadata, *, is_classic: bool = False
    ) -> Member:
        names_changed = False
        if metadata != member.metadata:
            write_metadata(self.outcome, self.group.group_id, member.member_id, metadata)
            names_changed = metadata.subscribed_topic_names != member.metadata.subscribed_topic_names
        change = self._update_regex(member.metadata, metadata)
        self.is_subscription_changed = names_changed or change is not RegexChange.NONE
        calls_for_epoch = names_changed or change is RegexChange.RESOLVED
        if is_classic:
            calls_for_epoch = self.is_subscription_changed
        if calls_for_epoch or self._has_metadata_changed():
            self._update_group_epoch(member, metadata, is_forced=calls_for_epoch)
        return member if metadata is member.metadata else member._replace(metadata=metadata)

    def _has_metadata_changed(self) -> bool:
        """Whether topics of the group may have changed since it was last looked at."""
        checked = self.group.checked_epoch
        return checked is None or self.group.group_epoch < checked

    def _update_group_epoch(self, member: Member, metadata: MemberMetadata, *, is_forced: bool) -> None:
        group = self.group
        topics = group.subscriptions.topics_after([member.metadata], [metadata])
        metadata_hash = self.world.topic_hashes.of_group(topics)
        if is_forced or metadata_hash != group.metadata_hash:
            self.group_epoch += 1
            write_group_epoch(self.outcome, group.group_id, self.group_epoch, metadata_hash)
        group.checked_epoch = self.group_epoch
        if group.has_partition_metadata:
            self.outcome.write(ConsumerGroupPartitionMetadataKey(group.group_id))

    def _update_regex(self, old: MemberMetadata, new: MemberMetadata) -> RegexChange:
        old_regex, new_regex = old.subscribed_topic_regex, new.subscribed_topic_regex
        counts = self.group.subscriptions.regexes
        if old_regex == new_regex:
            if counts:
                self._maybe_refresh_regexes(counts)
            return RegexChange.NONE
        if old_regex and counts[old_regex] == 1:
            write_regex_removal(self.outcome, self.group.group_id, old_regex)
        is_new = bool(new_regex) and not counts[new_regex or ""]
        if new_regex and is_new:
            check_regex(new_regex)
        counts = Counter(counts)
        if old_regex:
            counts.subtract([old_regex])
        if new_regex:
            counts.update([new_regex])
        self._maybe_refresh_regexes(+counts, is_new=is_new)
        if new_regex:
            is_resolved = not is_new and new_regex in self.group.subscriptions.resolved
            return RegexChange.RESOLVED if is_resolved else RegexChange.UNRESOLVED
        return RegexChange.RESOLVED if old_regex else RegexChange.UNRESOLVED

    def _maybe_refresh_regexes(self, counts: Counter[str], *, is_new: bool = False) -> None:
        """Has all expressions of the group matched again, soon and together, if there is a reason to."""
        group_id = self.group.group_id
        if not counts or self.world.is_refreshing(group_id, self.now_ms):
            return
        subscriptions = self.group.subscriptions
        last_refresh_ms = subscriptions.last_refresh_ms()
        age_ms = None if last_refresh_ms is None else self.now_ms - last_refresh_ms
        if age_ms is not None and age_ms <= REGEX_REFRESH_MIN_INTERVAL_MS:
            return
        if (
            is_new
            or len(counts) != len(subscriptions.resolved)
            or subscriptions.last_version() < self.world.topics_version
            or age_ms is None
            or age_ms > self.world.settings.group_consumer_regex_refresh_interval_ms
        ):
            self.world.refresh_regexes(group_id, self.outcome, self.now_ms)

    # 2: the target

    def update_target(self, member: Member, updated: Member) -> None:
        """`member` is what it was before, to take back its vote for an assignor."""
        self.target_epoch = self.group.assignment_epoch
        if self.group_epoch <= self.group.assignment_epoch or not self._may_assign():
            self.target = target_of(self.group, updated)
            return
        members = {**self.group.members, updated.member_id: updated}
        replaced = self.group.static_members.get(updated.metadata.instance_id or "")
        if replaced is not None and replaced != updated.member_id:
            del members[replaced]
        assignor = self._choose_assignor(member, updated)
        target = compute_target(self.group, members.values(), assignor, self.world.image)
        write_changes(self.outcome, self.group, self.group_epoch, target, self.now_ms)
        self.target_epoch, self.target = self.group_epoch, target[updated.member_id]

    def _may_assign(self) -> bool:
        interval_ms = self.world.assignment_interval_ms(self.group.group_id)
        return self.group.may_assign(interval_ms, self.now_ms)

    def _choose_assignor(self, member: Member, updated: Member) -> str:
        votes = Counter(self.group.assignor_votes)
        if member.metadata.server_assignor is not None:
            votes.subtract([member.metadata.server_assignor])
        if updated.metadata.server_assignor is not None:
            votes.update([updated.metadata.server_assignor])
        assignors = self.world.assignors()
        preferred = self.group.preferred_assignor(+votes)
        return preferred if preferred in assignors else assignors[0]

    # 3: a step towards it

    def reconcile(self, member: Member, owned: Owned) -> Member:
        current = member.current
        if not self.is_subscription_changed and current.is_reconciled_to(self.target_epoch):
            return member
        group = self.group
        topics = subscribed_topic_ids(member.metadata, group.subscriptions.resolved, self.world.image)
        aim = Aim(self.target_epoch, self.target, topics, group.is_owned, owned)
        reached = reconcile(current, aim, is_subscription_changed=self.is_subscription_changed)
        if reached == current:
            return member
        write_current(self.outcome, group.group_id, member.member_id, reached)
        if not member.uses_classic_protocol:
            self._time_revocation(member, reached.state)
        return member._replace(current=reached)

    def _time_revocation(self, member: Member, state: MemberState) -> None:
        key = rebalance_timer(self.group.group_id, member.member_id)
        if state == MemberState.UNREVOKED_PARTITIONS:
            self.outcome.start_timer(key, member.metadata.rebalance_timeout_ms)
        elif member.current.state == MemberState.UNREVOKED_PARTITIONS:
            self.outcome.stop_timer(key)
