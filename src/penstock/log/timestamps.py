"""Offsets by time: the first record at or after a timestamp, and the record with the newest one.

The time index narrows the search to a few batches; only the batch that must hold the answer is read.
"""

from collections.abc import Sequence
from typing import NamedTuple

from penstock.log.batch_scan import scan_headers
from penstock.log.segment import Segment
from penstock.records.batch import Batch
from penstock.records.reader import Record, iterate_records


class TimestampedOffset(NamedTuple):
    offset: int
    timestamp: int
    leader_epoch: int


def find_offset_for_timestamp(
    segments: Sequence[Segment], timestamp: int, start_offset: int
) -> TimestampedOffset | None:
    """The first record at or after `start_offset` that is not older than `timestamp`."""
    for segment in segments:
        if segment.size and segment.max_timestamp >= timestamp:
            found = _find_in_segment(segment, timestamp, start_offset)
            if found is not None:
                return found
    return None


def _find_in_segment(segment: Segment, timestamp: int, start_offset: int) -> TimestampedOffset | None:
    first_offset = max(segment.time_index.lookup(timestamp), start_offset)
    position = segment.offset_index.lookup(first_offset)
    for at, header in scan_headers(segment.file, position, segment.size):
        if header.max_timestamp < timestamp or header.last_offset < start_offset:
            continue
        batch = _read_batch(segment, at, header)
        for record in iterate_records(batch):
            if record.timestamp >= timestamp and record.offset >= start_offset:
                return _result(record, batch)
    return None


def find_newest_record(segments: Sequence[Segment]) -> TimestampedOffset | None:
    """The first record that has the largest timestamp of all."""
    holding = [segment for segment in segments if segment.size and segment.max_timestamp >= 0]
    if not holding:
        return None
    segment = max(holding, key=_max_timestamp)
    position = segment.position_of(segment.max_timestamp_offset)
    if position is None:
        return None
    _, header = next(scan_headers(segment.file, position, segment.size))
    batch = _read_batch(segment, position, header)
    for record in iterate_records(batch):
        if record.timestamp == segment.max_timestamp:
            return _result(record, batch)
    return None


def _max_timestamp(segment: Segment) -> int:
    return segment.max_timestamp


def _read_batch(segment: Segment, position: int, header: Batch) -> Batch:
    return Batch(memoryview(segment.file.pread(header.size, position)))


def _result(record: Record, batch: Batch) -> TimestampedOffset:
    return TimestampedOffset(record.offset, record.timestamp, batch.leader_epoch)
