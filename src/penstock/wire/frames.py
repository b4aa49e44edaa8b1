"""Frames and headers: the part of a request and response that is the same for every API.

A frame is a 32-bit size and that many bytes: a header, then the message. The request header has a string of
the old form even in flexible versions; the header of an ApiVersions response is never flexible, since the
client does not know yet what the broker can do.
"""

import struct
from typing import NamedTuple

from penstock.errors import ProtocolError
from penstock.wire.api_keys import ApiKey
from penstock.wire.codec import MALFORMED, decode_message, encode_message, is_flexible
from penstock.wire.primitives import beyond_frame, skip_tagged_fields
from penstock.wire.records_field import Part, size_of
from penstock.wire.schema import ApiMessage

_FIXED_HEADER = struct.Struct(">hhih")
_API_AND_VERSION = struct.Struct(">hh")
_RESPONSE_HEADER = struct.Struct(">ii")
_SIZE = struct.Struct(">i")


class RequestHeader(NamedTuple):
    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None


def peek_api(frame: memoryview) -> tuple[int, int]:
    """API key and version, which tell how the rest of the header is to be read."""
    if len(frame) < _API_AND_VERSION.size:
        raise ProtocolError(f"a frame of {len(frame)} bytes has no request header")
    key, version = _API_AND_VERSION.unpack_from(frame)
    return key, version


def decode_request_header(frame: memoryview, flexible: bool) -> tuple[RequestHeader, int]:
    """The header and the position after it."""
    try:
        key, version, correlation_id, size = _FIXED_HEADER.unpack_from(frame)
        position = _FIXED_HEADER.size
        if size > len(frame) - position:
            raise beyond_frame("client_id", size, len(frame) - position)
        client_id = None
        if size >= 0:
            client_id = str(frame[position : position + size], "utf-8")
            position += size
        if flexible:
            if frame[position] == 0:
                position += 1
            else:
                position = skip_tagged_fields(frame, position, len(frame))
    except MALFORMED as error:
        raise ProtocolError(f"malformed request header: {error}") from error
    return RequestHeader(key, version, correlation_id, client_id), position


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
    out = bytearray(8)
    if is_flexible(type(response), version) and response.API_KEY != ApiKey.API_VERSIONS:
        out.append(0)
    parts = encode_message(response, version, out)
    size = len(out) if len(parts) == 1 else sum(map(size_of, parts))
    _RESPONSE_HEADER.pack_into(out, 0, size - 4, correlation_id)
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
