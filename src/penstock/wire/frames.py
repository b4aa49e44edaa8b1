"""Frames and headers: the part of a request and response that is the same for every API.

A frame is a 32-bit size and that many bytes: a header, then the message. The request header has a string of
the old form even in flexible versions; the header of an ApiVersions response is never flexible, since the
client does not know yet what the broker can do.
"""

import struct

from penstock.errors import ProtocolError
from penstock.wire.api_keys import ApiKey
from penstock.wire.codec import MALFORMED, decode_message, encode_message, is_flexible
from penstock.wire.primitives import beyond_frame, skip_tagged_fields
from penstock.wire.records_field import Part, size_of
from penstock.wire.schema import ApiMessage

_FIXED_HEADER = struct.Struct(">hhih")
_decode_fixed = _FIXED_HEADER.unpack_from
_encode_response_header = struct.Struct(">ii").pack_into
_SIZE = struct.Struct(">i")


def decode_request_start(frame: memoryview) -> tuple[int, int, int, int]:
    """What all versions of the header begin with: API key, version, correlation id, size of the client id."""
    try:
        return _decode_fixed(frame)
    except struct.error as error:
        raise ProtocolError(f"a frame of {len(frame)} bytes has no request header") from error


def decode_client_id(frame: memoryview, size: int) -> tuple[str | None, int]:
    """The client's name for itself, and the position after it."""
    start = _FIXED_HEADER.size
    if size < 0:
        return None, start
    if size > len(frame) - start:
        raise beyond_frame("client_id", size, len(frame) - start)
    return str(frame[start : start + size], "utf-8", "replace"), start + size


def skip_header_tags(frame: memoryview, position: int) -> int:
    try:
        if frame[position] == 0:
            return position + 1
        return skip_tagged_fields(frame, position, len(frame))
    except MALFORMED as error:
        raise ProtocolError(f"malformed request header: {error}") from error


def encode_request_frame(
    request: ApiMessage, version: int, correlation_id: int, client_id: str | None
) -> list[Part]:
    name = (client_id or "").encode()
    size = len(name) if client_id is not None else -1
    out = bytearray(4)
    out += _FIXED_HEADER.pack(request.API_KEY, version, correlation_id, size) + name
    if is_flexible(type(request), version):
        out.append(0)
    parts = encode_message(request, version, out)
    _SIZE.pack_into(out, 0, sum(map(size_of, parts)) - 4)
    return parts


def encode_response_frame(response: ApiMessage, version: int, correlation_id: int) -> list[Part]:
    flexible = version >= response.FIRST_FLEXIBLE and response.API_KEY != ApiKey.API_VERSIONS
    out = bytearray(9 if flexible else 8)
    parts = encode_message(response, version, out)
    size = len(out) if len(parts) == 1 else sum(map(size_of, parts))
    _encode_response_header(out, 0, size - 4, correlation_id)
    return parts


def decode_response_frame(cls: type[ApiMessage], version: int, frame: memoryview) -> tuple[int, ApiMessage]:
    """The correlation id and the message of a response frame (without its size)."""
    if len(frame) < 4:
        raise ProtocolError(f"a frame of {len(frame)} bytes has no response header")
    (correlation_id,) = _SIZE.unpack_from(frame)
    position = 4
    if is_flexible(cls, version) and cls.API_KEY != ApiKey.API_VERSIONS:
        position = skip_tagged_fields(frame, position, len(frame))
    return correlation_id, decode_message(cls, version, frame, position)
