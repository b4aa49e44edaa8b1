"""The `.snapshot` file: producer state as of the offset in its name.

int16 version (1), uint32 CRC-32C of what follows, int32 count, then per producer: id int64, epoch int16,
last sequence int32, last offset int64, offset delta int32, timestamp int64, coordinator epoch int32, first
offset of the current transaction int64.
"""

from collections.abc import Iterable
from struct import Struct

from crc32c import crc32c

from penstock.log.producer_state import BatchMetadata, ProducerEntry

VERSION = 1
_HEADER = Struct(">hIi")
_ENTRY = Struct(">qhiqiqiq")
_CRC_START = 6


def encode_snapshot(entries: Iterable[ProducerEntry]) -> bytes:
    packed = [
        _ENTRY.pack(
            entry.producer_id,
            entry.producer_epoch,
            entry.last_sequence,
            entry.last_data_offset,
            entry.last_offset_delta,
            entry.last_timestamp,
            entry.coordinator_epoch,
            entry.current_transaction_first_offset,
        )
        for entry in entries
    ]
    body = len(packed).to_bytes(4, "big") + b"".join(packed)
    return VERSION.to_bytes(2, "big") + crc32c(body).to_bytes(4, "big") + body


def decode_snapshot(data: bytes) -> list[ProducerEntry] | None:
    """The entries, or None if the file is damaged."""
    if len(data) < _HEADER.size:
        return None
    version, crc, count = _HEADER.unpack_from(data)
    whole = len(data) == _HEADER.size + count * _ENTRY.size
    if version != VERSION or not whole or crc != crc32c(data[_CRC_START:]):
        return None
    return [_decode_entry(*fields) for fields in _ENTRY.iter_unpack(data[_HEADER.size :])]


def _decode_entry(
    producer_id: int,
    producer_epoch: int,
    last_sequence: int,
    last_offset: int,
    offset_delta: int,
    timestamp: int,
    coordinator_epoch: int,
    transaction_first_offset: int,
) -> ProducerEntry:
    entry = ProducerEntry(producer_id, producer_epoch, coordinator_epoch, timestamp, transaction_first_offset)
    if last_offset >= 0:
        entry.batches.append(BatchMetadata(last_sequence, last_offset, offset_delta, timestamp))
    return entry
