"""Reads a topic of one partition on from where it was read to, to its end: committed records only."""

from __future__ import annotations

from typing import Final

from penstock.client.admin.list_offsets import IsolationLevel, OffsetSpec, list_offsets
from penstock.client.committed_records import BY_NAME, committed_records, fetch_request
from penstock.errors import ErrorCode
from penstock.records.reader import Record
from penstock.types import TopicPartition
from penstock.wire.messages.fetch import FetchResponse, PartitionData
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError, error_for

MAX_BYTES: Final = 4 * 1024 * 1024


class TopicTail:
    def __init__(self, topic: str) -> None:
        self.topic = topic
        self._position: int | None = None

    def read(self, cluster: Cluster) -> list[Record]:
        """What was added since the last time. A topic that was made anew is read from its beginning."""
        end, records = self._offset(cluster, OffsetSpec.LATEST), list[Record]()
        if self._position is None or self._position > end:
            self._position = self._offset(cluster, OffsetSpec.EARLIEST)
        leader = self._leader(cluster)
        while self._position < end:
            data = self._fetch(cluster, leader, self._position)
            if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                self._position = self._offset(cluster, OffsetSpec.EARLIEST)
                continue
            if data.error_code:
                raise error_for(data.error_code, f"{self.topic}: {error_for(data.error_code)}")
            found, position = committed_records(data, self._position)
            records += found
            if position == self._position:  # compaction has removed what was there
                break
            self._position = position
        return records

    def _fetch(self, cluster: Cluster, leader: int, position: int) -> PartitionData:
        request = fetch_request(self.topic, {0: position}, max_wait_ms=500, max_bytes=MAX_BYTES)
        answer = now(cluster.ask_node(leader, request, FetchResponse, at_most=BY_NAME))
        if not answer.responses:
            raise error_for(answer.error_code or ErrorCode.UNKNOWN_SERVER_ERROR)
        return answer.responses[0].partitions[0]

    def _leader(self, cluster: Cluster) -> int:
        found = now(cluster.metadata([self.topic])).topics[0]
        if found.error_code:
            raise error_for(found.error_code, f"{self.topic}: {error_for(found.error_code)}")
        return next(each.leader_id for each in found.partitions if each.partition_index == 0)

    def _offset(self, cluster: Cluster, spec: OffsetSpec) -> int:
        where = TopicPartition(self.topic, 0)
        found = now(list_offsets(cluster, {where: int(spec)}, isolation_level=IsolationLevel.READ_COMMITTED))[
            where
        ]
        if isinstance(found, KafkaError):
            raise found
        return found.offset
