"""Reads partitions over the wire, in the event loop: committed records only, from given offsets on.

Each reader has connections of its own, because a broker answers one request of a connection at a time, and a fetch
waits for records. It needs no threads, so that a thousand streams of events cost a thousand sockets and no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from penstock.client.cluster import Cluster
from penstock.client.errors import error_for
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
_MOVED = {
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.REPLICA_NOT_AVAILABLE,
}


class Fetched(NamedTuple):
    partition: int
    record: Record


class TopicReader:
    """`positions` are the next offsets to read, by partition; `ends` the last stable offsets, as far as known."""

    def __init__(self, cluster: Cluster, topic: str, positions: dict[int, int]) -> None:
        self._cluster = cluster
        self._topic = topic
        self._leaders: dict[int, list[int]] | None = None
        self.positions = positions
        self.ends: dict[int, int] = {}

    @property
    def is_at_end(self) -> bool:
        return all(offset >= self.ends.get(number, offset) for number, offset in self.positions.items())

    async def fetch(self, max_wait_ms: int, max_bytes: int) -> list[Fetched]:
        """What comes next; nothing if nothing came in time. The first record comes even if it is larger."""
        if self._leaders is None:
            self._leaders = await self._find_leaders()
        said = await self._cluster.each(
            self._ask(node_id, partitions, max_wait_ms, max_bytes)
            for node_id, partitions in self._leaders.items()
        )
        found: list[Fetched] = []
        for data in (each for answer in said for each in answer):
            if data.error_code in _MOVED:
                self._leaders = None
            elif data.error_code:
                raise error_for(data.error_code)
            else:
                found += self._take(data)
        return found

    async def _find_leaders(self) -> dict[int, list[int]]:
        wanted = [TopicPartition(self._topic, number) for number in self.positions]
        leaders: dict[int, list[int]] = {}
        for partition, node_id in (await self._cluster.leaders_of(wanted)).items():
            leaders.setdefault(node_id, []).append(partition.partition)
        return leaders

    async def _ask(
        self, node_id: int, partitions: list[int], max_wait_ms: int, max_bytes: int
    ) -> Sequence[PartitionData]:
        wanted = [
            FetchPartition(partition=each, fetch_offset=self.positions[each], partition_max_bytes=max_bytes)
            for each in partitions
        ]
        request = FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            max_bytes=max_bytes,
            isolation_level=READ_COMMITTED,
            topics=[FetchTopic(self._topic, partitions=wanted)],
        )
        answer = await self._cluster.ask_node(node_id, request, FetchResponse, at_most=BY_NAME)
        if answer.error_code:
            raise error_for(answer.error_code)
        return [data for topic in answer.responses for data in topic.partitions]

    def _take(self, data: PartitionData) -> list[Fetched]:
        number, start = data.partition_index, self.positions[data.partition_index]
        batches = split_batches(memoryview(cast(bytes, data.records))) if data.records else []
        found = [
            Fetched(number, record)
            for batch in _committed(batches, data.aborted_transactions or ())
            for record in iterate_records(batch)
            if record.offset >= start
        ]
        if batches:
            self.positions[number] = batches[-1].next_offset
        self.ends[number] = data.last_stable_offset
        return found


def _committed(batches: Sequence[Batch], aborted: Sequence[AbortedTransaction]) -> Iterator[Batch]:
    """The batches of data without those of aborted transactions, which end with a marker."""
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
