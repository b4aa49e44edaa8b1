"""A network in the running event loop."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from penstock.wire.records_field import Part
from penstock.wire_client.network import Address, Disconnected, size_of_answer

T = TypeVar("T")

GOODBYE_SECONDS = 1.0


class AsyncioChannel:
    """Callers take turns: a frame goes out when the one before it is answered."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._turn = asyncio.Lock()

    async def exchange(self, frame: list[Part], timeout_seconds: float) -> memoryview:
        async with self._turn:
            return await _in_time(self._exchange(frame), timeout_seconds)

    async def _exchange(self, frame: list[Part]) -> memoryview:
        await self._post(frame)
        try:
            size = size_of_answer(await self._reader.readexactly(4))
            return memoryview(await self._reader.readexactly(size))
        except asyncio.CancelledError:
            self.close()  # an answer that nobody waits for would be taken for the next one
            raise

    async def post(self, frame: list[Part], timeout_seconds: float) -> None:
        async with self._turn:
            await _in_time(self._post(frame), timeout_seconds)

    async def _post(self, frame: list[Part]) -> None:
        self._writer.writelines(frame)  # type: ignore[arg-type]
        await self._writer.drain()

    def close(self) -> None:
        self._writer.close()


class AsyncioNetwork:
    def __init__(self) -> None:
        self._writers: set[asyncio.StreamWriter] = set()

    async def connect(
        self, address: Address, timeout_seconds: float, tls: ssl.SSLContext | None, tls_name: str | None
    ) -> AsyncioChannel:
        opening = asyncio.open_connection(*address, ssl=tls, server_hostname=tls_name)
        reader, writer = await _in_time(opening, timeout_seconds)
        self._writers = {other for other in self._writers if not other.is_closing()} | {writer}
        return AsyncioChannel(reader, writer)

    async def wait_closed(self) -> None:
        """Until the connections that were closed are really gone; TLS says goodbye first."""
        for writer in self._writers:
            writer.close()
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(GOODBYE_SECONDS):
                    await writer.wait_closed()
        self._writers.clear()
        await asyncio.sleep(0)  # a handshake that failed leaves its transport to the loop

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def each(self, coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(coroutine) for coroutine in coroutines]
        except ExceptionGroup as several:
            raise several.exceptions[0] from None  # one is raised, as in the other colour
        return [task.result() for task in tasks]

    def now(self) -> float:
        return asyncio.get_running_loop().time()


async def _in_time(coroutine: Coroutine[Any, Any, T], timeout_seconds: float) -> T:
    try:
        async with asyncio.timeout(timeout_seconds):
            return await coroutine
    except TimeoutError as error:
        raise Disconnected("no answer in time") from error
    except ssl.SSLError as error:
        raise Disconnected(f"TLS handshake failed: {error.reason or error}") from error
    except OSError as error:
        raise Disconnected(error.strerror or str(error)) from error
    except asyncio.IncompleteReadError as error:
        raise Disconnected("the broker closed the connection") from error
