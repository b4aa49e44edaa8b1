"""A network of plain sockets, for scripts and tools: no event loop, no threads, nothing slow to import."""

from __future__ import annotations

import socket
import time
from collections.abc import Coroutine, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.wire.records_field import Part
from penstock.wire_client.network import Address, Disconnected, size_of_answer

if TYPE_CHECKING:
    import ssl

T = TypeVar("T")


def now(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine over a blocking cluster to its end."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    coroutine.close()
    raise RuntimeError("a coroutine over a blocking cluster waited for an event loop")


class BlockingChannel:
    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    async def exchange(self, frame: list[Part], timeout_seconds: float) -> memoryview:
        await self.post(frame, timeout_seconds)
        try:
            return self._receive(size_of_answer(self._receive(4)))
        except OSError as error:
            raise Disconnected(_said(error)) from error

    async def post(self, frame: list[Part], timeout_seconds: float) -> None:
        try:
            self._socket.settimeout(timeout_seconds)
            self._socket.sendall(b"".join(frame))  # type: ignore[arg-type]
        except OSError as error:
            raise Disconnected(_said(error)) from error

    def _receive(self, size: int) -> memoryview:
        received = memoryview(bytearray(size))
        position = 0
        while position < size:
            count = self._socket.recv_into(received[position:])
            if not count:
                raise Disconnected("the broker closed the connection")
            position += count
        return received

    def close(self) -> None:
        self._socket.close()


class BlockingNetwork:
    async def connect(
        self, address: Address, timeout_seconds: float, tls: ssl.SSLContext | None, tls_name: str | None
    ) -> BlockingChannel:
        try:
            connected = socket.create_connection(address, timeout_seconds)
        except OSError as error:
            raise Disconnected(_said(error)) from error
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is None:
            return BlockingChannel(connected)
        try:
            return BlockingChannel(tls.wrap_socket(connected, server_hostname=tls_name))
        except OSError as error:
            connected.close()
            raise Disconnected(f"TLS handshake failed: {_said(error)}") from error

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - there is no loop to block

    async def each(self, coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        return [await coroutine for coroutine in coroutines]

    def now(self) -> float:
        return time.monotonic()


def _said(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return error.strerror or str(error)
