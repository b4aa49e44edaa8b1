"""Committed offsets: how far each group has come in each partition, and what it noted about that.

A group commits as a member (the group judges the member and its generation), or without being one: a commit with
a negative generation is taken from anybody as long as the group has no members, and if there is no such group, the
replay of the commit makes one, empty and of the classic kind.

A commit inside a transaction is written with its producer, and is *pending* until the transaction's end stands
in the log. Until then the offset before it is in force; who reads with `require_stable` is told
UNSTABLE_OFFSET_COMMIT instead. Of a plain and a transactional commit the one that stands later in the log counts,
even if the transaction ends after both: compaction would keep that one, too.

Offsets go when they expire (`offsets_expiry`), when their topic does, when they are deleted, and with their group.
"""

from collections.abc import Mapping

from penstock.controller.image import TopicImage
from penstock.errors import ApiError, ErrorCode
from penstock.group.classic_group import ensure_classic_group
from penstock.group.groups import CheckPartition, GroupContext, check_group_id
from penstock.group.offsets_answers import (
    FIRST_COMMIT_BY_ID,
    FIRST_FETCH_BY_ID,
    error_of,
    find_topic,
    refuse_commit,
    refuse_transactional_commit,
)
from penstock.group.offsets_expiry import write_expired
from penstock.group.offsets_fetch import Look
from penstock.group.offsets_store import NO_TOPIC_ID, CommittedOffset, OffsetStore
from penstock.group.parts import OnTimer, Part, Replay
from penstock.machine import Caller, Outcome, Producer, RecordContext, Ticket, TimerKey
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from penstock.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchResponseGroup,
)
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from penstock.wire.schema import StoredMessage
from penstock.wire.stored.group import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)

EXPIRY = "expire-offsets"
NO_RETENTION = NO_EXPIRY = -1
LATEST_EXPIRY = 2**63 - 1
"""What a stored record can tell; a retention beyond it means for ever."""
VALUE_VERSION, VALUE_VERSION_WITH_EXPIRY = 4, 1
FIRST_COMMIT_THAT_MISSES_GROUPS = 9
NOTHING = OffsetStore()
"""What a group has that is not there."""

AnyPartition = OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition


class Offsets(Part):
    def __init__(self, context: GroupContext) -> None:
        super().__init__(context)
        self.store = OffsetStore()

    # committing

    def handle_offset_commit(
        self, request: OffsetCommitRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome:
        outcome = Outcome()
        try:
            response = self._commit(request, caller.version, now_ms, outcome)
        except ApiError as error:
            outcome = Outcome()
            response = refuse_commit(request, caller.version, self.context.image, error.code)
        outcome.reply(ticket, response)
        return outcome

    def _commit(
        self, request: OffsetCommitRequest, version: int, now_ms: int, outcome: Outcome
    ) -> OffsetCommitResponse:
        check = self._check_commit(request, version, outcome)
        by_id = version >= FIRST_COMMIT_BY_ID
        retention_ms = request.retention_time_ms
        expires_at_ms = (
            NO_EXPIRY if retention_ms == NO_RETENTION else min(now_ms + retention_ms, LATEST_EXPIRY)
        )
        answers = []
        for topic in request.topics:
            found = find_topic(self.context.image, topic, by_id=by_id)
            partitions = []
            for partition in topic.partitions:
                code = self._judge(found, partition, check, by_id=by_id)
                partitions.append(OffsetCommitResponsePartition(partition.partition_index, code))
                if found is not None and not code:
                    value = _value(partition, now_ms, expires_at_ms, found.topic_id)
                    self._write(request.group_id, found.name, partition.partition_index, value, outcome)
            answers.append(OffsetCommitResponseTopic(topic.name, topic.topic_id, partitions))
        return OffsetCommitResponse(topics=answers)

    def _check_commit(
        self, request: OffsetCommitRequest, version: int, outcome: Outcome
    ) -> CheckPartition | None:
        generation = request.generation_id_or_member_epoch
        group = self.context.groups.get(request.group_id)
        if group is None:
            if generation < 0:
                return None
            misses_group = version >= FIRST_COMMIT_THAT_MISSES_GROUPS
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND if misses_group else ErrorCode.ILLEGAL_GENERATION)
        check = group.check_offset_commit(
            request.member_id,
            request.group_instance_id,
            generation,
            is_transactional=False,
            version=version,
        )
        group.on_offset_commit(request.member_id, outcome)
        return check

    def _judge(
        self, topic: TopicImage | None, partition: AnyPartition, check: CheckPartition | None, *, by_id: bool
    ) -> ErrorCode:
        code = error_of(topic, partition.partition_index, by_id=by_id)
        if code or topic is None:
            return code
        metadata = partition.committed_metadata
        if metadata and _is_longer(metadata, self.context.settings.offset_metadata_max_bytes):
            return ErrorCode.OFFSET_METADATA_TOO_LARGE
        if check is not None:
            check(topic.name, topic.topic_id, partition.partition_index)
        return ErrorCode.NONE

    def _write(
        self, group_id: str, topic: str, partition: int, value: OffsetCommitValue, outcome: Outcome
    ) -> None:
        has_expiry = value.expire_timestamp != NO_EXPIRY
        version = VALUE_VERSION_WITH_EXPIRY if has_expiry else VALUE_VERSION
        outcome.write(OffsetCommitKey(group_id, topic, partition), value, version)

    # committing in a transaction

    def handle_txn_offset_commit(
        self, request: TxnOffsetCommitRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> Outcome:
        outcome = Outcome(producer=Producer(request.producer_id, request.producer_epoch))
        try:
            response = self._commit_in_transaction(request, caller.version, now_ms, outcome)
        except ApiError as error:
            stale = error.code == ErrorCode.STALE_MEMBER_EPOCH
            code = ErrorCode.ILLEGAL_GENERATION if stale else error.code
            outcome = Outcome()
            response = refuse_transactional_commit(request, self.context.image, code)
        outcome.reply(ticket, response)
        return outcome

    def _commit_in_transaction(
        self, request: TxnOffsetCommitRequest, version: int, now_ms: int, outcome: Outcome
    ) -> TxnOffsetCommitResponse:
        check_group_id(request.group_id)
        check = self._check_transactional_commit(request, version)
        answers = []
        for topic in request.topics:
            found = self.context.image.topics.get(topic.name)
            partitions = []
            for partition in topic.partitions:
                code = self._judge(found, partition, check, by_id=False)
                partitions.append(TxnOffsetCommitResponsePartition(partition.partition_index, code))
                if not code:
                    value = _value(partition, now_ms, NO_EXPIRY, NO_TOPIC_ID)
                    self._write(request.group_id, topic.name, partition.partition_index, value, outcome)
            answers.append(TxnOffsetCommitResponseTopic(topic.name, partitions))
        return TxnOffsetCommitResponse(topics=answers)

    def _check_transactional_commit(
        self, request: TxnOffsetCommitRequest, version: int
    ) -> CheckPartition | None:
        group = self.context.groups.get(request.group_id)
        if group is not None:
            return group.check_offset_commit(
                request.member_id,
                request.group_instance_id,
                request.generation_id,
                is_transactional=True,
                version=version,
            )
        if request.generation_id >= 0:
            raise ApiError(ErrorCode.ILLEGAL_GENERATION)
        return None

    # fetching

    def fetch(
        self, wanted: OffsetFetchRequestGroup, version: int, *, require_stable: bool
    ) -> OffsetFetchResponseGroup:
        """What one group has committed: in the partitions that are asked for, or in all."""
        is_known = self._check_fetch(wanted)
        store = self.store if is_known else NOTHING
        by_id = version >= FIRST_FETCH_BY_ID
        look = Look(store, self.context.image, wanted.group_id, by_id, require_stable)
        topics = look.at_all() if wanted.topics is None else [look.at_topic(topic) for topic in wanted.topics]
        return OffsetFetchResponseGroup(wanted.group_id, topics)

    def _check_fetch(self, wanted: OffsetFetchRequestGroup) -> bool:
        """Whether there is such a group; one that is not has committed nothing, which is no error."""
        group = self.context.groups.get(wanted.group_id)
        if group is None:
            return False
        try:
            group.check_offset_fetch(wanted.member_id, wanted.member_epoch)
        except ApiError as error:
            if error.code != ErrorCode.GROUP_ID_NOT_FOUND:
                raise
            return False
        return True

    # deleting

    def handle_offset_delete(self, request: OffsetDeleteRequest, ticket: Ticket, now_ms: int) -> Outcome:
        check_group_id(request.group_id)
        group = self.context.groups.get(request.group_id)
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} not found.")
        group.check_offset_delete()
        outcome = Outcome()
        topics = [
            self._delete(request.group_id, topic, group.is_subscribed_to(topic.name), outcome)
            for topic in request.topics
        ]
        outcome.reply(ticket, OffsetDeleteResponse(topics=topics))
        return outcome

    def _delete(
        self, group_id: str, topic: OffsetDeleteRequestTopic, is_subscribed: bool, outcome: Outcome
    ) -> OffsetDeleteResponseTopic:
        found = self.context.image.topics.get(topic.name)
        answers = []
        for partition in topic.partitions:
            index = partition.partition_index
            code = error_of(found, index, by_id=False)
            if not code and is_subscribed:
                code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
            elif not code and self.store.has(group_id, topic.name, index):
                outcome.write(OffsetCommitKey(group_id, topic.name, index))
            answers.append(OffsetDeleteResponsePartition(index, code))
        return OffsetDeleteResponseTopic(topic.name, answers)

    def write_tombstones_of_group(self, group_id: str, outcome: Outcome) -> None:
        """Removes all that a group has committed, for whoever removes the group."""
        for topic, partition in self.store.partitions_of_group(group_id):
            outcome.write(OffsetCommitKey(group_id, topic, partition))

    # time, and the cluster

    def timers(self) -> Mapping[str, OnTimer]:
        return {EXPIRY: self._on_expiry_due}

    def on_loaded(self, now_ms: int, outcome: Outcome) -> None:
        self._start_timer(outcome)

    def _start_timer(self, outcome: Outcome) -> None:
        outcome.start_timer((EXPIRY,), self.context.settings.offsets_retention_check_interval_ms)

    def _on_expiry_due(self, key: TimerKey, now_ms: int) -> Outcome:
        outcome = Outcome(on_refused=self._on_expiry_refused)
        write_expired(self.context, self.store, now_ms, outcome)
        self._start_timer(outcome)
        return outcome

    def _on_expiry_refused(self, code: ErrorCode) -> Outcome:
        outcome = Outcome()
        self._start_timer(outcome)
        return outcome

    def on_topics_changed(self, names: frozenset[str], now_ms: int, outcome: Outcome) -> None:
        for name in names:
            found = self.context.image.topics.get(name)
            for group_id, partition in self._orphans(name, found):
                outcome.write(OffsetCommitKey(group_id, name, partition))

    def _orphans(self, name: str, topic: TopicImage | None) -> list[tuple[str, int]]:
        """Partitions whose topic is gone; another one may have its name by now."""
        orphans = {
            (group_id, partition): None
            for offsets in (self.store.committed, *self.store.pending.values())
            for group_id, partition, offset in offsets.of_topic(name)
            if topic is None or offset.value.topic_id not in (NO_TOPIC_ID, topic.topic_id)
        }
        return list(orphans)

    # replay

    def replays(self) -> Mapping[type[StoredMessage], Replay]:
        return {OffsetCommitKey: self._replay, LegacyOffsetCommitKey: self._replay_legacy}

    def _replay(self, key: OffsetCommitKey, value: OffsetCommitValue | None, context: RecordContext) -> None:
        if value is None:
            self.store.remove(key.group, key.topic, key.partition)
            return
        if key.group not in self.context.groups:
            ensure_classic_group(self.context, key.group)
        offset = CommittedOffset(value, context.offset)
        if context.producer is None:
            self.store.commit(key.group, key.topic, key.partition, offset)
        else:
            producer_id = context.producer.producer_id
            self.store.commit_pending(producer_id, key.group, key.topic, key.partition, offset)

    def _replay_legacy(
        self, key: LegacyOffsetCommitKey, value: LegacyOffsetCommitValue | None, context: RecordContext
    ) -> None:
        current_key = OffsetCommitKey(key.group, key.topic, key.partition)
        current = (
            None
            if value is None
            else OffsetCommitValue(value.offset, -1, value.metadata, value.commit_timestamp)
        )
        self._replay(current_key, current, context)

    def replay_end_transaction(self, producer: Producer, *, is_commit: bool) -> None:
        self.store.end_transaction(producer.producer_id, is_commit=is_commit)


def _value(partition: AnyPartition, now_ms: int, expires_at_ms: int, topic_id: bytes) -> OffsetCommitValue:
    return OffsetCommitValue(
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.committed_metadata or "",
        now_ms,
        expires_at_ms,
        topic_id,
    )


def _is_longer(text: str, limit: int) -> bool:
    """Whether a text is longer than a limit in Java's measure, which takes two for what is beyond 16 bits."""
    length = len(text)
    if length > limit or length * 2 <= limit or text.isascii():
        return length > limit
    return len(text.encode("utf-16-le", "surrogatepass")) // 2 > limit
