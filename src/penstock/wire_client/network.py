"""What a `Cluster` needs of the world outside, in either colour.

Every method is `async`, so that the code above is written once. Those of `BlockingNetwork` do their work before they
return and never suspend; those of `AsyncioNetwork` suspend in the running event loop.
"""

from __future__ import annotations

import struct
from collections.abc import Coroutine, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from penstock.wire.records_field import Part

if TYPE_CHECKING:
    import ssl

T = TypeVar("T")


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Disconnected(Exception):
    """The connection could not be made, broke off, or did not answer in time."""


_SIZE = struct.Struct(">i")
MAX_ANSWER_BYTES = 256 * 1024 * 1024
"""Above what brokers answer; a first word that is larger comes from somebody who speaks another protocol."""


def size_of_answer(prefix: bytes | memoryview) -> int:
    """The size that stands in front of a frame."""
    size: int = _SIZE.unpack(prefix)[0]
    if not 0 <= size <= MAX_ANSWER_BYTES:
        raise Disconnected(f"no Kafka broker answers with a frame of {size} bytes; is this a TLS listener?")
    return size


class Channel(Protocol):
    """One connection to a broker; frames go out and come back in turn."""

    async def exchange(self, frame: list[Part], timeout_seconds: float) -> memoryview:
        """Sends a frame and gives the one that answers it, without its size."""

    async def post(self, frame: list[Part], timeout_seconds: float) -> None:
        """Sends a frame that is not answered."""

    def close(self) -> None: ...


class Network(Protocol):
    async def connect(
        self, address: Address, timeout_seconds: float, tls: ssl.SSLContext | None, tls_name: str | None
    ) -> Channel: ...

    async def sleep(self, seconds: float) -> None: ...

    async def each(self, coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        """The results of all, in order: at once where the colour allows it, else one after the other."""

    def now(self) -> float:
        """Seconds that only go forward."""
