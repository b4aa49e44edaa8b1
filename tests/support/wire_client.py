"""A client that is a socket and the wire's codecs: says exactly what a test tells it to, well-formed or not."""

from __future__ import annotations

import importlib
import socket
import struct
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from penstock.wire.frames import decode_response_frame, encode_request_frame
from penstock.wire.schema import ApiMessage

PATIENCE_SECONDS = 30.0
CLIENT_ID = "test"


def response_class(request: ApiMessage) -> type[ApiMessage]:
    """The response that belongs to a request: both stand in the same module."""
    cls = type(request)
    name = cls.__name__.removesuffix("Request") + "Response"
    found: type[ApiMessage] = getattr(importlib.import_module(cls.__module__), name)
    return found


def newest_version(request: ApiMessage) -> int:
    return request.VERSIONS[1]


def frame(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def request_header(api_key: int, version: int, correlation_id: int = 1, *, flexible: bool = False) -> bytes:
    name = CLIENT_ID.encode()
    header = struct.pack(">hhih", api_key, version, correlation_id, len(name)) + name
    return header + b"\0" if flexible else header


def request_bytes(request: ApiMessage, version: int | None = None, correlation_id: int = 1) -> bytes:
    """The whole frame of a request, its size included."""
    if version is None:
        version = newest_version(request)
    return b"".join(bytes(part) for part in encode_request_frame(request, version, correlation_id, CLIENT_ID))


class WireClient:
    """One connection. `send` waits for the answer; the other calls do one half of it."""

    def __init__(self, bootstrap: str, timeout: float = PATIENCE_SECONDS) -> None:
        host, _, port = bootstrap.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_id = 0

    # requests and responses

    def send(self, request: ApiMessage, version: int | None = None) -> Any:
        correlation_id = self.post(request, version)
        return self.receive(request, version, correlation_id)

    def post(self, request: ApiMessage, version: int | None = None) -> int:
        """Sends a request and does not wait; returns its correlation id."""
        self._correlation_id += 1
        self.send_bytes(request_bytes(request, version, self._correlation_id))
        return self._correlation_id

    def receive(
        self, request: ApiMessage, version: int | None = None, correlation_id: int | None = None
    ) -> Any:
        """The response to a request that was sent earlier; they come in order."""
        if version is None:
            version = newest_version(request)
        answered, response = decode_response_frame(response_class(request), version, self.receive_frame())
        assert correlation_id is None or answered == correlation_id, (answered, correlation_id)
        return response

    # bytes

    def send_bytes(self, data: bytes) -> None:
        self.socket.sendall(data)

    def send_pieces(self, pieces: Iterable[bytes]) -> None:
        """Each piece in a packet of its own, as far as the kernel lets it."""
        for piece in pieces:
            self.socket.sendall(piece)

    def receive_frame(self) -> memoryview:
        (size,) = struct.unpack(">i", self._receive_exactly(4))
        return memoryview(self._receive_exactly(size))

    def _receive_exactly(self, count: int) -> bytes:
        received = bytearray()
        while len(received) < count:
            chunk = self.socket.recv(count - len(received))
            if not chunk:
                raise ConnectionError(f"closed by the server after {len(received)} of {count} bytes")
            received += chunk
        return bytes(received)

    # the state of the connection

    def end_sending(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def expect_closed(self) -> None:
        """Fails if the server sends anything, or keeps the connection."""
        try:
            received = self.socket.recv(1)
        except ConnectionResetError:
            return
        assert received == b"", f"the server answered: {received!r}"

    def expect_silence(self, seconds: float = 0.2) -> None:
        """Fails if the server sends anything within the time, or closes the connection."""
        self.socket.settimeout(seconds)
        try:
            received = self.socket.recv(1)
        except TimeoutError:
            return
        finally:
            self.socket.settimeout(PATIENCE_SECONDS)
        raise AssertionError(f"the server answered: {received!r}" if received else "the server closed")

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> WireClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
