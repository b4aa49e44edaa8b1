"""Fetch sessions (KIP-227): a client that reads many partitions names only what changed.

The first fetch of a session lists all partitions; the broker keeps that list under a session id. Each later
fetch carries the session's next epoch, the partitions to add or change and those to forget, and its answer
holds only partitions that have news. A request that does not fit its session is refused as a whole, and the
client starts a new one.

The cache has a fixed number of places. When all are taken, a new session takes the place of the one unused
longest, if that is unused long enough; otherwise the client gets no session and sends full requests.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    PartitionData,
)

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
MAX_EPOCH = 2**31 - 1
FIRST_VERSION_WITH_TOPIC_ID = 13


class TopicKey(NamedTuple):
    """How a request names a topic: by name up to version 12, by id from 13."""

    name: str
    topic_id: bytes


class SessionPartition:
    """One partition of a session, with what the client was told last."""

    __slots__ = ("fetch", "high_watermark", "log_start_offset")

    def __init__(self, fetch: FetchPartition) -> None:
        self.fetch = fetch
        self.high_watermark = -1
        self.log_start_offset = -1

    def has_news(self, data: PartitionData) -> bool:
        """Whether an incremental answer must hold this partition; remembers what it will tell."""
        news = (
            bool(data.records)
            or data.error_code != 0
            or data.high_watermark != self.high_watermark
            or data.log_start_offset != self.log_start_offset
            or data.preferred_read_replica != -1
            or data.diverging_epoch is not None
        )
        is_heard = (
            not data.error_code and data.diverging_epoch is None
        )  # a log that is cut takes no high watermark
        self.high_watermark = data.high_watermark if is_heard else -1
        self.log_start_offset = data.log_start_offset
        return news


class Wanted(NamedTuple):
    topic: TopicKey
    fetch: FetchPartition


class FetchPlan:
    """What one request asks for, and how its answer is to be put together."""

    def __init__(self, session: "FetchSession | None", session_id: int, incremental: bool) -> None:
        self.session = session
        self.session_id = session_id
        self.incremental = incremental
        self.wanted: list[Wanted] = []

    def select(self, read: list[tuple[Wanted, PartitionData]]) -> list[FetchableTopicResponse]:
        """The answer's partitions, grouped by topic in the order of the request."""
        topics: dict[TopicKey, list[PartitionData]] = {}
        for wanted, data in read:
            if self.session is None or self.session.is_news(wanted, data) or not self.incremental:
                topics.setdefault(wanted.topic, []).append(data)
        return [
            FetchableTopicResponse(topic=key.name, topic_id=key.topic_id, partitions=partitions)
            for key, partitions in topics.items()
        ]


class FetchSession:
    def __init__(self, session_id: int, uses_topic_ids: bool, now_ms: int) -> None:
        self.id = session_id
        self.uses_topic_ids = uses_topic_ids
        self.next_epoch = 1
        self.last_used_ms = now_ms
        self.partitions: OrderedDict[tuple[TopicKey, int], SessionPartition] = OrderedDict()

    def update(self, request: FetchRequest) -> None:
        for topic in request.topics:
            key = TopicKey(topic.topic, topic.topic_id)
            for fetch in topic.partitions:
                known = self.partitions.get((key, fetch.partition))
                if known is None:
                    self.partitions[key, fetch.partition] = SessionPartition(fetch)
                else:
                    known.fetch = fetch
        for forgotten in request.forgotten_topics_data:
            key = TopicKey(forgotten.topic, forgotten.topic_id)
            for index in forgotten.partitions:
                self.partitions.pop((key, index), None)

    def wanted(self) -> Iterator[Wanted]:
        for (topic, _), partition in self.partitions.items():
            yield Wanted(topic, partition.fetch)

    def is_news(self, wanted: Wanted, data: PartitionData) -> bool:
        key = (wanted.topic, wanted.fetch.partition)
        partition = self.partitions.get(key)
        if partition is None:
            return True
        news = partition.has_news(data)
        if data.records:
            self.partitions.move_to_end(key)  # the next answer begins with the others
        return news


class FetchSessionCache:
    def __init__(self, slots: int, min_eviction_ms: int) -> None:
        self.slots = slots
        self.min_eviction_ms = min_eviction_ms
        self.sessions: OrderedDict[int, FetchSession] = OrderedDict()  # least recently used first
        self._last_id = NO_SESSION

    def plan(self, request: FetchRequest, version: int, now_ms: int) -> FetchPlan:
        """Finds or makes the session of a request; ApiError if it does not fit."""
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            return self._plan_full(request, version, now_ms)
        session = self.sessions.get(request.session_id)
        if session is None:
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.next_epoch != request.session_epoch:
            raise ApiError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.uses_topic_ids != (version >= FIRST_VERSION_WITH_TOPIC_ID):
            raise ApiError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        session.update(request)
        session.next_epoch = 1 if session.next_epoch == MAX_EPOCH else session.next_epoch + 1
        self._touch(session, now_ms)
        plan = FetchPlan(session, session.id, incremental=True)
        plan.wanted.extend(session.wanted())
        return plan

    def _plan_full(self, request: FetchRequest, version: int, now_ms: int) -> FetchPlan:
        self.sessions.pop(request.session_id, None)
        session = None
        if request.session_epoch == INITIAL_EPOCH:
            session = self._maybe_create(version >= FIRST_VERSION_WITH_TOPIC_ID, now_ms)
        plan = FetchPlan(session, session.id if session else NO_SESSION, incremental=False)
        if session is not None:
            session.update(request)
            plan.wanted.extend(session.wanted())
            return plan
        wanted: dict[tuple[TopicKey, int], Wanted] = {}
        for topic in request.topics:
            key = TopicKey(topic.topic, topic.topic_id)
            wanted.update(((key, fetch.partition), Wanted(key, fetch)) for fetch in topic.partitions)
        plan.wanted.extend(wanted.values())
        return plan

    def _maybe_create(self, uses_topic_ids: bool, now_ms: int) -> FetchSession | None:
        if len(self.sessions) >= self.slots and not self._evict(now_ms):
            return None
        self._last_id = self._last_id % MAX_EPOCH + 1
        session = FetchSession(self._last_id, uses_topic_ids, now_ms)
        self.sessions[session.id] = session
        return session

    def _evict(self, now_ms: int) -> bool:
        oldest = next(iter(self.sessions.values()), None)
        if oldest is None or now_ms - oldest.last_used_ms < self.min_eviction_ms:
            return False
        del self.sessions[oldest.id]
        return True

    def _touch(self, session: FetchSession, now_ms: int) -> None:
        session.last_used_ms = now_ms
        self.sessions.move_to_end(session.id)
