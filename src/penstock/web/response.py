"""One answer: whole, or in parts as they come."""

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any, NamedTuple

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


class Response(NamedTuple):
    """Without a `content_type` the answer goes out in the media type that was agreed on."""

    body: bytes
    status: int = 200
    content_type: str | None = None
    headers: Mapping[str, str] | None = None


class StreamedResponse(NamedTuple):
    """`parts` is closed at the end. Whoever makes them minds a client that hangs up (`request.receive` tells)."""

    parts: AsyncGenerator[bytes, None]
    content_type: str | None = None
    status: int = 200
    headers: Mapping[str, str] | None = None


def json_bytes(value: Any) -> bytes:
    """Half a surrogate pair, which UTF-8 has not, goes out in JSON's escaped form, as it came."""
    return _encode(value).encode("utf-8", "backslashreplace")


def json_response(value: Any, status: int = 200) -> Response:
    return Response(json_bytes(value), status)


NO_CONTENT = Response(b"", 204)
