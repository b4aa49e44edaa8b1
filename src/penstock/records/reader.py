"""The records inside a batch. Only compaction, validation and the coordinators come here; produce and fetch don't.

A record: length, attributes int8, timestamp delta, offset delta, key, value, headers; all numbers but the attributes
are varints, a length of -1 is null. Every length is checked against the data before it is used.
"""

from collections.abc import Iterator
from typing import NamedTuple

from penstock.errors import ApiError, ErrorCode
from penstock.records.batch import Batch
from penstock.records.compression import MAX_DECOMPRESSED_BYTES, Bytes, decompress
from penstock.records.varint import read_varint, read_varlong

Header = tuple[str, bytes | None]


class Record(NamedTuple):
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


class RawRecord(NamedTuple):
    """Where a record's parts lie in the (decompressed) data; enough to keep or drop it as it is."""

    start: int
    end: int
    after_timestamp: int  # the position of the offset delta
    timestamp_delta: int
    offset_delta: int
    key: bytes | None
    value_start: int
    value_length: int  # -1: a tombstone


def decompressed_records(batch: Batch, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> Bytes:
    return decompress(batch.codec, batch.records_view, max_bytes)


def iterate_records(batch: Batch, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> Iterator[Record]:
    data = memoryview(decompressed_records(batch, max_bytes))
    base_offset, base_timestamp = batch.base_offset, batch.base_timestamp
    append_time = batch.max_timestamp if batch.uses_log_append_time else None
    for raw in iterate_raw_records(data, batch.record_count):
        value_end = raw.value_start + max(raw.value_length, 0)
        value = None if raw.value_length < 0 else bytes(data[raw.value_start : value_end])
        timestamp = base_timestamp + raw.timestamp_delta if append_time is None else append_time
        headers = read_headers(data[: raw.end], value_end)
        yield Record(base_offset + raw.offset_delta, timestamp, raw.key, value, headers)


def iterate_raw_records(data: memoryview, count: int) -> Iterator[RawRecord]:
    position = 0
    for _ in range(count):
        raw = _read_raw_record(data, position)
        yield raw
        position = raw.end
    if position != len(data):
        raise _invalid("Incorrect declared batch size, records still remaining in file")


def _read_raw_record(data: memoryview, start: int) -> RawRecord:
    length, position = read_varint(data, start)
    end = position + length
    if length < 0 or end > len(data):
        raise _invalid(f"Invalid record size: {length} bytes where {len(data) - position} are left")
    timestamp_delta, after_timestamp = read_varlong(data, position + 1)
    offset_delta, position = read_varint(data, after_timestamp)
    key_length, position = read_varint(data, position)
    key = None
    if key_length >= 0:
        _require(position + key_length <= end, "a key")
        key = bytes(data[position : position + key_length])
        position += key_length
    value_length, position = read_varint(data, position)
    _require(position + max(value_length, 0) <= end, "a value")
    return RawRecord(start, end, after_timestamp, timestamp_delta, offset_delta, key, position, value_length)


def read_headers(data: memoryview, position: int) -> tuple[Header, ...]:
    """The headers at the end of a record, which must end where `data` ends."""
    count, position = read_varint(data, position)
    if count < 0 or count > len(data) - position:
        raise _invalid(f"Found invalid number of record headers {count}")
    headers: list[Header] = []
    for _ in range(count):
        key, position = _read_bytes(data, position)
        if key is None:
            raise _invalid("Invalid negative header key size")
        value, position = _read_bytes(data, position)
        headers.append((key.decode(errors="replace"), value))
    _require(position == len(data), "the headers")
    return tuple(headers)


def _read_bytes(data: memoryview, position: int) -> tuple[bytes | None, int]:
    length, position = read_varint(data, position)
    if length < 0:
        return None, position
    _require(position + length <= len(data), "a header")
    return bytes(data[position : position + length]), position + length


def _require(fits: bool, what: str) -> None:
    if not fits:
        raise _invalid(f"Invalid record: {what} does not end where the record does")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_RECORD, message)
