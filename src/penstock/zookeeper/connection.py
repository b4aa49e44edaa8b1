"""One client's connection: bytes from the socket to frames, frames to the processor, and backpressure.

A connection is not read while more than its share of answers waits to be journalled or sent, so a client that asks
faster than it reads costs a bounded amount of memory. One that does not read its watch events at all is cut off.
"""

import asyncio
import logging
from typing import TYPE_CHECKING, cast

from penstock.errors import ProtocolError
from penstock.zookeeper.jute import FrameSplitter
from penstock.zookeeper.state import Client

if TYPE_CHECKING:
    from penstock.zookeeper.server import ZooKeeperServer

log = logging.getLogger(__name__)

MAX_UNSENT_BYTES = 4 * 1024 * 1024
MAX_EVENT_BACKLOG_BYTES = 64 * 1024 * 1024
CLOSE_GRACE_SECONDS = 5
FOUR_LETTERS = 4


class Connection(asyncio.Protocol):
    def __init__(self, server: "ZooKeeperServer") -> None:
        self._server = server
        self._frames = FrameSplitter(server.config.jute_max_buffer)
        self._greeted = False
        self._paused = False
        self._stalled = False
        self.client: Client | None = None
        self.unreleased_bytes = 0
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is not derived from it
        address = transport.get_extra_info("peername") or ("unknown", 0)
        self.client = self._server.admit(self, str(address[0]), int(address[1]))
        if self.client is None:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.client is not None:
            self._server.on_connection_lost(self.client)
        self.closed.set_result(None)

    def data_received(self, data: bytes) -> None:
        self._frames.feed(data)
        if self._greeted or self._maybe_greet():
            self.process()

    def eof_received(self) -> bool:
        return False

    def _maybe_greet(self) -> bool:
        """The first four bytes are either a four-letter word or the length of a frame."""
        opening = self._frames.peek(FOUR_LETTERS)
        if opening is None:
            return False
        self._greeted = True
        answer = self._server.answer_four_letter_word(opening)
        if answer is None:
            return True
        self.transport.write(answer)
        self.close()
        return False

    def process(self) -> None:
        """Handles the frames that have arrived, as far as the backlog of answers allows."""
        client = self.client
        try:
            while client is not None and not client.ended and not self._is_backlogged():
                frame = self._frames.next_frame()
                if frame is None:
                    break
                before = self._server.pending_bytes
                self._server.handle_frame(client, frame)
                self.unreleased_bytes += self._server.pending_bytes - before
        except ProtocolError as error:
            log.warning("closing the connection of %s: %s", self._name(), error)
            self._server.drop(self)
        self._pause_or_resume()

    def _name(self) -> str:
        return f"{self.client.host}:{self.client.port}" if self.client else "an unknown client"

    def _is_backlogged(self) -> bool:
        return self._stalled or self._server.is_backlogged or self.unreleased_bytes > MAX_UNSENT_BYTES

    def _pause_or_resume(self) -> None:
        if self.transport.is_closing():
            return
        backlogged = self._is_backlogged()
        if backlogged:
            self._server.note_backlogged(self)
        if backlogged and not self._paused:
            self.transport.pause_reading()
        elif self._paused and not backlogged:
            self.transport.resume_reading()
        self._paused = backlogged

    def release(self, frames: list[bytes]) -> None:
        """Sends answers and events that are now durable."""
        if self.transport.is_closing():
            return
        self.transport.write(frames[0] if len(frames) == 1 else b"".join(frames))
        self.unreleased_bytes = 0
        if self.transport.get_write_buffer_size() > MAX_EVENT_BACKLOG_BYTES:
            log.warning("closing the connection of %s: it does not read what it asked for", self._name())
            self._server.drop(self)

    def pause_writing(self) -> None:
        self._stalled = True
        self._pause_or_resume()

    def resume_writing(self) -> None:
        self._stalled = False
        self._server.process_later(self)

    def close(self) -> None:
        """Closes when all is sent; a peer that does not read is not waited for any longer than the grace."""
        self.transport.close()
        abort = asyncio.get_running_loop().call_later(CLOSE_GRACE_SECONDS, self.transport.abort)
        self.closed.add_done_callback(lambda _: abort.cancel())
