"""The network between the servers of a cluster, so that a test can cut it: a proxy for each server.

A link that is cut takes connections and carries nothing, as a network does that drops packets; nobody is told. What was
on its way is late: it arrives when the link is mended, if both ends still hold the connection then.

Brokers have one address each that they tell the others, so who calls there is known by what it says: each request of
Kafka's protocol begins with the name of its client, and a broker's is `broker-N-...`. What anybody else calls a broker
passes, whatever is cut.
"""

import asyncio
import contextlib
import re
import struct
from collections.abc import Callable, Coroutine
from typing import Any

from penstock.testing.loop_thread import LoopThread

HOST = "127.0.0.1"
PIECE_BYTES = 64 * 1024
CLIENT_ID_AT = struct.calcsize(">ihhi")
BROKER = re.compile(rb"broker-(\d+)-")

Say = Callable[[asyncio.StreamReader], Coroutine[Any, Any, tuple[str, bytes]]]
"""Who calls, and what was read to find that out."""


class Network:
    def __init__(self) -> None:
        self._thread = LoopThread("network")
        self._servers: list[asyncio.Server] = []
        self._open: dict[tuple[str, str], asyncio.Event] = {}
        self._carrying: set[asyncio.Task[None]] = set()

    # the way to a server

    def to_broker(self, number: int, port: int) -> int:
        """Of the other brokers; the port that they are to be told."""
        return self._listen(f"broker-{number}", port, _called_by_a_broker)

    def to_zookeeper(self, broker: int, server: str, port: int) -> int:
        """Of one broker to one server of ZooKeeper."""

        async def caller(_: asyncio.StreamReader) -> tuple[str, bytes]:
            return f"broker-{broker}", b""

        return self._listen(server, port, caller)

    def _listen(self, server: str, port: int, say: Say) -> int:
        async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                caller, said = await say(reader)
                await self._carry(self._link(caller, server), port, said, reader, writer)
            except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass  # either end has gone, or the test has

        def on_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(carry(reader, writer))
            self._carrying.add(task)

            def on_end(_: object) -> None:  # of one that was cancelled before it began, too
                writer.close()
                self._carrying.discard(task)

            task.add_done_callback(on_end)

        async def start() -> int:
            server = await asyncio.start_server(on_connection, HOST, 0)
            self._servers.append(server)
            port: int = server.sockets[0].getsockname()[1]
            return port

        return self._thread.run(start())

    def _link(self, source: str, target: str) -> asyncio.Event:
        if (source, target) not in self._open:
            self._open[source, target] = asyncio.Event()
            self._open[source, target].set()
        return self._open[source, target]

    async def _carry(
        self,
        is_open: asyncio.Event,
        port: int,
        said: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        await is_open.wait()
        far_reader, far_writer = await asyncio.open_connection(HOST, port)
        far_writer.write(said)
        there = asyncio.ensure_future(_pass(reader, far_writer, is_open))
        back = asyncio.ensure_future(_pass(far_reader, writer, is_open))
        try:
            await asyncio.wait((there, back), return_when=asyncio.FIRST_COMPLETED)
        finally:
            there.cancel()
            back.cancel()
            await asyncio.gather(there, back, return_exceptions=True)
            far_writer.close()

    # cutting

    def cut(self, source: str, target: str) -> None:
        """Whatever `source` has asked, or asks, of `target`, neither request nor answer arrives."""
        self._in_loop(lambda: self._link(source, target).clear())

    def mend(self) -> None:
        """All that was cut."""

        def open_all() -> None:
            for is_open in self._open.values():
                is_open.set()

        self._in_loop(open_all)

    def _in_loop(self, act: Callable[[], object]) -> None:
        async def run() -> None:
            act()

        self._thread.run(run())

    def close(self) -> None:
        async def end() -> None:
            for server in self._servers:
                server.close()
            carrying = list(self._carrying)
            for task in carrying:
                task.cancel()
            await asyncio.gather(*carrying, return_exceptions=True)

        self._thread.run(end())
        self._thread.end()


async def _called_by_a_broker(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    head = await reader.readexactly(CLIENT_ID_AT + 2)
    (length,) = struct.unpack_from(">h", head, CLIENT_ID_AT)
    name = await reader.readexactly(max(length, 0))
    found = BROKER.match(name)
    return (f"broker-{found[1].decode()}" if found else "stranger"), head + name


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_open: asyncio.Event) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(PIECE_BYTES):
            await is_open.wait()
            writer.write(data)
            await writer.drain()
    await is_open.wait()
