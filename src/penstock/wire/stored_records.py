"""The records of internal topics: typed keys and values, and their bytes.

A key is its record type (int16) and its fields; a value is its version (int16) and its fields. A record of a type
that is not known here decodes to None: it was written by a newer version, and is left alone.
"""

from struct import Struct

from penstock.errors import ProtocolError
from penstock.wire.codec import decode_message, writer
from penstock.wire.schema import RecordTypes, StoredMessage

_SHORT = Struct(">h")


def encode_key(key: StoredMessage) -> bytes:
    return _encode(key, key.RECORD_TYPE, 0)


def encode_value(value: StoredMessage, version: int) -> bytes:
    return _encode(value, version, version)


def _encode(message: StoredMessage, prefix: int, version: int) -> bytes:
    out = bytearray(_SHORT.pack(prefix))
    writer(type(message), version)(out, [], message)
    return bytes(out)


def decode_key(types: RecordTypes, data: bytes) -> StoredMessage | None:
    """The key, or None if its type is unknown."""
    known = types.get(_prefix(data))
    return None if known is None else decode_message(known[0], 0, memoryview(data), 2)


def decode_value(types: RecordTypes, record_type: int, data: bytes) -> StoredMessage:
    value_type = types[record_type][1]
    version = _prefix(data)
    if not value_type.VERSIONS[0] <= version <= value_type.VERSIONS[1]:
        raise ProtocolError(f"{value_type.__name__} in version {version}, known are {value_type.VERSIONS}")
    return decode_message(value_type, version, memoryview(data), 2)


def _prefix(data: bytes) -> int:
    if len(data) < 2:
        raise ProtocolError(f"a stored record of {len(data)} bytes has no type")
    return int(_SHORT.unpack_from(data)[0])
