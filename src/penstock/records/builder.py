"""Make a batch: from records, or from a batch with other contents."""

from collections.abc import Iterable, Sequence
from struct import Struct

from crc32c import crc32c

from penstock.records.batch import (
    CODEC_MASK,
    CONTROL_FLAG,
    CRC_START,
    HEADER,
    HEADER_SIZE,
    LOG_APPEND_TIME_FLAG,
    MAGIC_V2,
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    PREFIX_SIZE,
    TRANSACTIONAL_FLAG,
    Batch,
)
from penstock.records.compression import Bytes, compress
from penstock.records.control import encode_marker_key, encode_marker_value
from penstock.records.reader import Header, Record
from penstock.records.varint import write_varlong

_CRC = Struct(">I")


def build_batch(
    records: Sequence[Record],
    *,
    codec: int = 0,
    level: int | None = None,
    base_offset: int | None = None,
    last_offset: int | None = None,
    leader_epoch: int = NO_LEADER_EPOCH,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    is_transactional: bool = False,
    is_control: bool = False,
    log_append_time_ms: int | None = None,
) -> Batch:
    """A batch of `records`, whose offsets and timestamps are absolute; the first one gives the base unless told."""
    if base_offset is None:
        base_offset = records[0].offset
    if last_offset is None:
        last_offset = records[-1].offset
    base_timestamp = records[0].timestamp if records else NO_TIMESTAMP
    max_timestamp = max((record.timestamp for record in records), default=NO_TIMESTAMP)
    attributes = codec
    attributes |= TRANSACTIONAL_FLAG if is_transactional else 0
    attributes |= CONTROL_FLAG if is_control else 0
    if log_append_time_ms is not None:
        attributes |= LOG_APPEND_TIME_FLAG
        max_timestamp = log_append_time_ms
    return assemble_batch(
        compress(codec, encode_records(records, base_offset, base_timestamp), level),
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        attributes=attributes,
        last_offset_delta=last_offset - base_offset,
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=len(records),
    )


def assemble_batch(
    payload: Bytes,
    *,
    base_offset: int,
    leader_epoch: int,
    attributes: int,
    last_offset_delta: int,
    base_timestamp: int,
    max_timestamp: int,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    record_count: int,
) -> Batch:
    """Header and payload in one new buffer, with the CRC."""
    size = HEADER_SIZE + len(payload)
    buffer = bytearray(size)
    HEADER.pack_into(
        buffer,
        0,
        base_offset,
        size - PREFIX_SIZE,
        leader_epoch,
        MAGIC_V2,
        0,
        attributes,
        last_offset_delta,
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        record_count,
    )
    buffer[HEADER_SIZE:] = payload
    view = memoryview(buffer)
    _CRC.pack_into(buffer, CRC_START - 4, crc32c(view[CRC_START:]))
    return Batch(view)


def with_payload(
    batch: Batch,
    payload: Bytes,
    *,
    codec: int | None = None,
    attributes: int | None = None,
    record_count: int | None = None,
    base_timestamp: int | None = None,
    max_timestamp: int | None = None,
) -> Batch:
    """`batch` with other record bytes; what is not given stays."""
    if attributes is None:
        attributes = batch.attributes
    if codec is not None:
        attributes = attributes & ~CODEC_MASK | codec
    return assemble_batch(
        payload,
        base_offset=batch.base_offset,
        leader_epoch=batch.leader_epoch,
        attributes=attributes,
        last_offset_delta=batch.last_offset_delta,
        base_timestamp=batch.base_timestamp if base_timestamp is None else base_timestamp,
        max_timestamp=batch.max_timestamp if max_timestamp is None else max_timestamp,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        record_count=batch.record_count if record_count is None else record_count,
    )


def build_end_transaction_marker(
    *, is_commit: bool, producer_id: int, producer_epoch: int, coordinator_epoch: int, timestamp: int
) -> Batch:
    """The control batch that ends a transaction."""
    key, value = encode_marker_key(is_commit=is_commit), encode_marker_value(coordinator_epoch)
    return build_batch(
        [Record(0, timestamp, key, value)],
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=True,
        is_control=True,
    )


def encode_records(records: Iterable[Record], base_offset: int, base_timestamp: int) -> bytearray:
    out = bytearray()
    for record in records:
        body = bytearray(1)  # attributes, unused
        write_varlong(body, record.timestamp - base_timestamp)
        write_varlong(body, record.offset - base_offset)
        _write_bytes(body, record.key)
        _write_bytes(body, record.value)
        _write_headers(body, record.headers)
        write_varlong(out, len(body))
        out += body
    return out


def _write_headers(out: bytearray, headers: Sequence[Header]) -> None:
    write_varlong(out, len(headers))
    for key, value in headers:
        _write_bytes(out, key.encode())
        _write_bytes(out, value)


def _write_bytes(out: bytearray, value: bytes | None) -> None:
    if value is None:
        write_varlong(out, -1)
    else:
        write_varlong(out, len(value))
        out += value
