"""One client connection: bytes in, frames to the router, responses out in request order.

Receiving. The event loop writes straight into this connection's buffer. Small frames are taken out of it where
they lie; for a frame that does not fit, the buffer grows to just that frame and the loop is told to read no
further than its end, so that a large batch arrives once, contiguous, and is never moved. A frame's memory
belongs to its request until the request is answered.

Order. One request of a connection is at work at a time, as in Kafka: while it waits (a parked fetch, a
slow disk) later frames stay in the buffer, and a full buffer stops the reading. That is the backpressure.

Sending. The answers to the frames of one read go out together, with `sendmsg` on a duplicate of the socket, and
record bytes that lie in a file with `sendfile`, after a thread has fetched them from the disk if they are not in
memory. What the kernel does not take at once is sent when the socket is writable again, and until then no further
request is begun.
"""

import asyncio
import collections
import errno
import logging
import os
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, cast

from penstock.broker.produce_memo import ProduceMemos
from penstock.errors import ProtocolError
from penstock.wire.frames import encode_response_frame
from penstock.wire.records_field import FileRegion, Part
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.router import Router

log = logging.getLogger("penstock.broker.connection")

RECEIVE_BUFFER_BYTES = 64 * 1024
"""The buffer that a connection starts with and falls back to."""
KEPT_BUFFER_BYTES = 2 * 1024 * 1024
"""A buffer up to this size is kept for the next large frame; a larger one is given back."""
SENDFILE_FROM_BYTES = 16 * 1024
"""Shorter regions are read and sent with the rest in one call, which is cheaper."""
MAX_PARTS_PER_CALL = 512
"""Below the kernel's limit of 1,024 buffers in one call."""

_frame_size = struct.Struct(">i").unpack_from


class Parked:
    """A request whose answer comes later: its handler derives from this, and calls `respond` in the end."""

    __slots__ = ("respond",)

    def __init__(self) -> None:
        self.respond: Callable[[ApiMessage], None] = _not_connected

    def on_close(self) -> None:
        """The connection is gone; nobody waits for the answer any more."""
        raise NotImplementedError


def _not_connected(response: ApiMessage) -> None:
    raise AssertionError(f"{response!r} answered before the connection took the parked request")


def is_connected(parked: Parked) -> bool:
    """Whether the connection has taken the request, so that `respond` reaches the client."""
    return parked.respond is not _not_connected


Answer = ApiMessage | Parked | Awaitable[ApiMessage | None] | None
"""What a handler returns: a response now, later, or none at all (acks=0)."""


class RequestContext:
    """What a handler may want to know of a request besides its message; a connection has one at a time."""

    __slots__ = ("client_id", "connection", "version")

    def __init__(self, connection: "Connection") -> None:
        self.connection = connection
        self.version = 0
        self.client_id: str | None = None


class Connection(asyncio.BufferedProtocol):
    def __init__(self, router: "Router", listener: str, max_frame_bytes: int) -> None:
        self.router = router
        self.listener = listener
        self.max_frame_bytes = max_frame_bytes
        self.context = RequestContext(self)
        self.produce_memos = ProduceMemos(router.broker.partitions)
        self.client_software: tuple[str, str] | None = None
        self.peer = self.peer_ip = "?"
        self._buffer = bytearray(RECEIVE_BUFFER_BYTES)
        self._view = memoryview(self._buffer)
        self._start = 0
        self._end = 0
        self._frame_end = 0  # of a large frame that is arriving; 0 if none is
        self.at_work = False
        self._reading_paused = False
        self._blocked = False  # the socket takes no more for the moment, or the disk is awaited
        self._writer_added = False
        self._cold: FileRegion | None = None  # what has to come from the disk first
        self._closed = False
        self._unsent: collections.deque[Part] = collections.deque()
        self._region_sent = 0  # of the region at the head of what is unsent
        self._parked: Parked | None = None
        self._task: asyncio.Task[None] | None = None

    # the event loop's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is not derived from it
        self._loop = self.router.loop
        peer = self._transport.get_extra_info("peername")
        self.peer_ip = str(peer[0]) if peer else "?"
        self.peer = f"{peer[0]}:{peer[1]}" if peer else "?"
        own = self._transport.get_extra_info("socket")
        self._socket = socket.socket(fileno=os.dup(own.fileno()))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._descriptor = self._socket.fileno()
        self.last_active = self._loop.time()
        self.router.on_connected(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._closed = True
        self._remove_writer()
        self._unsent.clear()
        self._socket.close()
        if self._parked is not None:
            self._parked.on_close()
        if self._task is not None:
            self._task.cancel()
        self.router.on_disconnected(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        if self._frame_end:
            return self._view[self._end : self._frame_end]
        return self._view[self._end :]

    def buffer_updated(self, count: int) -> None:
        self._end += count
        self.last_active = self._loop.time()
        if not (self.at_work or self._blocked):
            self._take_frames()
        elif self._end == len(self._buffer):
            self._pause_reading()

    def eof_received(self) -> bool:
        return False

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._transport.close()

    # frames

    def _take_frames(self) -> None:
        """Handles the frames that are there, then sends their answers together."""
        try:
            self._dispatch_frames()
        except ProtocolError as error:
            log.warning("closing the connection of %s: %s", self.peer, error)
            self._flush()
            self.close()
        if self._unsent:
            self._flush_or_wait()

    def _dispatch_frames(self) -> None:
        while not (self.at_work or self._blocked or self._closed):
            available = self._end - self._start
            if available < 4:
                break
            size = _frame_size(self._buffer, self._start)[0]
            if not 0 <= size <= self.max_frame_bytes:
                raise ProtocolError(f"a frame of {size} bytes; at most {self.max_frame_bytes} are taken")
            if available < size + 4:
                self._make_room(size + 4)
                return
            begin = self._start + 4
            self._start = begin + size
            self._frame_end = 0
            self.at_work = True
            self.router.dispatch(self, self._view[begin : self._start])
        if not (self.at_work or self._blocked):
            self._compact()

    def _compact(self) -> None:
        """Moves the rest, which is less than a length prefix, to the front."""
        if len(self._buffer) > KEPT_BUFFER_BYTES:
            self._replace_buffer(RECEIVE_BUFFER_BYTES)
        else:
            self._move_rest_to_front()

    def _move_rest_to_front(self) -> None:
        rest = self._end - self._start
        if rest:
            self._buffer[:rest] = self._buffer[self._start : self._end]
        self._start, self._end = 0, rest

    def _make_room(self, needed: int) -> None:
        """Sees to it that `needed` bytes from the start of the frame fit in the buffer."""
        if len(self._buffer) - self._start < needed:
            if len(self._buffer) < needed:
                self._replace_buffer(needed)
            else:
                self._move_rest_to_front()
        if needed > RECEIVE_BUFFER_BYTES:
            self._frame_end = self._start + needed

    def _replace_buffer(self, size: int) -> None:
        rest = self._end - self._start
        fresh = bytearray(size)
        fresh[:rest] = self._view[self._start : self._end]
        self._buffer, self._view = fresh, memoryview(fresh)
        self._start, self._end = 0, rest

    def _pause_reading(self) -> None:
        if not self._reading_paused:
            self._reading_paused = True
            self._transport.pause_reading()

    # answers

    def answer(self, answer: Answer, version: int, correlation_id: int) -> None:
        """Takes what the handler returned for the request at work."""
        if isinstance(answer, ApiMessage):
            self._respond(answer, version, correlation_id)
        elif answer is None:
            self.at_work = False
        elif isinstance(answer, Parked):
            self._parked = answer
            answer.respond = lambda response: self._finish(response, version, correlation_id)
        else:
            self._task = self._loop.create_task(self._wait_for(answer, version, correlation_id))

    async def _wait_for(
        self, answer: Awaitable[ApiMessage | None], version: int, correlation_id: int
    ) -> None:
        try:
            response = await answer
        except Exception:
            log.exception("a request of %s failed; closing its connection", self.peer)
            self.close()
            return
        self._finish(response, version, correlation_id)

    def _finish(self, response: ApiMessage | None, version: int, correlation_id: int) -> None:
        """Answers a request that had to wait, then goes on with the frames that came meanwhile."""
        self._parked = self._task = None
        if self._closed:
            return
        if response is None:
            self.at_work = False
        else:
            self._respond(response, version, correlation_id)
        self._go_on()  # which sends the answer, too

    def _go_on(self) -> None:
        self._take_frames()
        if self._reading_paused and not (self.at_work or self._blocked or self._closed):
            self._reading_paused = False
            self._transport.resume_reading()

    def answer_encoded(self, frame: bytearray) -> None:
        """Takes a response that is encoded already; it is sent when the frames at hand are done."""
        self._unsent.append(frame)
        self.at_work = False

    def _respond(self, response: ApiMessage, version: int, correlation_id: int) -> None:
        parts = encode_response_frame(response, version, correlation_id)
        self._unsent.extend(parts)
        self.at_work = False
        if len(parts) > 1:
            self._flush_or_wait()

    # sending

    def _flush_or_wait(self) -> None:
        """Sends what the kernel takes; no further request is begun before the rest is gone."""
        if not self._blocked and not self._flush():
            self._blocked = True
            self._wait()

    def _wait(self) -> None:
        """Waits for what holds up the sending: the client, or the disk."""
        if self._cold is None:
            if not self._writer_added:
                self._writer_added = True
                self._loop.add_writer(self._descriptor, self._send_more)
        else:
            self._remove_writer()
            self._loop.run_in_executor(None, self._cold.warm).add_done_callback(self._on_warm)

    def _on_warm(self, warmed: "asyncio.Future[None]") -> None:
        self._cold = None
        if warmed.exception() is not None:
            log.error("reading for %s failed: %s", self.peer, warmed.exception())
            self.close()
        self._send_more()

    def _send_more(self) -> None:
        if self._closed:
            return
        if not self._flush():
            self._wait()
            return
        self._remove_writer()
        self._blocked = False
        if not self.at_work:
            self._go_on()

    def _remove_writer(self) -> None:
        if self._writer_added:
            self._writer_added = False
            self._loop.remove_writer(self._descriptor)

    def _flush(self) -> bool:
        """True when all is sent, or the connection is gone."""
        unsent = self._unsent
        try:
            while unsent:
                first = unsent[0]
                if isinstance(first, (bytes, bytearray, memoryview)) or first.size < SENDFILE_FROM_BYTES:
                    self._send_bytes()
                elif self._region_sent or first.is_cached():
                    self._send_region()
                else:
                    self._cold = first
                    return False
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in (errno.EPIPE, errno.ECONNRESET):
                log.warning("sending to %s failed: %s", self.peer, error)
            unsent.clear()
            self.close()
        return True

    def _send_bytes(self) -> None:
        unsent = self._unsent
        if len(unsent) == 1:
            self._send_first(0)
            return
        pieces: list[bytes | bytearray | memoryview] = []
        while unsent and len(pieces) < MAX_PARTS_PER_CALL:
            part = unsent[0]
            if not isinstance(part, (bytes, bytearray, memoryview)):
                if part.size >= SENDFILE_FROM_BYTES:
                    break
                part = part.read()
            pieces.append(part)
            unsent.popleft()
        more = socket.MSG_MORE if unsent else 0
        try:
            sent = self._socket.sendmsg(pieces, (), more)
        except BlockingIOError:
            unsent.extendleft(reversed(pieces))
            raise
        for index, piece in enumerate(pieces):
            if sent < len(piece):
                unsent.extendleft(reversed(pieces[index + 1 :]))
                unsent.appendleft(memoryview(piece)[sent:])
                return
            sent -= len(piece)

    def _send_first(self, flags: int) -> None:
        part = self._unsent[0]
        piece = part if isinstance(part, (bytes, bytearray, memoryview)) else part.read()
        sent = self._socket.send(piece, flags)
        if sent == len(piece):
            self._unsent.popleft()
        else:
            self._unsent[0] = memoryview(piece)[sent:]

    def _send_region(self) -> None:
        region = self._unsent[0]
        assert not isinstance(region, (bytes, bytearray, memoryview))
        begin, left = region.position + self._region_sent, region.size - self._region_sent
        sent = os.sendfile(self._descriptor, region.file.fileno(), begin, left)
        if sent == 0:
            raise OSError(errno.EIO, f"{region!r} ends before its announced size")
        self._region_sent += sent
        if sent == left:
            self._unsent.popleft()
            self._region_sent = 0
