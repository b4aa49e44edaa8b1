"""Where a source stands: the offsets topic, read by the task itself when its producer has locked out all others.

The driver's snapshot is older than the last attempt of this task may be, so the topic is read on from there to its end.
Not as far as `read_committed` goes: one open transaction of any connector would hide all that lies behind it, for as
long as that lasts. What matters is what was written for this connector, so batches are read uncommitted, and a
transaction's records count when its marker is met. Our own attempts' markers are all there: `init_transactions` has
waited for them. Another task's may be missing; only who asks for just that offset waits for it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from penstock.client.admin.list_offsets import OffsetSpec, list_offsets
from penstock.client.committed_records import BY_NAME, LEADER_HAS_MOVED
from penstock.errors import ErrorCode
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.errors import DataError, RetriableConnectError
from penstock.pipeline.connect.storage.offset_state import OffsetState, canonical, encode_key
from penstock.records.batch import Batch, split_batches
from penstock.records.control import read_end_transaction_marker
from penstock.records.reader import iterate_records
from penstock.types import TopicPartition
from penstock.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError, RetriableError, error_for

MAX_BYTES: Final = 4 * 1024 * 1024
WAIT_MS: Final = 100
MAX_WAIT_FOR_OTHERS_SECONDS: Final = 10.0
PRIMITIVES: Final = (str, int, float, bool, bytes)

OffsetRecord = tuple[bytes, bytes | None]
SourcePosition = tuple[Mapping[str, Any], Mapping[str, Any] | None]
"""A partition of the source, and where to go on in it."""


class _Pending(NamedTuple):
    partition: int
    producer_id: int


class SourceOffsets:
    """The offsets of one connector: `offset` and `offsets` are Connect's OffsetStorageReader."""

    def __init__(self, connector: str, known: Iterable[OffsetRecord], topic: OffsetsTopic) -> None:
        self._connector = connector
        self._prefix = json.dumps([connector], ensure_ascii=False).encode()[:-1] + b","
        self._state = OffsetState()
        self._pending: dict[_Pending, list[OffsetRecord]] = {}
        self._topic = topic
        for key, value in known:
            self._state.replay(key, value)

    def read_to_end(self) -> None:
        ends = self._topic.ends()
        while any(self._topic.positions[partition] < end for partition, end in ends.items()):
            self._read(0)

    def _read(self, max_wait_ms: int) -> None:
        for partition, batch in self._topic.fetch(max_wait_ms):
            self._replay(partition, batch)

    def _replay(self, partition: int, batch: Batch) -> None:
        place = _Pending(partition, batch.producer_id)
        if batch.is_control:
            marker = read_end_transaction_marker(batch)
            decided = self._pending.pop(place, []) if marker is not None else []
            self._apply(decided if marker is not None and marker.is_commit else [])
            return
        ours = [
            (each.key, each.value)
            for each in iterate_records(batch)
            if each.key is not None and each.key.startswith(self._prefix)
        ]
        if batch.is_transactional:
            if ours:
                self._pending.setdefault(place, []).extend(ours)
        else:
            self._apply(ours)

    def _apply(self, records: Iterable[OffsetRecord]) -> None:
        for key, value in records:
            self._state.replay(key, value)

    # --- what a task asks

    def offset(self, partition: Mapping[str, Any]) -> dict[str, Any] | None:
        self._wait_until_decided(partition)
        known = self._state.connectors.get(self._connector, {}).get(canonical(partition))
        return known.offset if known is not None else None

    def offsets(self, partitions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        return [self.offset(partition) for partition in partitions]

    def _wait_until_decided(self, partition: Mapping[str, Any]) -> None:
        deadline = time.monotonic() + MAX_WAIT_FOR_OTHERS_SECONDS
        while self._pending and self._is_pending(partition):
            if time.monotonic() >= deadline:
                raise RetriableConnectError(
                    f"the offset of {dict(partition)} is in a transaction of another task that has not ended"
                )
            self._read(WAIT_MS)

    def _is_pending(self, partition: Mapping[str, Any]) -> bool:
        wanted = canonical(partition)
        keys = (key for records in self._pending.values() for key, _ in records)
        return any(canonical(json.loads(key)[1]) == wanted for key in keys)

    # --- what a task writes

    @staticmethod
    def last_of(records: Sequence[SourceRecord]) -> dict[str, SourcePosition]:
        """The last position in each partition, by the partition's text."""
        if (
            len({id(record.source_partition) for record in records}) == 1
        ):  # most sources have one object for all
            records = records[-1:]
        found: dict[str, SourcePosition] = {}
        for record in records:
            if record.source_partition is not None:
                found[canonical(record.source_partition)] = record.source_partition, record.source_offset
        return found

    def records_for(self, changes: Iterable[SourcePosition]) -> list[OffsetRecord]:
        """Key and value of each new offset, as they go to the topic: a partition keeps the spelling that it has."""
        records: list[OffsetRecord] = []
        for partition, offset in changes:
            _check_primitive(partition)
            _check_primitive(offset)
            found = list(self._state.changes_to(self._connector, partition, offset))
            records += found or [(encode_key(self._connector, partition), None)]
        return records

    def committed(self, records: Iterable[OffsetRecord]) -> None:
        """These are in the topic now."""
        self._apply(records)


def _check_primitive(offset: Mapping[str, Any] | None) -> None:
    for name, value in (offset or {}).items():
        if not isinstance(name, str):
            raise DataError("Offsets may only use String keys")
        if value is not None and not isinstance(value, PRIMITIVES):
            raise DataError(
                f"Offsets may only contain primitive types as values, but field {name} "
                f"contains {type(value).__name__}"
            )


class OffsetsTopic:
    """Reads raw batches of all partitions over the wire, from given positions."""

    def __init__(self, cluster: Cluster, topic: str, positions: Mapping[int, int]) -> None:
        self._cluster, self.topic = cluster, topic
        metadata = now(cluster.metadata([topic]))
        found = metadata.topics[0]
        if found.error_code:
            raise error_for(found.error_code, f"offsets topic {topic}: {error_for(found.error_code)}")
        self._leaders = {each.partition_index: each.leader_id for each in found.partitions}
        self.positions = {partition: positions.get(partition, 0) for partition in self._leaders}
        self._start_anew([partition for partition in self._leaders if partition not in positions])

    def ends(self) -> dict[int, int]:
        return self._offsets(list(self._leaders), OffsetSpec.LATEST)

    def fetch(self, max_wait_ms: int) -> list[tuple[int, Batch]]:
        found: list[tuple[int, Batch]] = []
        for node in sorted(set(self._leaders.values())):
            partitions = [each for each, leader in self._leaders.items() if leader == node]
            answer = now(
                self._cluster.ask_node(
                    node, self._request(partitions, max_wait_ms), FetchResponse, at_most=BY_NAME
                )
            )
            for data in answer.responses[0].partitions if answer.responses else ():
                found += self._take(data)
        return found

    def _request(self, partitions: Iterable[int], max_wait_ms: int) -> FetchRequest:
        wanted = [
            FetchPartition(
                partition=partition,
                fetch_offset=self.positions[partition],
                partition_max_bytes=MAX_BYTES,
            )
            for partition in partitions
        ]
        return FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            max_bytes=MAX_BYTES,
            topics=[FetchTopic(self.topic, partitions=wanted)],
        )

    def _take(self, data: PartitionData) -> list[tuple[int, Batch]]:
        partition = data.partition_index
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._start_anew([partition])
        elif data.error_code in LEADER_HAS_MOVED:
            raise RetriableError(f"offsets topic {self.topic}: partition {partition} has a new leader")
        elif data.error_code:
            raise error_for(data.error_code)
        elif data.records:
            batches = [
                each
                for each in split_batches(memoryview(cast(bytes, data.records)))
                if each.next_offset > self.positions[partition]
            ]
            if batches:
                self.positions[partition] = batches[-1].next_offset
            return [(partition, batch) for batch in batches]
        return []

    def _start_anew(self, partitions: list[int]) -> None:
        self.positions |= self._offsets(partitions, OffsetSpec.EARLIEST)

    def _offsets(self, partitions: list[int], spec: OffsetSpec) -> dict[int, int]:
        if not partitions:
            return {}
        wanted = {TopicPartition(self.topic, each): int(spec) for each in partitions}
        offsets = {}
        for (_, partition), listed in now(list_offsets(self._cluster, wanted)).items():
            if isinstance(listed, KafkaError):
                raise listed
            offsets[partition] = listed.offset
        return offsets
