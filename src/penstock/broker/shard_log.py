"""Between a machine's records and the batches of its partition's log."""

import asyncio
from collections.abc import Iterator, Sequence

from penstock.errors import ApiError, ErrorCode
from penstock.log.partition_log import PartitionLog
from penstock.machine import NewRecord, Producer
from penstock.records.batch import HEADER_SIZE, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, Batch, split_batches
from penstock.records.builder import build_batch
from penstock.records.reader import Record
from penstock.settings.topic import TopicSettings
from penstock.wire.stored_records import encode_key, encode_value

READ_BYTES = 128 * 1024
"""Read at once when a coordinator is loaded; other requests are served between two pieces."""
RECORD_OVERHEAD_BYTES = 32
"""More than what a record takes beside its key and value."""


def build_batches(
    records: Sequence[NewRecord], producer: Producer | None, now_ms: int, settings: TopicSettings
) -> list[Batch]:
    """One batch, or several if one would be larger than the topic takes."""
    producer_id, producer_epoch = producer or (NO_PRODUCER_ID, NO_PRODUCER_EPOCH)
    return [
        build_batch(
            piece,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            is_transactional=producer is not None,
        )
        for piece in _pieces(records, now_ms, settings.max_message_bytes - HEADER_SIZE)
    ]


def _pieces(records: Sequence[NewRecord], now_ms: int, max_bytes: int) -> Iterator[list[Record]]:
    piece: list[Record] = []
    left = max_bytes
    for index, new in enumerate(records):
        value = None if new.value is None else encode_value(new.value, new.version)
        record = Record(index, now_ms, encode_key(new.key), value)
        size = len(record.key or b"") + len(value or b"") + RECORD_OVERHEAD_BYTES
        if size > max_bytes:
            raise ApiError(ErrorCode.MESSAGE_TOO_LARGE, f"a record of {size} bytes; {max_bytes} are taken")
        if size > left:
            yield piece
            piece, left = [], max_bytes
        piece.append(record)
        left -= size
    yield piece


async def read_batches(log: PartitionLog, position: int) -> list[Batch]:
    """The next batches from an offset on, at least one."""
    piece = log.read(position, READ_BYTES, max_offset=log.log_end_offset, at_least_one=True)
    if piece is None:
        raise ApiError(ErrorCode.CORRUPT_MESSAGE, f"nothing to read at {position} below the end of the log")
    data = await asyncio.to_thread(piece.read)
    return [batch for batch in split_batches(memoryview(data)) if batch.next_offset > position]
