"""Walk the batches of a log file, by header alone or as a whole."""

from collections.abc import Iterator
from struct import Struct

from penstock.errors import ApiError, ErrorCode
from penstock.log.fs import File
from penstock.records.batch import (
    HEADER_SIZE,
    MAGIC_V2,
    PREFIX_SIZE,
    Batch,
    next_batch_size,
)

HEADER_CHUNK_BYTES = 4096
BATCH_CHUNK_BYTES = 1024 * 1024
MAGIC_POSITION = 16
MOST_OFFSETS = 2**31
"""In a segment."""

_unpack_extent = Struct(">qi4xb6xi").unpack_from


def scan_headers(file: File, position: int, end: int) -> Iterator[tuple[int, Batch]]:
    """(file position, header) of each whole batch; only the header is sure to be in its buffer."""
    chunk, chunk_start = memoryview(b""), position
    while end - position >= HEADER_SIZE:
        at = position - chunk_start
        if len(chunk) - at < HEADER_SIZE:
            chunk = memoryview(file.pread(min(HEADER_CHUNK_BYTES, end - position), position))
            chunk_start, at = position, 0
            if len(chunk) < HEADER_SIZE:
                return
        batch = Batch(chunk, at)
        _check_stored(batch, file, position)
        if batch.size > end - position:
            return
        yield position, batch
        position += batch.size


def find_batch(file: File, position: int, end: int, offset: int) -> tuple[int, int] | None:
    """Position and size of the first whole batch, from `position` on, that ends at or after `offset`."""
    chunk, chunk_start = b"", position
    while end - position >= HEADER_SIZE:
        at = position - chunk_start
        if len(chunk) - at < HEADER_SIZE:
            chunk = file.pread(min(HEADER_CHUNK_BYTES, end - position), position)
            chunk_start, at = position, 0
            if len(chunk) < HEADER_SIZE:
                return None
        base_offset, length, magic, last_offset_delta = _unpack_extent(chunk, at)
        size = length + PREFIX_SIZE
        if magic != MAGIC_V2 or not HEADER_SIZE <= size <= end - position:
            raise _damaged(file, position)
        if base_offset + last_offset_delta >= offset:
            return position, size
        position += size
    return None


def find_sound_batch(file: File, position: int, end: int, next_offset: int) -> int | None:
    """Where the first batch starts, at `position` or after it, that is whole, matches its CRC and has an offset that
    may follow. Looks at every byte: for what lies behind a damaged header, which leads nowhere."""
    while end - position >= HEADER_SIZE:
        chunk = file.pread(min(BATCH_CHUNK_BYTES, end - position), position)
        at = chunk.find(MAGIC_V2, MAGIC_POSITION) - MAGIC_POSITION
        while 0 <= at <= len(chunk) - HEADER_SIZE:
            if _is_sound(file, position + at, end, next_offset, chunk, at):
                return position + at
            at = chunk.find(MAGIC_V2, at + MAGIC_POSITION + 1) - MAGIC_POSITION
        position += len(chunk) - HEADER_SIZE + 1
    return None


def _is_sound(file: File, position: int, end: int, next_offset: int, chunk: bytes, at: int) -> bool:
    base_offset, length, _, last_offset_delta = _unpack_extent(chunk, at)
    size = length + PREFIX_SIZE
    if not (next_offset <= base_offset < next_offset + MOST_OFFSETS and last_offset_delta >= 0):
        return False
    return HEADER_SIZE <= size <= end - position and Batch(memoryview(file.pread(size, position))).is_valid()


def _damaged(file: File, position: int) -> ApiError:
    return ApiError(
        ErrorCode.CORRUPT_MESSAGE, f"{file.path}: the batch header at position {position} is damaged"
    )


def scan_batches(file: File, position: int, end: int) -> Iterator[tuple[int, Batch]]:
    """(file position, batch) of each whole batch, all bytes in its buffer; a torn one ends the walk."""
    while end - position >= PREFIX_SIZE:
        chunk = memoryview(file.pread(min(BATCH_CHUNK_BYTES, end - position), position))
        at = 0
        while size := next_batch_size(chunk, at, len(chunk)):
            batch = Batch(chunk, at) if size >= HEADER_SIZE else None
            yield position + at, _check_whole(batch, file, position + at)
            at += size
        if at == 0:
            whole = _read_large_batch(file, position, end, chunk)
            if whole is None:
                return
            yield position, _check_whole(Batch(whole), file, position)
            at = len(whole)
        position += at


def _read_large_batch(file: File, position: int, end: int, chunk: memoryview) -> memoryview | None:
    size = int.from_bytes(chunk[8:PREFIX_SIZE], "big", signed=True) + PREFIX_SIZE
    if size > end - position or size <= len(chunk):
        return None
    return memoryview(file.pread(size, position))


def _check_whole(batch: Batch | None, file: File, position: int) -> Batch:
    if batch is None:
        raise _damaged(file, position)
    _check_stored(batch, file, position)
    return batch


def _check_stored(batch: Batch, file: File, position: int) -> None:
    if batch.size < HEADER_SIZE or batch.magic != MAGIC_V2 or batch.last_offset_delta < 0:
        raise _damaged(file, position)
