"""The codecs of record batches, with a bound on what decompression may give.

A few kilobytes can claim to hold gigabytes. So the size is known, or bounded from the block headers, before anything
is decompressed; what exceeds the limit is refused.

snappy: the Java client frames blocks the way of its library ("xerial": a 16-byte header, then length-prefixed raw
blocks), others send one raw block; both are read, frames are written. lz4: the frame format; Java's reader wants
independent blocks, so frames are put together here block by block.
"""

import struct
import zlib
from collections.abc import Callable
from enum import IntEnum
from struct import Struct

import cramjam

from penstock.errors import ApiError, ErrorCode

Bytes = bytes | bytearray | memoryview

MAX_DECOMPRESSED_BYTES = 512 * 1024 * 1024

XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
_XERIAL_BLOCK_BYTES = 32 * 1024

_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_LZ4_HEADER = (
    _LZ4_MAGIC + b"\x60\x40\x82"
)  # independent blocks of 64 KB, no checksums; and the header's checksum
_LZ4_BLOCK_BYTES = 64 * 1024
_LZ4_BLOCK_SIZES = {4: 64 * 1024, 5: 256 * 1024, 6: 1024 * 1024, 7: 4 * 1024 * 1024}
_LZ4_UNCOMPRESSED = 0x80000000
_LZ4_MAX_RATIO = 255
_LZ4_END = b"\x00\x00\x00\x00"
_LZ4_FRAME_HEADER_BYTES = 7
_LZ4_DEFAULT_LEVEL = 9

_ZSTD_MAGIC = 0xFD2FB528
_ZSTD_SKIPPABLE_MAGIC = 0x184D2A50
_ZSTD_MAX_BLOCK_BYTES = 128 * 1024
_ZSTD_DEFAULT_LEVEL = 3

_U32_LITTLE = Struct("<I")
_I32_BIG = Struct(">i")


class Codec(IntEnum):
    """The numbers are those in a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


CODEC_NAMES = {"uncompressed": Codec.NONE, "none": Codec.NONE} | {
    codec.name.lower(): codec for codec in Codec
}


def compress(codec: int, data: Bytes, level: int | None = None) -> Bytes:
    """`level` None is the codec's default."""
    return _COMPRESS[codec](data, level)


def decompress(codec: int, data: Bytes, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> Bytes:
    """Refuses corrupt data, and data that gives more than `max_bytes`."""
    if codec == Codec.NONE:
        return data
    try:
        return _DECOMPRESS[codec](memoryview(data), max_bytes)
    except (cramjam.DecompressionError, zlib.error, struct.error, IndexError, ValueError, KeyError) as error:
        raise ApiError(ErrorCode.CORRUPT_MESSAGE, f"The records can't be decompressed: {error}") from None


class DecompressedSizeError(ApiError):
    """The data gives, or may give, more than was allowed; it need not be corrupt."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(ErrorCode.INVALID_RECORD, f"The records decompress to more than {max_bytes} bytes")


def _refuse_if_larger(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise DecompressedSizeError(max_bytes)


# gzip


def _compress_gzip(data: Bytes, level: int | None) -> Bytes:
    compressor = zlib.compressobj(-1 if level is None else level, zlib.DEFLATED, 31)
    return compressor.compress(data) + compressor.flush()


def _decompress_gzip(data: memoryview, max_bytes: int) -> Bytes:
    parts: list[bytes] = []
    rest: Bytes = data
    left = max_bytes
    while rest:
        stream = zlib.decompressobj(31)
        part = stream.decompress(rest, left + 1)
        _refuse_if_larger(len(part), left)
        if not stream.eof:
            raise ValueError("the gzip stream is cut short")
        parts.append(part)
        left -= len(part)
        rest = stream.unused_data
    return parts[0] if len(parts) == 1 else b"".join(parts)


# snappy


def _compress_snappy(data: Bytes, level: int | None) -> Bytes:
    view = memoryview(data)
    parts: list[Bytes] = [_XERIAL_HEADER]
    for start in range(0, len(view), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + _XERIAL_BLOCK_BYTES]))
        parts += (_I32_BIG.pack(len(block)), block)
    return b"".join(parts)


def _decompress_snappy(data: memoryview, max_bytes: int) -> Bytes:
    if data[: len(XERIAL_MAGIC)] != XERIAL_MAGIC:
        return _decompress_snappy_block(data, max_bytes)
    parts: list[Bytes] = []
    position, left = len(_XERIAL_HEADER), max_bytes
    while position < len(data):
        (length,) = _I32_BIG.unpack_from(data, position)
        position += _I32_BIG.size
        if length < 0 or length > len(data) - position:
            raise ValueError("a snappy block is cut short")
        part = _decompress_snappy_block(data[position : position + length], left)
        parts.append(part)
        left -= len(part)
        position += length
    return b"".join(parts)


def _decompress_snappy_block(data: memoryview, max_bytes: int) -> Bytes:
    _refuse_if_larger(cramjam.snappy.decompress_raw_len(data), max_bytes)
    return memoryview(cramjam.snappy.decompress_raw(data))


# lz4


def _compress_lz4(data: Bytes, level: int | None) -> Bytes:
    view = memoryview(data)
    parts: list[Bytes] = [_LZ4_HEADER]
    starts = range(0, len(view), _LZ4_BLOCK_BYTES)
    parts += [_compress_lz4_block(view[start : start + _LZ4_BLOCK_BYTES], level) for start in starts]
    parts.append(_LZ4_END)
    return b"".join(parts)


def _compress_lz4_block(block: memoryview, level: int | None) -> Bytes:
    """One block with its size, cut out of a frame of its own: the library takes a level only for frames."""
    level = _LZ4_DEFAULT_LEVEL if level is None else level
    frame = memoryview(cramjam.lz4.compress(block, level=level))
    start = _LZ4_FRAME_HEADER_BYTES + (8 if frame[4] & 0x08 else 0)
    (length,) = _U32_LITTLE.unpack_from(frame, start)
    return frame[start : start + 4 + (length & ~_LZ4_UNCOMPRESSED)]


def _decompress_lz4(data: memoryview, max_bytes: int) -> Bytes:
    _refuse_if_larger(_lz4_bound(data), max_bytes)
    return memoryview(cramjam.lz4.decompress(data))


def _lz4_bound(data: memoryview) -> int:
    """The most that the frames in `data` can hold, from their block headers."""
    bound = position = 0
    while position < len(data):
        if data[position : position + 4] != _LZ4_MAGIC:
            raise ValueError("not an lz4 frame")
        flags, block_size = data[position + 4], _LZ4_BLOCK_SIZES[data[position + 5] >> 4 & 0x07]
        has_block_checksum, has_size, has_checksum = flags & 0x10, flags & 0x08, flags & 0x04
        position += _LZ4_FRAME_HEADER_BYTES + (8 if has_size else 0) + (4 if flags & 0x01 else 0)
        while True:
            (length,) = _U32_LITTLE.unpack_from(data, position)
            position += 4
            if length == 0:
                break
            stored = length & ~_LZ4_UNCOMPRESSED
            bound += stored if length & _LZ4_UNCOMPRESSED else min(block_size, stored * _LZ4_MAX_RATIO)
            position += stored + (4 if has_block_checksum else 0)
        position += 4 if has_checksum else 0
    if position != len(data):
        raise ValueError("the lz4 frame is cut short")
    return bound


# zstd


def _compress_zstd(data: Bytes, level: int | None) -> Bytes:
    return memoryview(cramjam.zstd.compress(data, level=_ZSTD_DEFAULT_LEVEL if level is None else level))


def _decompress_zstd(data: memoryview, max_bytes: int) -> Bytes:
    _refuse_if_larger(_zstd_bound(data), max_bytes)
    return memoryview(cramjam.zstd.decompress(data))


def _zstd_bound(data: memoryview) -> int:
    """The most that the frames in `data` can hold, from their block headers."""
    bound = position = 0
    while position < len(data):
        (magic,) = _U32_LITTLE.unpack_from(data, position)
        if magic & 0xFFFFFFF0 == _ZSTD_SKIPPABLE_MAGIC:
            position += 8 + int(_U32_LITTLE.unpack_from(data, position + 4)[0])
            continue
        if magic != _ZSTD_MAGIC:
            raise ValueError("not a zstd frame")
        descriptor = data[position + 4]
        position += 5 + _zstd_frame_header_rest(descriptor)
        frame_bound, position = _zstd_blocks_bound(data, position)
        bound += frame_bound
        position += 4 if descriptor & 0x04 else 0
    if position != len(data):
        raise ValueError("the zstd frame is cut short")
    return bound


def _zstd_frame_header_rest(descriptor: int) -> int:
    """The sizes of window descriptor, dictionary id and content size."""
    is_single_segment = bool(descriptor & 0x20)
    content_size = (1 if is_single_segment else 0, 2, 4, 8)[descriptor >> 6]
    return (0 if is_single_segment else 1) + (0, 1, 2, 4)[descriptor & 0x03] + content_size


def _zstd_blocks_bound(data: memoryview, position: int) -> tuple[int, int]:
    bound = 0
    while True:
        header = data[position] | data[position + 1] << 8 | data[position + 2] << 16
        is_last, kind, size = header & 1, header >> 1 & 0x03, header >> 3
        is_compressed, is_repeated = kind == 2, kind == 1
        bound += _ZSTD_MAX_BLOCK_BYTES if is_compressed else size
        position += 3 + (1 if is_repeated else size)
        if is_last:
            return bound, position


def _compress_none(data: Bytes, level: int | None) -> Bytes:
    return data


_COMPRESS: dict[int, Callable[[Bytes, int | None], Bytes]] = {
    Codec.NONE: _compress_none,
    Codec.GZIP: _compress_gzip,
    Codec.SNAPPY: _compress_snappy,
    Codec.LZ4: _compress_lz4,
    Codec.ZSTD: _compress_zstd,
}

_DECOMPRESS: dict[int, Callable[[memoryview, int], Bytes]] = {
    Codec.GZIP: _decompress_gzip,
    Codec.SNAPPY: _decompress_snappy,
    Codec.LZ4: _decompress_lz4,
    Codec.ZSTD: _decompress_zstd,
}
