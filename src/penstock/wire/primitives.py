"""Reading and writing of single values, for what the compiled codecs do not inline.

All readers take the whole frame as a memoryview and a position, and raise `ProtocolError` for a length or
count that reaches beyond the frame, so that hostile bytes can never ask for memory that they did not send.
"""

from penstock.errors import ProtocolError

MAX_VARINT_BYTES = 5
MAX_VARLONG_BYTES = 10
MAX_TAGGED_FIELDS = 1000
"""Of one structure; Kafka's own have three at most."""
MAX_STRING_BYTES = 32_767
"""What a length of two bytes can tell, and what Kafka takes where lengths are varints, too."""


def decode_unsigned_varint(buffer: memoryview, position: int) -> tuple[int, int]:
    value = 0
    for index in range(MAX_VARINT_BYTES):
        byte = buffer[position + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, position + index + 1
    raise ProtocolError(f"a varint of more than {MAX_VARINT_BYTES} bytes at byte {position}")


def encode_unsigned_varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def beyond_frame(what: str, size: int, left: int) -> ProtocolError:
    return ProtocolError(f"{what}: {size} announced, {left} bytes left in the frame")


def too_many_tagged_fields(count: int) -> ProtocolError:
    return ProtocolError(f"{count} tagged fields in one structure; at most {MAX_TAGGED_FIELDS} are taken")


def too_long_string(what: str, size: int) -> ProtocolError:
    return ProtocolError(f"{what}: a string of {size} bytes; at most {MAX_STRING_BYTES} are taken")


def null_refused(what: str) -> ProtocolError:
    return ProtocolError(f"{what}: null where a value is required")


def skip_tagged_fields(buffer: memoryview, position: int, limit: int) -> int:
    """Passes over a section of tagged fields, none of which is known here."""
    count, position = decode_unsigned_varint(buffer, position)
    if count > limit - position:
        raise beyond_frame("tagged fields", count, limit - position)
    if count > MAX_TAGGED_FIELDS:
        raise too_many_tagged_fields(count)
    for _ in range(count):
        _, position = decode_unsigned_varint(buffer, position)
        size, position = decode_unsigned_varint(buffer, position)
        if size > limit - position:
            raise beyond_frame("tagged field", size, limit - position)
        position += size
    return position
