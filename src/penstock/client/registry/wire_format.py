"""How a record says which schema it was written with.

Before the bytes, as it has always been:

    0x00 | id, 4 bytes, big end first | [Protobuf: message indexes] | data

Or in a header, `__key_schema_id` or `__value_schema_id`, and the data is nothing but itself:

    0x01 | guid, 16 bytes | [Protobuf: message indexes]

A header may hold an id (0x00) too, and a prefix a guid; all four are read. The message indexes are the path to a
message in its file, `[2, 0]` being the first message within the third: their count and each of them as a zigzag varint.
The path that nearly all records have, `[0]`, is a single zero.
"""

import struct
import uuid
from collections.abc import Iterable
from typing import NamedTuple

from penstock.client.serializers.base import Field

ID_MAGIC, GUID_MAGIC = 0, 1
HEADER_OF_FIELD: dict[Field, str] = {"key": "__key_schema_id", "value": "__value_schema_id"}
MAX_MESSAGE_INDEXES = 1_000
_ID = struct.Struct(">BI")
_FIRST_MESSAGE = (0,)


class SchemaId(NamedTuple):
    """What a record says about its schema: an id or a guid, and for Protobuf which message of the file it is."""

    id: int | None
    guid: str | None
    message_indexes: tuple[int, ...] = _FIRST_MESSAGE


def encode_id(schema_id: int, message_indexes: Iterable[int] | None = None) -> bytes:
    """Before the bytes of a record.

    >>> from penstock.client.registry.wire_format import encode_id
    >>> encode_id(7).hex(), encode_id(7, [0]).hex(), encode_id(7, [2, 0]).hex()
    ('0000000007', '000000000700', '0000000007040400')
    """
    return _ID.pack(ID_MAGIC, schema_id) + encode_message_indexes(message_indexes)


def encode_guid(guid: str, message_indexes: Iterable[int] | None = None) -> bytes:
    return bytes([GUID_MAGIC]) + uuid.UUID(guid).bytes + encode_message_indexes(message_indexes)


def encode_message_indexes(indexes: Iterable[int] | None) -> bytes:
    if indexes is None:
        return b""
    path = tuple(indexes)
    return b"\0" if path == _FIRST_MESSAGE else b"".join(map(_varint, (len(path), *path)))


def _varint(value: int) -> bytes:
    """Of a number that is not negative, zigzag."""
    rest, data = value << 1, bytearray()
    while rest > 0x7F:
        data.append(rest & 0x7F | 0x80)
        rest >>= 7
    data.append(rest)
    return bytes(data)


def decode_schema_id(
    data: bytes, headers: Iterable[tuple[str, bytes | None]] | None, field: Field, with_indexes: bool
) -> tuple[SchemaId, int]:
    """What the header says, or else the prefix; and where the data begins. ValueError if neither says anything."""
    name = HEADER_OF_FIELD[field]
    for header, value in headers or ():
        if header == name and value is not None:
            found, end = _decode(value, with_indexes, f"header {name}")
            if end != len(value):
                raise ValueError(f"header {name} has {len(value) - end} bytes too many")
            return found, 0
    return _decode(data, with_indexes, "the prefix")


def _decode(data: bytes, with_indexes: bool, where: str) -> tuple[SchemaId, int]:
    magic = data[0] if data else None
    if magic == ID_MAGIC and len(data) >= _ID.size:
        found, end = SchemaId(_ID.unpack_from(data)[1], None), _ID.size
    elif magic == GUID_MAGIC and len(data) >= 17:
        found, end = SchemaId(None, str(uuid.UUID(bytes=bytes(data[1:17])))), 17
    else:
        raise ValueError(_no_schema_id(data, where))
    if not with_indexes:
        return found, end
    indexes, end = _decode_message_indexes(data, end)
    return found._replace(message_indexes=indexes), end


def _no_schema_id(data: bytes, where: str) -> str:
    if not data:
        return f"{where} is empty; a schema id begins with byte 0 (id) or 1 (guid)"
    if data[0] in (ID_MAGIC, GUID_MAGIC):
        return f"{where} ends within its schema id"
    return (
        f"{where} begins with byte {data[0]}; a schema id begins with byte 0 (id) or 1 (guid): "
        "was it written with a serializer of the Schema Registry?"
    )


def _decode_message_indexes(data: bytes, start: int) -> tuple[tuple[int, ...], int]:
    count, end = _decode_varint(data, start)
    if count == 0:
        return _FIRST_MESSAGE, end
    if not 0 < count <= MAX_MESSAGE_INDEXES:
        raise ValueError(f"{count} message indexes; takes 1 to {MAX_MESSAGE_INDEXES}")
    indexes = []
    for _ in range(count):
        index, end = _decode_varint(data, end)
        if index < 0:
            raise ValueError(f"message index {index} is negative")
        indexes.append(index)
    return tuple(indexes), end


def _decode_varint(data: bytes, start: int) -> tuple[int, int]:
    value = 0
    for position in range(start, min(start + 5, len(data))):
        byte = data[position]
        value |= (byte & 0x7F) << 7 * (position - start)
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position + 1
    raise ValueError("the message indexes do not end")
