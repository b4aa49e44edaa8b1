"""Share groups: who is a member, what each of them reads, and which share partitions have their state.

A heartbeat does it all: a member that joins, changes its subscription or finds that topics have changed lets the group
epoch grow; then the target assignment is computed anew, at most once per assignment interval, and the member takes
what it is given.

Only partitions whose state was initialised by the share coordinator are assigned. So the first heartbeats of a group
say `InitializeShareStates`, an effect; when it is done (`on_initialized`), the next heartbeat finds partitions to
assign.
"""

from collections.abc import Mapping
from dataclasses import replace

from penstock.errors import ApiError, ErrorCode
from penstock.group.groups import SHARE
from penstock.group.modern_group import NO_ASSIGNMENT, Assignment
from penstock.group.parts import OnTimer, Replay
from penstock.group.share_assignor import assign_partitions
from penstock.group.share_effects import InitializeShareStates, states_to_initialize
from penstock.group.share_group import FOLDS, ShareGroup
from penstock.group.share_members import STABLE, ShareMember, to_topic_partitions
from penstock.group.share_offsets import ShareGroupOffsets, as_share_group
from penstock.group.share_partitions import SharedTopics, SharePartitions
from penstock.machine import Caller, Outcome, RecordContext, Ticket, TimerKey
from penstock.wire.messages import share_group_describe as describe
from penstock.wire.messages import share_group_heartbeat as heartbeat
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

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
MAX_MEMBER_ID_LENGTH = 36
ASSIGNOR = "simple"
SESSION = "share-session"


class ShareGroups(ShareGroupOffsets):
    def replays(self) -> Mapping[type[StoredMessage], Replay]:
        return {
            **dict.fromkeys(FOLDS, self._replay),
            ShareGroupStatePartitionMetadataKey: self._replay_partitions,
        }

    def timers(self) -> Mapping[str, OnTimer]:
        return {SESSION: self._on_session_ended}

    def _replay(
        self, key: "ShareGroupMetadataKey", value: StoredMessage | None, context: RecordContext
    ) -> None:
        group = self._replayed_group(key.group_id, value)
        if group is None:
            return
        if value is None and isinstance(key, ShareGroupMetadataKey):
            del self.context.groups[key.group_id]
        else:
            group.fold(key, value)

    def _replay_partitions(
        self,
        key: ShareGroupStatePartitionMetadataKey,
        value: ShareGroupStatePartitionMetadataValue | None,
        context: RecordContext,
    ) -> None:
        group = self._replayed_group(key.group_id, value)
        if group is not None:
            group.fold_partitions(value, context.timestamp_ms)

    def _replayed_group(self, group_id: str, value: StoredMessage | None) -> ShareGroup | None:
        """The group that a record is about; a record with a value makes it."""
        group = self.context.groups.get(group_id)
        if group is None and value is not None:
            group = self.context.groups[group_id] = ShareGroup(group_id)
        return group if isinstance(group, ShareGroup) else None

    # heartbeat

    def handle_heartbeat(
        self, request: heartbeat.ShareGroupHeartbeatRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome:
        check_heartbeat(request)
        if request.member_epoch == LEAVE_EPOCH:
            return self._leave(request, ticket)
        group = self._group_to_join(request)
        old = self._member_of(group, request)
        new = _updated(old, request, caller)
        outcome = Outcome()
        if new != old or new.member_id not in group.members:
            _write_member(outcome, group.group_id, new)
        if not self._is_up_to_date(group, old, new):
            new = self._move_on(outcome, group, old, new, now_ms)
        config = self.context.group_config(group.group_id)
        outcome.start_timer((SESSION, group.group_id, new.member_id), config.share_session_timeout_ms)
        response = heartbeat.ShareGroupHeartbeatResponse(
            member_id=new.member_id,
            member_epoch=new.member_epoch,
            heartbeat_interval_ms=config.share_heartbeat_interval_ms,
        )
        is_full_request = request.subscribed_topic_names is not None
        if request.member_epoch == JOIN_EPOCH or is_full_request or new.assigned != old.assigned:
            response.assignment = _to_response(new.assigned)
        outcome.reply(ticket, response)
        return outcome

    def _is_up_to_date(self, group: ShareGroup, old: ShareMember, new: ShareMember) -> bool:
        """The usual case: there is nothing to do but to note that the member is alive."""
        return (
            group.is_settled
            and new == old
            and new.member_id in group.members
            and group.assignment_epoch >= group.group_epoch
            and new.member_epoch == group.assignment_epoch
        )

    def _move_on(
        self, outcome: Outcome, group: ShareGroup, old: ShareMember, new: ShareMember, now_ms: int
    ) -> ShareMember:
        """Lets the group and the member take the next steps; returns the member after them."""
        topics = group.topics_after(old, new)
        has_changed = new.subscribed_topic_names != old.subscribed_topic_names
        if group.assignment_epoch >= group.group_epoch:
            has_changed = has_changed or _is_assignment_pending(group)
        group_epoch = group.group_epoch
        if has_changed or not group.is_settled:
            metadata_hash = self.context.topic_hashes.of_group(topics)
            has_changed = has_changed or metadata_hash != group.metadata_hash
            if has_changed:
                group_epoch += 1
                value = ShareGroupMetadataValue(group_epoch, metadata_hash)
                outcome.write(ShareGroupMetadataKey(group.group_id), value)
        assignment_epoch, target = group.assignment_epoch, group.target.get(new.member_id, NO_ASSIGNMENT)
        if assignment_epoch < group_epoch and self._may_assign(group, now_ms):
            assignment_epoch, target = group_epoch, self._assign(outcome, group, new, group_epoch, now_ms)
        if has_changed or new.member_epoch != assignment_epoch:
            new = self._reconcile(outcome, group, new, assignment_epoch, target)
        self._initialize(outcome, group, topics, group_epoch, now_ms)
        is_initialized = not group.partitions.initializing
        group.is_settled = not outcome.records and is_initialized and assignment_epoch >= group_epoch
        return new

    def _group_to_join(self, request: heartbeat.ShareGroupHeartbeatRequest) -> ShareGroup:
        group = self.context.groups.get(request.group_id)
        if group is None and request.member_epoch == JOIN_EPOCH:
            group = ShareGroup(request.group_id)
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Share group {request.group_id} not found.")
        return as_share_group(group)

    def _member_of(self, group: ShareGroup, request: heartbeat.ShareGroupHeartbeatRequest) -> ShareMember:
        limit = self.context.settings.group_share_max_size
        if len(group.members) >= limit and request.member_id not in group.members:
            message = f"The share group has reached its maximum capacity of {limit} members."
            raise ApiError(ErrorCode.GROUP_MAX_SIZE_REACHED, message)
        if request.member_id not in group.members and request.member_epoch == JOIN_EPOCH:
            return ShareMember(request.member_id)
        member = group.member(request.member_id)
        _check_epoch(member, request.member_epoch)
        return member

    def _may_assign(self, group: ShareGroup, now_ms: int) -> bool:
        interval_ms = self.context.group_config(group.group_id).share_assignment_interval_ms
        return group.may_assign(interval_ms, now_ms)

    def _assign(
        self, outcome: Outcome, group: ShareGroup, member: ShareMember, group_epoch: int, now_ms: int
    ) -> Assignment:
        """Computes and writes the target assignment; returns what it has for this member."""
        members = {**group.members, member.member_id: member}
        topics = self.context.image.topics
        subscriptions = {
            each.member_id: frozenset(
                topics[name].topic_id for name in each.subscribed_topic_names if name in topics
            )
            for each in members.values()
        }
        partitions = {
            topic_id: tuple(topic.partitions) for topic_id, topic in group.partitions.initialized.items()
        }
        target = assign_partitions(subscriptions, partitions, group.target)
        for member_id, assignment in target.items():
            if assignment != group.target.get(member_id):
                value = ShareGroupTargetAssignmentMemberValue(to_topic_partitions(assignment))
                outcome.write(ShareGroupTargetAssignmentMemberKey(group.group_id, member_id), value)
        outcome.write(
            ShareGroupTargetAssignmentMetadataKey(group.group_id),
            ShareGroupTargetAssignmentMetadataValue(group_epoch, now_ms),
        )
        return target[member.member_id]

    def _reconcile(
        self, outcome: Outcome, group: ShareGroup, member: ShareMember, epoch: int, target: Assignment
    ) -> ShareMember:
        topics = self.context.image.topics
        wanted = {topics[name].topic_id for name in member.subscribed_topic_names if name in topics}
        assigned = {topic_id: indexes for topic_id, indexes in target.items() if topic_id in wanted}
        reconciled = replace(member, assigned=assigned)
        if member.member_epoch != epoch:
            reconciled = replace(reconciled, member_epoch=epoch, previous_member_epoch=member.member_epoch)
        if reconciled != member:
            outcome.write(
                ShareGroupCurrentMemberAssignmentKey(group.group_id, member.member_id),
                ShareGroupCurrentMemberAssignmentValue(
                    reconciled.member_epoch,
                    reconciled.previous_member_epoch,
                    STABLE,
                    to_topic_partitions(assigned),
                ),
            )
        return reconciled

    # leaving

    def _leave(self, request: heartbeat.ShareGroupHeartbeatRequest, ticket: Ticket) -> Outcome:
        group = self.find_group(request.group_id)
        outcome = self._remove(group, group.member(request.member_id))
        outcome.reply(
            ticket,
            heartbeat.ShareGroupHeartbeatResponse(
                member_id=request.member_id, member_epoch=request.member_epoch
            ),
        )
        return outcome

    def _remove(self, group: ShareGroup, member: ShareMember) -> Outcome:
        outcome = Outcome()
        where = group.group_id, member.member_id
        outcome.write(ShareGroupCurrentMemberAssignmentKey(*where))
        outcome.write(ShareGroupTargetAssignmentMemberKey(*where))
        outcome.write(ShareGroupMemberMetadataKey(*where))
        metadata_hash = self.context.topic_hashes.of_group(group.topics_after(member, None))
        outcome.write(
            ShareGroupMetadataKey(group.group_id),
            ShareGroupMetadataValue(group.group_epoch + 1, metadata_hash),
        )
        outcome.stop_timer((SESSION, *where))
        return outcome

    def _on_session_ended(self, key: TimerKey, now_ms: int) -> Outcome:
        _, group_id, member_id = key
        group = self.context.groups.get(str(group_id))
        if not isinstance(group, ShareGroup) or member_id not in group.members:
            return Outcome()
        return self._remove(group, group.members[str(member_id)])

    # states of share partitions

    def _initialize(
        self, outcome: Outcome, group: ShareGroup, topics: set[str], group_epoch: int, now_ms: int
    ) -> None:
        """Has the state of partitions made that have none yet."""
        retry_ms = self.context.settings.group_share_initialize_retry_interval_ms
        missing = states_to_initialize(group.partitions, self.context.image, topics, now_ms, retry_ms)
        if missing:
            self._write_partitions(outcome, group.group_id, group.partitions.begin(missing))
            outcome.effects.append(InitializeShareStates(group.group_id, group_epoch, missing))

    def on_initialized(self, group_id: str, topics: SharedTopics) -> Outcome:
        """The share coordinator has made these states."""
        outcome = Outcome()
        group = self.context.groups.get(group_id)
        if isinstance(group, ShareGroup) and topics:
            known = {key: topic for key, topic in topics.items() if key in self.context.image.topic_names}
            partitions = group.partitions.give_up(topics).finish(known)  # one may be deleted by now
            self._write_partitions(outcome, group_id, partitions)
        return outcome

    def on_not_initialized(self, group_id: str, topics: SharedTopics) -> Outcome:
        """It couldn't; the next heartbeat has it try again."""
        outcome = Outcome()
        group = self.context.groups.get(group_id)
        if isinstance(group, ShareGroup) and group.partitions.initializing and topics:
            self._write_partitions(outcome, group_id, group.partitions.give_up(topics))
        return outcome

    def _write_partitions(self, outcome: Outcome, group_id: str, partitions: SharePartitions) -> None:
        outcome.write(ShareGroupStatePartitionMetadataKey(group_id), partitions.to_record())

    # describe

    def handle_describe(self, group_id: str, ticket: Ticket, now_ms: int) -> Outcome:
        group = self.find_group(group_id)
        outcome = Outcome()
        outcome.reply(
            ticket,
            describe.DescribedGroup(
                group_id=group_id,
                group_state=group.state_name,
                group_epoch=group.group_epoch,
                assignment_epoch=group.assignment_epoch,
                assignor_name=ASSIGNOR,
                members=[self._describe_member(member) for member in group.members.values()],
            ),
        )
        return outcome

    def _describe_member(self, member: ShareMember) -> describe.Member:
        names = self.context.image.topic_names
        return describe.Member(
            member_id=member.member_id,
            rack_id=member.rack_id,
            member_epoch=member.member_epoch,
            client_id=member.client_id,
            client_host=member.client_host,
            subscribed_topic_names=sorted(member.subscribed_topic_names),
            assignment=describe.Assignment(
                [
                    describe.TopicPartitions(topic.topic_id, names[topic.topic_id], topic.partitions)
                    for topic in to_topic_partitions(member.assigned)
                    if topic.topic_id in names
                ]
            ),
        )

    # by itself

    def on_loaded(self, now_ms: int, outcome: Outcome) -> None:
        for group in self.share_groups():
            timeout_ms = self.context.group_config(group.group_id).share_session_timeout_ms
            for member_id in group.members:
                outcome.start_timer((SESSION, group.group_id, member_id), timeout_ms)
        self._forget_deleted_topics(outcome)

    def on_topics_changed(self, names: frozenset[str], now_ms: int, outcome: Outcome) -> None:
        for group in self.share_groups():
            if not names.isdisjoint(group.subscribed):
                group.is_settled = False
        if any(name not in self.context.image.topics for name in names):
            self._forget_deleted_topics(outcome)

    def _forget_deleted_topics(self, outcome: Outcome) -> None:
        known = self.context.image.topic_names
        for group in self.share_groups():
            gone = {topic_id for topic_id in group.partitions.topic_ids() if topic_id not in known}
            if gone:
                self._write_partitions(outcome, group.group_id, group.partitions.without_topics(gone))

    def share_groups(self) -> list[ShareGroup]:
        return [group for group in self.context.of_kind(SHARE) if isinstance(group, ShareGroup)]


def check_heartbeat(request: heartbeat.ShareGroupHeartbeatRequest) -> None:
    if not 0 < len(request.member_id) <= MAX_MEMBER_ID_LENGTH:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Invalid member id in the request.")
    if not request.group_id.strip():
        raise ApiError(ErrorCode.INVALID_REQUEST, "GroupId can't be empty.")
    if request.rack_id is not None and not request.rack_id.strip():
        raise ApiError(ErrorCode.INVALID_REQUEST, "RackId can't be empty.")
    if request.member_epoch == JOIN_EPOCH:
        if not request.subscribed_topic_names:
            raise ApiError(ErrorCode.INVALID_REQUEST, "SubscribedTopicNames must be set in first request.")
    elif request.member_epoch < LEAVE_EPOCH:
        raise ApiError(ErrorCode.INVALID_REQUEST, "MemberEpoch is invalid.")


def _updated(
    member: ShareMember, request: heartbeat.ShareGroupHeartbeatRequest, caller: Caller
) -> ShareMember:
    """The member with what the request says of it; what it doesn't mention stays."""
    rack_id, names = request.rack_id, request.subscribed_topic_names
    return replace(
        member,
        rack_id=member.rack_id if rack_id is None else rack_id,
        subscribed_topic_names=member.subscribed_topic_names if names is None else frozenset(names),
        client_id=caller.client_id,
        client_host=caller.client_host,
    )


def _to_response(assignment: Assignment) -> heartbeat.Assignment:
    return heartbeat.Assignment(
        [
            heartbeat.TopicPartitions(topic.topic_id, topic.partitions)
            for topic in to_topic_partitions(assignment)
        ]
    )


def _check_epoch(member: ShareMember, epoch: int) -> None:
    known = member.member_epoch
    if epoch in (JOIN_EPOCH, known, member.previous_member_epoch) and epoch <= known:
        return
    if epoch > known:
        message = (
            f"The share group member has a greater member epoch ({epoch}) than the one known by the group "
            f"coordinator ({known}). The member must abandon all its partitions and rejoin."
        )
    else:
        message = (
            f"The share group member has a smaller member epoch ({epoch}) than the one known by the group "
            f"coordinator ({known}), and it does not match the previous member epoch "
            f"({member.previous_member_epoch}). The member must abandon all its partitions and rejoin."
        )
    raise ApiError(ErrorCode.FENCED_MEMBER_EPOCH, message)


def _is_assignment_pending(group: ShareGroup) -> bool:
    """Whether partitions are initialised that nobody was told of, or the other way round."""
    if not group.members or not group.subscribed:
        return False
    assigned: dict[bytes, set[int]] = {}
    for assignment in group.target.values():
        for topic_id, indexes in assignment.items():
            assigned.setdefault(topic_id, set()).update(indexes)
    return any(
        assigned.get(topic_id, set()) != set(topic.partitions)
        for topic_id, topic in group.partitions.initialized.items()
        if topic.name in group.subscribed
    )


def _write_member(outcome: Outcome, group_id: str, member: ShareMember) -> None:
    outcome.write(
        ShareGroupMemberMetadataKey(group_id, member.member_id),
        ShareGroupMemberMetadataValue(
            member.rack_id, member.client_id, member.client_host, sorted(member.subscribed_topic_names)
        ),
    )
