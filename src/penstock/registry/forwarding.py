"""Writes that a follower passes on to the leader, over HTTP or HTTPS, as Confluent's registries do.

Each goes over a connection of its own: on one that was kept open, a request that fails may or may not have been heard,
and a write must not be sent twice.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache

import httptools

from penstock.registry import errors
from penstock.registry.election_protocol import Identity
from penstock.registry.settings import RegistrySettings
from penstock.web.listeners import HTTPS
from penstock.web.request import Request
from penstock.web.response import Response
from penstock.web.tls import TlsFiles

FORWARDED = b"x-forward"
PASSED_ON = (b"content-type", b"accept", b"authorization", b"x-request-id", b"user-agent")
READ_BYTES = 64 * 1024
_client_context = lru_cache(maxsize=1)(TlsFiles.client_context)


class _Answer:
    """What httptools tells of a response."""

    def __init__(self) -> None:
        self.headers: dict[bytes, bytes] = {}
        self.parts: list[bytes] = []
        self.is_complete = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.lower()] = value

    def on_body(self, body: bytes) -> None:
        self.parts.append(body)

    def on_message_complete(self) -> None:
        self.is_complete = True


async def forward(request: Request, leader: Identity, settings: RegistrySettings) -> Response:
    """The leader's answer, whatever it is; `RegistryError` 50003 if there is none."""
    body = await request.body()
    tls = _client_context(settings.web.tls_files) if leader.scheme == HTTPS else None
    try:
        async with asyncio.timeout(settings.leader_connect_timeout_ms / 1000):
            reader, writer = await asyncio.open_connection(leader.host, leader.port, ssl=tls)
        try:
            async with asyncio.timeout(settings.leader_read_timeout_ms / 1000):
                writer.write(_head(request, leader, len(body)) + body)
                return await _read(reader)
        finally:
            writer.close()
    except (OSError, EOFError, httptools.HttpParserError) as error:  # TimeoutError is an OSError
        raise errors.forwarding_failed(
            f"Unexpected error while forwarding the request to the leader {leader.url}: {error or 'no answer in time'}"
        ) from None


def _head(request: Request, leader: Identity, length: int) -> bytes:
    scope = request.scope
    target: bytes = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
    lines = [
        request.method.encode() + b" " + target + b" HTTP/1.1",
        f"host: {leader.host}:{leader.port}".encode(),
        b"connection: close",
        b"content-length: %d" % length,
        FORWARDED + b": true",
    ]
    lines += [name + b": " + value for name, value in scope["headers"] if name in PASSED_ON]
    return b"\r\n".join(lines) + b"\r\n\r\n"


async def _read(reader: asyncio.StreamReader) -> Response:
    answer = _Answer()
    parser = httptools.HttpResponseParser(answer)
    while not answer.is_complete:
        data = await reader.read(READ_BYTES)
        if not data:
            raise EOFError("the leader closed the connection")
        parser.feed_data(data)
    content_type = answer.headers.get(b"content-type", b"application/json").decode("latin-1")
    return Response(b"".join(answer.parts), parser.get_status_code(), content_type)
