"""Committing offsets: now, soon with a callback, and before partitions go."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from penstock.client.consumer.progress import Offsets
from penstock.client.librdkafka import (
    BrokerTroubles,
    Consumer,
    KafkaException,
    NativeError,
    NativeTopicPartition,
    client_error,
    error_of,
)
from penstock.client.records import ConsumerRecord, OffsetAndMetadata
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client.errors import KafkaError

logger = logging.getLogger("penstock.client")

OffsetsToCommit: TypeAlias = Mapping[TopicPartition, int | OffsetAndMetadata] | ConsumerRecord
Committed: TypeAlias = dict[TopicPartition, OffsetAndMetadata]
CommitCallback: TypeAlias = Callable[[Committed, KafkaError | None], object]

WHAT = "commit of offsets"
_NO_LONGER_A_MEMBER = {
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.STALE_MEMBER_EPOCH,
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.FENCED_INSTANCE_ID,
}
_Exact = frozenset[tuple[str, int, int]]


class _UnderWay(NamedTuple):
    exactly: _Exact
    callback: CommitCallback


class Commits:
    def __init__(self, troubles: BrokerTroubles) -> None:
        self._troubles = troubles
        self._under_way: deque[_UnderWay] = deque()

    def now(self, native: Consumer, offsets: Iterable[NativeTopicPartition]) -> Committed:
        """Returns when the broker has them."""
        wanted = list(offsets)
        if not wanted:
            return {}
        try:
            done = native.commit(offsets=wanted, asynchronous=False)
        except KafkaException as error:
            raise client_error(error_of(error), WHAT, self._troubles) from error
        for each in done:
            if each.error is not None:
                raise client_error(each.error, f"{WHAT} of {each.topic}-{each.partition}", self._troubles)
        return _committed(done)

    def soon(
        self, native: Consumer, offsets: Iterable[NativeTopicPartition], callback: CommitCallback | None
    ) -> None:
        """Returns at once; the callback is called from within a later `poll`."""
        wanted = list(offsets)
        if not wanted:
            if callback is not None:
                callback({}, None)
            return
        if callback is not None:
            self._under_way.append(_UnderWay(_exactly(wanted), callback))
        try:
            native.commit(offsets=wanted, asynchronous=True)
        except KafkaException as error:
            raise client_error(error_of(error), WHAT, self._troubles) from error

    def before_they_go(self, native: Consumer, offsets: Offsets) -> bool:
        """False if they have gone already. A failure is logged: all it means is that records will be seen again."""
        try:
            self.now(native, offsets.values())
        except KafkaError as error:
            logger.warning("%s; records may be seen again", error.message)
            return error.code not in _NO_LONGER_A_MEMBER
        return True

    def on_commit(self, error: NativeError | None, partitions: list[NativeTopicPartition]) -> None:
        """librdkafka's callback, for its own commits and for ours that are under way."""
        failed = error or next((each.error for each in partitions if each.error is not None), None)
        reason = None if failed is None else client_error(failed, WHAT, self._troubles)
        exactly = _exactly(partitions)
        known = next((each for each in self._under_way if each.exactly == exactly), None)
        if known is not None:
            self._under_way.remove(known)
            known.callback(_committed(partitions), reason)
        elif reason is not None and failed is not None and failed.name() != "_NO_OFFSET":
            logger.warning("%s", reason.message)


def to_native(offsets: OffsetsToCommit) -> list[NativeTopicPartition]:
    if isinstance(offsets, ConsumerRecord):
        return [
            _native(offsets.topic_partition, OffsetAndMetadata(offsets.offset + 1, "", offsets.leader_epoch))
        ]
    return [_native(partition, offset) for partition, offset in offsets.items()]


def _native(partition: TopicPartition, offset: int | OffsetAndMetadata) -> NativeTopicPartition:
    given = OffsetAndMetadata(offset) if isinstance(offset, int) else offset
    if given.offset < 0:
        raise ValueError(f"{TopicPartition(*partition)}: got offset {given.offset}; takes 0 or more")
    epoch = -1 if given.leader_epoch is None else given.leader_epoch
    return NativeTopicPartition(*partition, given.offset, given.metadata, epoch)


def _exactly(partitions: Iterable[NativeTopicPartition]) -> _Exact:
    return frozenset((each.topic, each.partition, each.offset) for each in partitions)


def _committed(partitions: Iterable[NativeTopicPartition]) -> Committed:
    return {
        TopicPartition(each.topic, each.partition): OffsetAndMetadata(
            each.offset, each.metadata or "", each.leader_epoch
        )
        for each in partitions
        if each.offset >= 0
    }
