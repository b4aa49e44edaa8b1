"""Zig-zag varints, as records use them; every read is bounded by the data."""

from penstock.errors import ApiError, ErrorCode

MAX_VARINT_BYTES = 5
MAX_VARLONG_BYTES = 10


def read_varlong(
    data: memoryview | bytes, position: int, max_bytes: int = MAX_VARLONG_BYTES
) -> tuple[int, int]:
    """(value, position after it)."""
    value = shift = 0
    try:
        while True:
            byte = data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1), position
            shift += 7
            if shift >= 7 * max_bytes:
                raise ApiError(ErrorCode.INVALID_RECORD, f"A varint is longer than {max_bytes} bytes")
    except IndexError:
        raise ApiError(ErrorCode.INVALID_RECORD, "A varint runs over the end of the record") from None


def read_varint(data: memoryview | bytes, position: int) -> tuple[int, int]:
    return read_varlong(data, position, MAX_VARINT_BYTES)


def write_varlong(out: bytearray, value: int) -> None:
    zigzag = (value << 1) ^ (value >> 63)
    while zigzag > 0x7F:
        out.append((zigzag & 0x7F) | 0x80)
        zigzag >>= 7
    out.append(zigzag)
