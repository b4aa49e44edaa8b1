"""One client connection: bytes in, frames to the router, responses out in request order.

Receiving. The event loop writes straight into a buffer, which the connection borrows from `receive_buffers` when there
are bytes for it, and gives back when nothing in it is needed any more: mostly at once, so that all read into the same
one; an idle connection has none. Frames are taken out of it where they lie. A frame that does not fit gets a larger
buffer once as many bytes have come as the old one holds, whatever length it announces, and the loop is told to read no
further than its end; so a large batch mostly arrives contiguous and is not moved. The record bytes of a produce request
stay in the buffer until it is answered, and the buffer with them; all other messages are copies.

There must always be room when the loop reads: it takes an empty buffer for a broken protocol. `_settle` sees to that
after everything that fills a buffer or holds up its frames, and stops the reading where it can't.

Order. One request of a connection is at work at a time, as in Kafka: while it waits (a parked fetch, a
slow disk) later frames stay in the buffer, and a full buffer stops the reading. That is the backpressure.

A client that leaves while its request is at work does not end it, since a change may be half made by then; nobody hears
the answer, and no later frame is begun.

Turns. A connection whose frames have kept the loop for `TURN_SECONDS` lets the others have it: the router calls it
again when they had theirs. Until then it is as if a request were at work.

Sending. The answers to the frames of one read go out together, with `sendmsg` on the transport's own descriptor, and
record bytes that lie in a file with `sendfile`, after a thread has fetched them from the disk if they are not in
memory. When the kernel takes no more, the transport gets a piece of what is left; it tells when that is gone and the
rest may follow, and until then no further request is begun.
"""

import asyncio
import collections
import errno
import logging
import os
import socket
import struct
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, cast

from penstock.broker.loop_meter import Metered
from penstock.broker.parked import Encoded, Large, Parked
from penstock.broker.produce_memo import ProduceMemos
from penstock.broker.receive_buffers import LARGE_BUFFER_BYTES, SMALL_BUFFER_BYTES
from penstock.errors import ProtocolError
from penstock.wire.api_keys import ApiKey
from penstock.wire.frames import encode_response_frame
from penstock.wire.records_field import FileRegion, Part
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.router import Router

log = logging.getLogger("penstock.broker.connection")

TURN_SECONDS = 0.005
"""How long the frames of one connection may keep the loop while others wait; a single request may take longer."""
HANDED_OVER_BYTES = 4096
"""Of a file's region, to the transport, which tells when the socket takes more."""
SENDFILE_FROM_BYTES = 16 * 1024
"""Shorter regions are read and sent with the rest in one call, which is cheaper."""
MAX_PARTS_PER_CALL = 512
"""Below the kernel's limit of 1,024 buffers in one call."""

_frame_size = struct.Struct(">i").unpack_from
_api_key = struct.Struct(">h").unpack_from


Answer = ApiMessage | Parked | Awaitable[ApiMessage | Large | None] | None
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
        self._buffers = router.receive_buffers
        self._view: memoryview | None = None
        self._usual_bytes = 0  # how much the buffer held when it was given back last
        self._start = 0
        self._end = 0
        self._frame_start = 0  # of the request at work
        self._frame_end = 0  # of a large frame that is arriving; 0 if none is
        self.at_work = False
        self._awaits_turn = False
        self._reading_paused = False
        self._blocked = False  # the socket takes no more for the moment, or the disk is awaited
        self._handed_over = False  # the transport has what the socket does not take
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
        self._transport.set_write_buffer_limits(0)
        self.descriptor: int = self._transport.get_extra_info("socket").fileno()
        self._socket = socket.socket(fileno=self.descriptor)  # the transport's own, until it is detached
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.last_active = self._loop.time()
        self.router.on_connected(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Lets go of all that refers to the connection or that it refers to: nobody else breaks a cycle."""
        self._closed = True
        self._socket.detach()
        self._unsent.clear()
        self._view = None  # which a request at work may still look at: nobody else gets it
        parked, task = self._parked, self._task
        self._parked = self._task = self._cold = None
        del self.context
        if parked is not None:
            parked.on_close()
            if task is not None:  # which waits for nothing else
                task.cancel()
        elif task is not None:
            self.router.keep(task)
        self.router.on_disconnected(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the loop reads to, which it does before anything else happens."""
        if self._view is None:
            if self._usual_bytes <= SMALL_BUFFER_BYTES:
                return self._buffers.shared
            self._view = self._buffers.take(min(self._usual_bytes, LARGE_BUFFER_BYTES))
        return self._view[self._end : self._frame_end or None]

    def buffer_updated(self, count: int) -> None:
        if self._view is None:
            self._view = self._buffers.shared
        self._end += count
        self.last_active = self._loop.time()
        if self.at_work or self._blocked or self._awaits_turn:
            self._settle()
        else:
            self._take_frames()

    def eof_received(self) -> bool:
        if self._handed_over:
            self.close()  # the transport would wait until the client has taken it
        return False

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            if self._handed_over:
                self._transport.abort()
            else:
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
        self._settle()

    def _dispatch_frames(self) -> None:
        view = self._view
        if view is None:
            return
        meter = self.router.meter
        began = time.perf_counter()
        turn_end = began + TURN_SECONDS
        while not (self.at_work or self._blocked or self._awaits_turn or self._closed):
            available = self._end - self._start
            if available < 4:
                return
            size = _frame_size(view, self._start)[0]
            if not 0 <= size <= self.max_frame_bytes:
                raise ProtocolError(f"a frame of {size} bytes; at most {self.max_frame_bytes} are taken")
            if available < size + 4:
                self._make_room(view, size + 4)
                return
            self._frame_start = begin = self._start + 4
            self._start = begin + size
            self._frame_end = 0
            self.at_work = True
            self.router.dispatch(self, view[begin : self._start])
            ended = time.perf_counter()
            if ended - began > meter.held_seconds:
                meter.note(_api_key(view, begin)[0], self.peer, ended - began, ended)
            if self._start < self._end and ended > turn_end:
                self._let_others_go_first()
            began = ended

    def _let_others_go_first(self) -> None:
        if not (self.at_work or self._blocked):
            self._awaits_turn = True
            self.router.queue_turn(self)

    def take_turn(self) -> None:
        """Goes on with frames that had to let others go first."""
        self._awaits_turn = False
        if not (self._blocked or self._closed):
            self._go_on()

    def _make_room(self, view: memoryview, needed: int) -> None:
        """Sees to it that the frame that begins here, of `needed` bytes, can go on arriving."""
        if len(view) - self._start < needed:
            self._move_rest_to_front(view)
            if self._end == len(view):
                view = self._view = self._grown(view, needed)
        if SMALL_BUFFER_BYTES < needed <= len(view) - self._start:
            self._frame_end = self._start + needed

    def _move_rest_to_front(self, view: memoryview) -> None:
        if self._start:
            rest = self._end - self._start
            view[:rest] = view[self._start : self._end]
            self._start, self._end = 0, rest

    def _grown(self, view: memoryview, needed: int) -> memoryview:
        """A larger buffer that begins with all that is in this one; not much larger than what has come."""
        held = len(view)
        larger = self._buffers.take(min(needed, max(2 * held, LARGE_BUFFER_BYTES)))
        larger[:held] = view
        self._buffers.give_back(view)
        return larger

    def _settle(self) -> None:
        """Gives the buffer back if nothing in it is needed; else keeps it, and leaves room in it or reads no more."""
        view = self._view
        if view is None:
            return
        if self._start == self._end and not (self.at_work and self._is_frame_in_use(view)):
            self._usual_bytes = self._end
            self._start = self._end = 0
            self._view = None
            self._buffers.give_back(view)
            return
        self._buffers.keep(view)
        if self._end == len(view):
            if self.at_work or self._blocked or self._awaits_turn:
                self._pause_reading()
            else:
                self._move_rest_to_front(view)

    def _is_frame_in_use(self, view: memoryview) -> bool:
        """Whether the request at work is one whose records lie in the buffer."""
        return bool(_api_key(view, self._frame_start)[0] == ApiKey.PRODUCE)

    def _pause_reading(self) -> None:
        if not self._reading_paused:
            self._reading_paused = True
            self._transport.pause_reading()

    # answers

    def answer(
        self,
        answer: Answer | Awaitable[ApiMessage | Encoded | Large | None],
        version: int,
        correlation_id: int,
    ) -> None:
        """Takes what the handler returned for the request at work."""
        if isinstance(answer, ApiMessage):
            self._respond(answer, version, correlation_id)
        elif answer is None:
            self.at_work = False
        elif isinstance(answer, Parked):
            self._parked = answer
            answer.respond = lambda response: self._finish(response, version, correlation_id)
        else:
            assert self._view is not None
            api_key = _api_key(self._view, self._frame_start)[0]
            metered = Metered(answer, self.router.meter, api_key, self.peer)
            self._task = self._loop.create_task(self._wait_for(metered, version, correlation_id))

    async def park(self, parked: Parked) -> ApiMessage:
        """The answer, for a task that has handed the request on to who parked it."""
        answered: asyncio.Future[ApiMessage] = self._loop.create_future()
        if self._closed:
            parked.on_close()
            raise asyncio.CancelledError
        self._parked = parked
        parked.respond = answered.set_result
        try:
            return await answered
        finally:
            self._parked = None

    async def _wait_for(
        self, answer: Awaitable[ApiMessage | Encoded | Large | None], version: int, correlation_id: int
    ) -> None:
        try:
            response = await answer
            if isinstance(response, Large):
                parts = await asyncio.to_thread(
                    encode_response_frame, response.message, version, correlation_id
                )
                response = Encoded(parts)
        except ProtocolError as error:
            log.warning("closing the connection of %s: %s", self.peer, error)
            self.close()
            return
        except Exception:
            log.exception("a request of %s failed; closing its connection", self.peer)
            self.close()
            return
        except asyncio.CancelledError:
            self.close()  # else nobody would ever answer
            raise
        self._finish(response, version, correlation_id)

    def _finish(self, response: ApiMessage | Encoded | None, version: int, correlation_id: int) -> None:
        """Answers a request that had to wait, then goes on with the frames that came meanwhile."""
        self._parked = self._task = None
        if self._closed:
            return
        if response is None:
            self.at_work = False
        elif isinstance(response, Encoded):
            self.at_work = False
            self._unsent.extend(response.parts)
        else:
            self._respond(response, version, correlation_id)
        if self._start < self._end:
            self._let_others_go_first()  # whoever had the answer sent is perhaps not done
        self._go_on()  # which sends the answer, too

    def _go_on(self) -> None:
        self._take_frames()
        if self._closed or self.at_work or self._blocked or self._awaits_turn:
            return
        if self._reading_paused:
            self._reading_paused = False
            self._transport.resume_reading()

    def answer_encoded(self, frame: bytearray) -> None:
        """Takes a response that is encoded already; it is sent when the frames at hand are done."""
        self._unsent.append(frame)
        self.at_work = False

    def _respond(self, response: ApiMessage, version: int, correlation_id: int) -> None:
        self.at_work = False
        try:
            parts = encode_response_frame(response, version, correlation_id)
        except Exception as error:
            name = type(response).__name__
            log.error(
                "closing the connection of %s: %s v%d can't be encoded: %s", self.peer, name, version, error
            )
            self.close()
            return
        self._unsent.extend(parts)
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
        if self._cold is not None:
            self._loop.run_in_executor(None, self._cold.warm).add_done_callback(self._on_warm)
            return
        self._transport.write(self._piece_to_hand_over())
        if not self._handed_over:  # the socket took it after all
            self._loop.call_soon(self._send_more)

    def _piece_to_hand_over(self) -> bytes | bytearray | memoryview:
        first = self._unsent[0]
        if isinstance(first, (bytes, bytearray, memoryview)):
            return cast("bytes | bytearray | memoryview", self._unsent.popleft())
        begin, left = first.position + self._region_sent, first.size - self._region_sent
        piece = os.pread(first.file.fileno(), min(left, HANDED_OVER_BYTES), begin)
        self._advance(first, len(piece))
        return piece

    def pause_writing(self) -> None:
        self._handed_over = True

    def resume_writing(self) -> None:
        self._handed_over = False
        self._send_more()

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
        self._blocked = False
        if not (self.at_work or self._awaits_turn):
            self._go_on()

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
        self._advance(region, os.sendfile(self.descriptor, region.file.fileno(), begin, left))

    def _advance(self, region: FileRegion, sent: int) -> None:
        if sent == 0:
            raise OSError(errno.EIO, f"{region!r} ends before its announced size")
        self._region_sent += sent
        if self._region_sent == region.size:
            self._unsent.popleft()
            self._region_sent = 0
