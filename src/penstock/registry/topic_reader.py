"""Reads one partition from its beginning and on, in the event loop, committed records only.

It is a consumer over the wire instead of librdkafka's, because the registry has to know exactly where it is (see
`client.committed_records`). Besides, it needs no threads, and hears of a record in the turn of the event loop in which
it arrives.
"""

from __future__ import annotations

from typing import NamedTuple

from penstock.client.admin.list_offsets import OffsetSpec, list_offsets
from penstock.client.committed_records import BY_NAME, LEADER_HAS_MOVED, committed_records, fetch_request
from penstock.errors import ErrorCode
from penstock.records.reader import Record
from penstock.types import TopicPartition
from penstock.wire.messages.fetch import FetchRequest, FetchResponse, PartitionData
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, error_for

MAX_BYTES = 4 * 1024 * 1024


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
            if data.error_code in LEADER_HAS_MOVED:
                self._leader = None
                continue
            _refuse(answer.error_code or data.error_code)
            return self._take(data)

    def _request(self, max_wait_ms: int) -> FetchRequest:
        topic, partition = self._partition
        return fetch_request(topic, {partition: self.offset}, max_wait_ms=max_wait_ms, max_bytes=MAX_BYTES)

    def _take(self, data: PartitionData) -> Fetched:
        records, self.offset = committed_records(data, self.offset)
        return Fetched(records, self.offset, data.last_stable_offset)


def _refuse(error_code: int) -> None:
    if error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
        raise OffsetOutOfRange("the log ends before the place that was read up to", ErrorCode(error_code))
    if error_code:
        raise error_for(error_code)
