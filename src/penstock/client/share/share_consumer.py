"""A consumer of share groups (KIP-932), over the wire client: records to several members, each acknowledged by itself.

One call of `poll` is one turn: a heartbeat if it is time for one, then a ShareFetch to each leader of the partitions
that this member is assigned. The acknowledgements of the turn before travel with it, as they do in Kafka's client.

A leader keeps a session for the member. The first fetch of a session names all partitions and may carry no
acknowledgements; those after it name what has changed. A session that the leader has lost, with the connection or for
others, begins anew; what was acknowledged and not sent then is delivered again.

    with blocking_cluster(config) as cluster:
        consumer = ShareConsumer(cluster, "orders", ["incoming"])
        for record in now(consumer.poll()):
            consumer.acknowledge(record, AcknowledgeType.ACCEPT)
        now(consumer.close())
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from penstock.client.share.acknowledgements import Acknowledgements, AcknowledgeType, Run, SharePartition
from penstock.client.share.membership import ShareMembership
from penstock.errors import ErrorCode
from penstock.records.batch import Batch, split_batches
from penstock.records.reader import Record, iterate_records
from penstock.wire.messages import share_acknowledge, share_fetch
from penstock.wire.messages.share_acknowledge import ShareAcknowledgeRequest, ShareAcknowledgeResponse
from penstock.wire.messages.share_fetch import PartitionData, ShareFetchRequest, ShareFetchResponse
from penstock.wire_client import Cluster
from penstock.wire_client.errors import error_for, is_retriable

__all__ = ["AcknowledgeType", "ShareConsumer", "SharedRecord"]

NEW_SESSION, LAST_OF_SESSION = 0, -1
HIGHEST_EPOCH = 2**31 - 1
MOST_RECORDS = 500
MOST_BYTES = 50 * 1024 * 1024
MAX_WAIT_MS = 200
METADATA_MAX_AGE_SECONDS = 300.0
_WHAT_IS_WRONG: dict[int, str] = {
    ErrorCode.INVALID_TOPIC_EXCEPTION: "Invalid topics",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Not authorized to access topics",
}
SESSION_IS_LOST = frozenset({ErrorCode.SHARE_SESSION_NOT_FOUND, ErrorCode.INVALID_SHARE_SESSION_EPOCH})


class SharedRecord(NamedTuple):
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    is_append_time: bool
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    delivery_count: int
    place: SharePartition


class _Session:
    """What a leader knows of this member."""

    def __init__(self) -> None:
        self.epoch = NEW_SESSION
        self.partitions: set[SharePartition] = set()

    def went_on(self) -> None:
        self.epoch = 1 if self.epoch == HIGHEST_EPOCH else self.epoch + 1


class ShareConsumer:
    def __init__(
        self, cluster: Cluster, group_id: str, topics: Sequence[str], *, max_records: int = MOST_RECORDS
    ) -> None:
        self._cluster = cluster
        self._topics = list(topics)
        self._max_records = max_records
        self._membership = ShareMembership(cluster, group_id, topics)
        self._sessions: dict[int, _Session] = {}
        self._acknowledgements = Acknowledgements()
        self._names: dict[bytes, str] = {}
        self._leaders: dict[SharePartition, int] = {}
        self._metadata_until = 0.0

    async def poll(self) -> list[SharedRecord]:
        """What there is for this member now; waits a moment for it."""
        if self._cluster.network.now() >= self._metadata_until:
            await self._refresh_metadata()
        await self._membership.maybe_heartbeat()
        if not self._membership.assignment:
            await self._cluster.network.sleep(MAX_WAIT_MS / 1000)
            return []
        found = await self._cluster.each(self._fetch(node_id) for node_id in self._nodes())
        return [record for records in found for record in records]

    def acknowledge(self, record: SharedRecord, how: AcknowledgeType) -> None:
        """Sent with the next poll, or when the consumer is closed."""
        self._acknowledgements.add(record.place, record.offset, how)

    async def close(self) -> None:
        """Sends what was acknowledged, gives back all other records, and leaves the group."""
        for node_id, session in self._sessions.items():
            if session.epoch != NEW_SESSION:
                await self._end_session(node_id)
        await self._membership.leave()

    # --- who leads what

    async def _refresh_metadata(self) -> None:
        metadata = await self._cluster.metadata(self._topics, create_topics=True)
        self._metadata_until = self._cluster.network.now() + METADATA_MAX_AGE_SECONDS
        for topic in metadata.topics:
            if topic.error_code and not is_retriable(topic.error_code):
                words = _WHAT_IS_WRONG.get(topic.error_code)
                raise error_for(topic.error_code, words and f"{words}: [{topic.name}]")
            self._names[bytes(topic.topic_id)] = topic.name or ""
            for partition in topic.partitions:
                place = SharePartition(bytes(topic.topic_id), partition.partition_index)
                self._leaders[place] = partition.leader_id

    def _nodes(self) -> list[int]:
        """The leaders of what is assigned, and those that are still owed an acknowledgement."""
        wanted = self._membership.assignment | self._acknowledgements.partitions()
        if any(self._leaders.get(place, -1) < 0 for place in wanted):
            self._metadata_until = 0.0
        return sorted({node for place in wanted if (node := self._leaders.get(place, -1)) >= 0})

    # --- fetching

    async def _fetch(self, node_id: int) -> list[SharedRecord]:
        session = self._sessions.setdefault(node_id, _Session())
        wanted = {place for place in self._membership.assignment if self._leaders.get(place) == node_id}
        request = self._fetch_request(node_id, session, wanted)
        answer = await self._cluster.ask_node(node_id, request, ShareFetchResponse)
        if answer.error_code:
            self._lose(node_id, answer.error_code, answer.error_message)
            return []
        session.partitions = wanted
        session.went_on()
        return [
            record
            for topic in answer.responses
            for each in topic.partitions
            for record in self._take(SharePartition(bytes(topic.topic_id), each.partition_index), each)
        ]

    def _fetch_request(
        self, node_id: int, session: _Session, wanted: set[SharePartition]
    ) -> ShareFetchRequest:
        acknowledged = self._owed_to(node_id) if session.epoch != NEW_SESSION else {}
        added = wanted - session.partitions
        return ShareFetchRequest(
            group_id=self._membership.group_id,
            member_id=self._membership.member_id,
            share_session_epoch=session.epoch,
            max_wait_ms=MAX_WAIT_MS,
            min_bytes=1,
            max_bytes=MOST_BYTES,
            max_records=self._max_records,
            batch_size=self._max_records,
            topics=[
                share_fetch.FetchTopic(
                    topic_id,
                    [
                        share_fetch.FetchPartition(
                            place.partition, _fetch_batches(acknowledged.get(place, ()))
                        )
                        for place in places
                    ],
                )
                for topic_id, places in _by_topic(added | acknowledged.keys())
            ],
            forgotten_topics_data=[
                share_fetch.ForgottenTopic(topic_id, [place.partition for place in places])
                for topic_id, places in _by_topic(session.partitions - wanted)
            ],
        )

    def _owed_to(self, node_id: int) -> dict[SharePartition, list[Run]]:
        owed = [place for place in self._acknowledgements.partitions() if self._leaders.get(place) == node_id]
        return {place: self._acknowledgements.take(place) for place in owed}

    def _lose(self, node_id: int, code: int, message: str | None) -> None:
        if code not in SESSION_IS_LOST and not is_retriable(code):
            raise error_for(code, message)
        self._sessions[node_id] = _Session()

    # --- records

    def _take(self, place: SharePartition, data: PartitionData) -> Iterator[SharedRecord]:
        if data.error_code:
            self._on_partition_error(data.error_code, data.error_message)
            return
        counts = {
            offset: run.delivery_count
            for run in data.acquired_records
            for offset in range(run.first_offset, run.last_offset + 1)
        }
        for batch in _batches_of(data):
            for each in iterate_records(batch):
                if (count := counts.pop(each.offset, None)) is not None:
                    yield self._shared(place, batch, each, count)
        for offset in counts:
            self._acknowledgements.add(place, offset, AcknowledgeType.GAP)

    def _shared(
        self, place: SharePartition, batch: Batch, record: Record, delivery_count: int
    ) -> SharedRecord:
        return SharedRecord(
            topic=self._names[place.topic_id],
            partition=place.partition,
            offset=record.offset,
            timestamp_ms=record.timestamp,
            is_append_time=batch.uses_log_append_time,
            key=record.key,
            value=record.value,
            headers=record.headers,
            delivery_count=delivery_count,
            place=place,
        )

    def _on_partition_error(self, code: int, message: str | None) -> None:
        if not is_retriable(code) and code != ErrorCode.UNKNOWN_SERVER_ERROR:
            raise error_for(code, message)
        self._metadata_until = 0.0

    # --- the end

    async def _end_session(self, node_id: int) -> None:
        owed = self._owed_to(node_id)
        request = ShareAcknowledgeRequest(
            group_id=self._membership.group_id,
            member_id=self._membership.member_id,
            share_session_epoch=LAST_OF_SESSION,
            topics=[
                share_acknowledge.AcknowledgeTopic(
                    topic_id,
                    [
                        share_acknowledge.AcknowledgePartition(place.partition, _batches(owed[place]))
                        for place in places
                    ],
                )
                for topic_id, places in _by_topic(owed)
            ],
        )
        await self._cluster.ask_node(node_id, request, ShareAcknowledgeResponse)


def _batches_of(data: PartitionData) -> list[Batch]:
    """The batches of an answer; there are no records in one that ends a transaction."""
    if data.records is None:
        return []
    assert isinstance(data.records, memoryview), "decoding yields a view of the frame"
    return [batch for batch in split_batches(data.records) if not batch.is_control]


def _by_topic(places: Iterable[SharePartition]) -> list[tuple[bytes, list[SharePartition]]]:
    found: dict[bytes, list[SharePartition]] = {}
    for place in sorted(places):
        found.setdefault(place.topic_id, []).append(place)
    return list(found.items())


def _fetch_batches(runs: Iterable[Run]) -> list[share_fetch.AcknowledgementBatch]:
    return [share_fetch.AcknowledgementBatch(run.first_offset, run.last_offset, [run.how]) for run in runs]


def _batches(runs: Iterable[Run]) -> list[share_acknowledge.AcknowledgementBatch]:
    return [
        share_acknowledge.AcknowledgementBatch(run.first_offset, run.last_offset, [run.how]) for run in runs
    ]
