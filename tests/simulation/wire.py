"""Kafka's protocol over the simulated network: the frames, codecs, connections and router are those that ship.

Of a broker's connection only the socket is another one; a client's, and a broker's to its peers, is that of
`penstock.wire_client` over a network of these here.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from penstock.broker.connection import Connection
from penstock.broker.listeners import Listeners
from penstock.broker.peers import Peers
from penstock.broker.registration import Registration
from penstock.broker.router import Router
from penstock.controller.image import ClusterImage
from penstock.settings.broker import BrokerSettings
from penstock.wire.records_field import Part
from penstock.wire_client import Address, Disconnected
from penstock.wire_client.network import size_of_answer
from tests.simulation.network import End, Network
from tests.simulation.virtual_loop import Process

T = TypeVar("T")

LISTENER = "PLAINTEXT"
PORT = 9092


# a broker's side


class Socket:
    """As much of one as a broker's connection asks for; it takes all that it is given."""

    def __init__(self, end: End) -> None:
        self._end = end

    def sendmsg(self, pieces: list[bytes | bytearray | memoryview], _: object, flags: int) -> int:
        data = b"".join(pieces)
        self._end.send(data)
        return len(data)

    def send(self, piece: bytes | bytearray | memoryview, flags: int = 0) -> int:
        self._end.send(bytes(piece))
        return len(piece)

    def detach(self) -> None:
        """There is nothing to give back."""


class Transport(asyncio.Transport):
    """Hands what arrives to a broker's connection."""

    def __init__(self, end: End, connection: SimulatedConnection) -> None:
        super().__init__()
        self._end = end
        self._connection = connection
        self._arrived = bytearray()
        self._is_paused = False

    # the network's side

    def on_message(self, message: object) -> None:
        assert isinstance(message, bytes)
        self._arrived += message
        self._read()

    def on_closed(self) -> None:
        self._end.close()
        self._connection.connection_lost(None)

    def _read(self) -> None:
        while self._arrived and not (self._is_paused or self._end.is_closed):
            room = self._connection.get_buffer(-1)
            size = min(len(room), len(self._arrived))
            room[:size] = self._arrived[:size]
            del self._arrived[:size]
            self._connection.buffer_updated(size)

    # the connection's side

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        self._is_paused = False
        self._end.process.loop.call_soon(self._read)

    def close(self) -> None:
        if not self._end.is_closed:
            self._end.close()
            self._end.process.loop.call_soon(self._connection.connection_lost, None)

    abort = close


class SimulatedConnection(Connection):
    def begin(self, end: End) -> None:
        self._transport = Transport(end, self)
        self._loop = self.router.loop
        self.descriptor = 0
        self._socket = Socket(end)  # type: ignore[assignment]
        self.last_active = self._loop.time()
        self.router.on_connected(self)
        end.begin(self._transport)

    def _send_region(self) -> None:
        region = self._unsent[0]
        assert not isinstance(region, (bytes, bytearray, memoryview))
        self._socket.send(region.read())
        self._advance(region, region.size)


class SimulatedListeners(Listeners):
    def __init__(self, router: Router, network: Network, host: str, process: Process) -> None:
        super().__init__(router)
        self._network = network
        self._host = host
        self._process = process
        self._accepted: list[SimulatedConnection] = []

    async def bind(self, settings: BrokerSettings) -> dict[str, tuple[str, int]]:
        self._settings = settings
        return {LISTENER: (self._host, PORT)}

    async def serve(self) -> None:
        most = self._settings.socket_request_max_bytes

        def accept(end: End) -> None:
            connection = SimulatedConnection(self.router, LISTENER, most)
            self._accepted.append(connection)
            connection.begin(end)

        self._network.listen(self._host, self._process, accept)

    async def close(self) -> None:
        self._network.stop_listening(self._host, self._process)
        for connection in self._accepted:
            connection.close()
        await asyncio.sleep(0)


# a client's side


class Channel:
    """Callers take turns, as with the channel over a socket."""

    def __init__(self, loop: asyncio.AbstractEventLoop, end: End) -> None:
        self._loop = loop
        self._end = end
        self._turn = asyncio.Lock()
        self._arrived = bytearray()
        self._answer: asyncio.Future[memoryview] | None = None
        end.begin(self)

    def on_message(self, message: object) -> None:
        assert isinstance(message, bytes)
        self._arrived += message
        if len(self._arrived) >= 4 and self._answer is not None and not self._answer.done():
            size = 4 + size_of_answer(bytes(self._arrived[:4]))
            if len(self._arrived) >= size:
                body = bytes(self._arrived[4:size])
                del self._arrived[:size]
                self._answer.set_result(memoryview(body))

    def on_closed(self) -> None:
        self.close()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(Disconnected("the broker closed the connection"))

    async def exchange(self, frame: list[Part], timeout_seconds: float) -> memoryview:
        async with self._turn:
            self._post(frame)
            answer: asyncio.Future[memoryview] = self._loop.create_future()
            self._answer = answer
            timer = self._loop.call_later(timeout_seconds, self._lose_patience)
            try:
                return await answer
            except asyncio.CancelledError:
                self.close()
                raise
            finally:
                timer.cancel()

    def _lose_patience(self) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(Disconnected("no answer in time"))

    async def post(self, frame: list[Part], timeout_seconds: float) -> None:
        async with self._turn:
            self._post(frame)

    def _post(self, frame: list[Part]) -> None:
        if self._end.is_closed:
            raise Disconnected("the connection is closed")
        self._end.send(b"".join(frame))  # type: ignore[arg-type]

    def close(self) -> None:
        self._end.close()


class ClientNetwork:
    """`penstock.wire_client.network.Network` for one process on one host."""

    def __init__(self, network: Network, process: Process, host: str) -> None:
        self._network = network
        self._process = process
        self._host = host

    async def connect(
        self, address: Address, timeout_seconds: float, tls: ssl.SSLContext | None, tls_name: str | None
    ) -> Channel:
        loop = asyncio.get_running_loop()
        connected: asyncio.Future[End | None] = loop.create_future()

        def done(end: End | None) -> None:
            if not connected.done():
                connected.set_result(end)
            elif end is not None:
                end.close()

        self._network.connect(self._process, self._host, address.host, done)
        try:
            async with asyncio.timeout(timeout_seconds):
                end = await connected
        except TimeoutError as error:
            raise Disconnected("no answer in time") from error
        if end is None:
            raise Disconnected("Connection refused")
        return Channel(loop, end)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def each(self, coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        return list(await asyncio.gather(*coroutines))

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def wait_closed(self) -> None:
        """They close at once."""


class SimulatedPeers(Peers):
    def __init__(
        self,
        settings: BrokerSettings,
        registration: Registration,
        image: ClusterImage,
        network: ClientNetwork,
    ) -> None:
        super().__init__(settings, registration, image)
        self._network = network  # type: ignore[assignment]
