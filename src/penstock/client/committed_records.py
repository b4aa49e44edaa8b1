"""Committed records over the wire: what is asked of a leader, and what is left of its answer without aborted ones.

For readers that have to know exactly where they are. A reader that has seen every record has still not reached the end
of the log as long as it says nothing of the markers behind them, and librdkafka does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from penstock.errors import ErrorCode
from penstock.records.batch import Batch, split_batches
from penstock.records.control import read_end_transaction_marker
from penstock.records.reader import Record, iterate_records
from penstock.wire.messages.fetch import (
    AbortedTransaction,
    FetchPartition,
    FetchRequest,
    FetchTopic,
    PartitionData,
)

READ_COMMITTED = 1
BY_NAME = 12
"""The last version of Fetch that names topics; later ones have their ids."""
LEADER_HAS_MOVED = {
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.REPLICA_NOT_AVAILABLE,
}


def fetch_request(
    topic: str, offsets: Mapping[int, int], *, max_wait_ms: int, max_bytes: int
) -> FetchRequest:
    """`offsets` by partition. The first record comes even if it is larger than the limit."""
    wanted = [
        FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=max_bytes)
        for partition, offset in offsets.items()
    ]
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        max_bytes=max_bytes,
        isolation_level=READ_COMMITTED,
        topics=[FetchTopic(topic, partitions=wanted)],
    )


class CommittedRecords(NamedTuple):
    records: list[Record]
    next_offset: int
    """Behind them, and behind the markers and aborted records that came along."""


def committed_records(data: PartitionData, offset: int) -> CommittedRecords:
    """Those of a partition's answer from an offset on."""
    batches = split_batches(memoryview(cast(bytes, data.records))) if data.records else []
    records = [
        record
        for batch in _committed(batches, data.aborted_transactions or ())
        for record in iterate_records(batch)
        if record.offset >= offset
    ]
    return CommittedRecords(records, batches[-1].next_offset if batches else offset)


def _committed(batches: Sequence[Batch], aborted: Sequence[AbortedTransaction]) -> Iterator[Batch]:
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
