"""Reads partitions over the wire, in the event loop: committed records only, from given offsets on.

Each reader has connections of its own, because a broker answers one request of a connection at a time, and a fetch
waits for records. It needs no threads, so that a thousand streams of events cost a thousand sockets and no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from penstock.client.committed_records import BY_NAME, LEADER_HAS_MOVED, committed_records, fetch_request
from penstock.records.reader import Record
from penstock.types import TopicPartition
from penstock.wire.messages.fetch import FetchResponse, PartitionData
from penstock.wire_client import Cluster
from penstock.wire_client.errors import error_for


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

    def add(self, positions: Mapping[int, int]) -> None:
        """More partitions to read."""
        self.positions |= positions
        self._leaders = None

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
            if data.error_code in LEADER_HAS_MOVED:
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
        offsets = {each: self.positions[each] for each in partitions}
        request = fetch_request(self._topic, offsets, max_wait_ms=max_wait_ms, max_bytes=max_bytes)
        answer = await self._cluster.ask_node(node_id, request, FetchResponse, at_most=BY_NAME)
        if answer.error_code:
            raise error_for(answer.error_code)
        return [data for topic in answer.responses for data in topic.partitions]

    def _take(self, data: PartitionData) -> list[Fetched]:
        number = data.partition_index
        records, self.positions[number] = committed_records(data, self.positions[number])
        self.ends[number] = data.last_stable_offset
        return [Fetched(number, record) for record in records]
