"""Reads one partition from its beginning and on, in the event loop, committed records only.

It is a consumer over the wire instead of librdkafka's, because the registry has to know exactly where it is: a reader
that has seen every record has still not reached the end of the log as long as it says nothing of the commit markers
behind them. Besides, it needs no threads, and hears of a record in the turn of the event loop in which it arrives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from penstock.client.admin.list_offsets import OffsetSpec, list_offsets
from penstock.client.cluster import Cluster
from penstock.client.errors import KafkaError, error_for
from penstock.errors import ErrorCode
from penstock.records.batch import Batch, split_batches
from penstock.records.control import read_end_transaction_marker
from penstock.records.reader import Record, iterate_records
from penstock.types import TopicPartition
from penstock.wire.messages.fetch import (
    AbortedTransaction,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)

READ_COMMITTED = 1
BY_NAME = 12
"""The last version of Fetch that names topics; later ones have their ids."""
MAX_BYTES = 4 * 1024 * 1024
_MOVED = {
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.REPLICA_NOT_AVAILABLE,
}


class OffsetOutOfRange(KafkaError):
    """The log does not have the place that was read up to: it is another log than before."""


class Fetched(NamedTuple):
    records: list[Record]
    next_offset: int
    end_offset: int
    """Of what is committed; there is nothing to read from `next_offset` on if they are the same."""

    @property
    def is_at_end(self) -> bool:
        return self.next_offset >= self.end_offset


class TopicReader:
    def __init__(self, cluster: Cluster, topic: str) -> None:
        self._cluster = cluster
        self._partition = TopicPartition(topic, 0)
        self._leader: int | None = None
        self.offset = 0

    async def seek_to_beginning(self) -> None:
        found = (await list_offsets(self._cluster, {self._partition: OffsetSpec.EARLIEST}))[self._partition]
        if isinstance(found, KafkaError):
            raise found
        self.offset = found.offset

    async def fetch(self, max_wait_ms: int) -> Fetched:
        """What comes next; nothing if nothing came in that time."""
        while True:
            if self._leader is None:
                self._leader = (await self._cluster.leaders_of([self._partition]))[self._partition]
            try:
                answer = await self._cluster.ask_node(
                    self._leader, self._request(max_wait_ms), FetchResponse, at_most=BY_NAME
                )
            except KafkaError:
                self._leader = None
                raise
            data = answer.responses[0].partitions[0] if answer.responses else PartitionData()
            if data.error_code in _MOVED:
                self._leader = None
                continue
            _refuse(answer.error_code or data.error_code)
            return self._take(data)

    def _request(self, max_wait_ms: int) -> FetchRequest:
        wanted = FetchPartition(partition=0, fetch_offset=self.offset, partition_max_bytes=MAX_BYTES)
        return FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            max_bytes=MAX_BYTES,
            isolation_level=READ_COMMITTED,
            topics=[FetchTopic(self._partition.topic, partitions=[wanted])],
        )

    def _take(self, data: PartitionData) -> Fetched:
        batches = split_batches(memoryview(cast(bytes, data.records))) if data.records else []
        records = [
            record
            for batch in committed(batches, data.aborted_transactions or ())
            for record in iterate_records(batch)
            if record.offset >= self.offset
        ]
        if batches:
            self.offset = batches[-1].next_offset
        return Fetched(records, self.offset, data.last_stable_offset)


def _refuse(error_code: int) -> None:
    if error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
        raise OffsetOutOfRange("the log ends before the place that was read up to", ErrorCode(error_code))
    if error_code:
        raise error_for(error_code)


def committed(batches: Sequence[Batch], aborted: Sequence[AbortedTransaction]) -> Iterator[Batch]:
    """The batches of data without those of aborted transactions, which begin where `aborted` says and end with a
    marker."""
    to_come = sorted(aborted, key=lambda each: each.first_offset, reverse=True)
    aborting: set[int] = set()
    for batch in batches:
        while to_come and to_come[-1].first_offset <= batch.last_offset:
            aborting.add(to_come.pop().producer_id)
        if batch.is_control:
            marker = read_end_transaction_marker(batch)
            if marker is not None and not marker.is_commit:
                aborting.discard(batch.producer_id)
        elif not (batch.is_transactional and batch.producer_id in aborting):
            yield batch
