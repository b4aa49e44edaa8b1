"""Requests that one process of a service passes on to another, over HTTP or HTTPS.

Each goes over a connection of its own: on one that was kept open, a request that fails may or may not have been heard,
and a write must not be sent twice.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from typing import NamedTuple

import httptools

from penstock.web.listeners import Listener
from penstock.web.request import Request
from penstock.web.response import Response

PASSED_ON = (b"content-type", b"accept", b"authorization", b"x-request-id", b"user-agent")
SENT_BACK = ("location", "retry-after", "www-authenticate")
READ_BYTES = 64 * 1024


class ForwardingFailed(Exception):
    """There is no answer; the request may have been heard."""


class Patience(NamedTuple):
    connect_ms: int
    read_ms: int


class _Answer:
    """What httptools tells of a response."""

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self.parts: list[bytes] = []
        self.is_complete = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        self.parts.append(body)

    def on_message_complete(self) -> None:
        self.is_complete = True


async def pass_on(
    request: Request,
    to: Listener,
    patience: Patience,
    *,
    target: bytes | None = None,
    headers: Mapping[bytes, bytes] | None = None,
    tls: ssl.SSLContext | None = None,
) -> Response:
    """The other's answer, whatever it is. `target` is the path with its query, the request's own unless told."""
    body = await request.body()
    head = _head(request, to, len(body), target or _target(request), headers or {})
    try:
        async with asyncio.timeout(patience.connect_ms / 1000):
            reader, writer = await asyncio.open_connection(to.host, to.port, ssl=tls)
        try:
            async with asyncio.timeout(patience.read_ms / 1000):
                writer.write(head + body)
                return await _read(reader)
        finally:
            writer.close()
    except (OSError, EOFError, httptools.HttpParserError) as error:  # TimeoutError is an OSError
        raise ForwardingFailed(str(error) or "no answer in time") from None


def _target(request: Request) -> bytes:
    query: bytes = request.scope["query_string"]
    path: bytes = request.scope["raw_path"]
    return path + (b"?" + query if query else b"")


def _head(request: Request, to: Listener, length: int, target: bytes, more: Mapping[bytes, bytes]) -> bytes:
    lines = [
        request.method.encode() + b" " + target + b" HTTP/1.1",
        f"host: {to.host}:{to.port}".encode(),
        b"connection: close",
        b"content-length: %d" % length,
    ]
    lines += [name + b": " + value for name, value in more.items()]
    lines += [name + b": " + value for name, value in request.scope["headers"] if name in PASSED_ON]
    return b"\r\n".join(lines) + b"\r\n\r\n"


async def _read(reader: asyncio.StreamReader) -> Response:
    answer = _Answer()
    parser = httptools.HttpResponseParser(answer)
    while not answer.is_complete:
        data = await reader.read(READ_BYTES)
        if not data:
            raise EOFError("the other closed the connection")
        parser.feed_data(data)
    content_type = answer.headers.get("content-type", "application/json")
    back = {name: value for name, value in answer.headers.items() if name in SENT_BACK}
    return Response(b"".join(answer.parts), parser.get_status_code(), content_type, back)
