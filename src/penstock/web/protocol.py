"""uvicorn's HTTP protocol with bounds on the head of a request: how large it gets, and how long it takes to come.

Without them whoever sends a header that never ends, or a byte now and then, holds memory and a connection for as long
as he likes. The clock runs only while a head has begun and is not complete, so that an ordinary request, whose head
comes in one piece, costs no timer. A connection on which nothing ever came has as long as one that is kept alive.
"""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

LINGER_SECONDS = 1.0


class HeadLimits(NamedTuple):
    max_bytes: int = 64 * 1024
    """Of the request line and all headers together."""
    timeout_ms: int = 30_000


class _HeadTooLarge(Exception):
    pass


class BoundedProtocol(HttpToolsProtocol):
    def __init__(self, *args: Any, limits: HeadLimits, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._limits = limits
        self._is_in_head = True
        self._has_begun = False
        self._is_refused = False
        self._fed_bytes = 0
        """Of a head that is not complete."""
        self._parsed_bytes = 0
        """Of its lines that are; a head may come with a body in one piece."""
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._late = self.loop.call_later(self.timeout_keep_alive, self._on_late)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        if self._is_in_head and self._fed_bytes == 0:
            self._stop_clock()
        if self._is_in_head:
            self._fed_bytes += len(data)
        super().data_received(data)
        if self._is_refused or self.transport.is_closing():
            return
        if not self._is_in_head:
            self._mind_rest_of_body()
        elif self._fed_bytes > self._limits.max_bytes:
            self._refuse_size()
        elif self._has_begun and self._late is None:
            self._late = self.loop.call_later(self._limits.timeout_ms / 1000, self._on_late)

    # what the parser calls

    def on_message_begin(self) -> None:
        self._is_in_head, self._has_begun, self._parsed_bytes = True, True, 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + len(b": \r\n"))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._is_in_head, self._has_begun, self._fed_bytes = False, False, 0
        self._stop_clock()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_in_head = True
        self._stop_clock()
        super().on_message_complete()

    def _count(self, size: int) -> None:
        self._parsed_bytes += size
        if self._parsed_bytes > self._limits.max_bytes:
            raise _HeadTooLarge  # the parser stops, and uvicorn calls `send_400_response`

    def _mind_rest_of_body(self) -> None:
        """Who reads a body minds how long that takes; of one that is answered already nobody reads the rest."""
        if self.cycle is not None and self.cycle.response_complete and self._late is None:
            self._late = self.loop.call_later(self._limits.timeout_ms / 1000, self._on_late)

    # refusals

    def send_400_response(self, msg: str) -> None:
        if self._parsed_bytes > self._limits.max_bytes:
            self._refuse_size()
        else:
            self._is_refused = True
            super().send_400_response(msg)

    def _refuse_size(self) -> None:
        self._refuse(
            431, f"The head of the request is too large; takes at most {self._limits.max_bytes} bytes"
        )

    def _on_late(self) -> None:
        self._late = None
        if self.cycle is not None and not self.cycle.response_complete:
            self._late = self.loop.call_later(self._limits.timeout_ms / 1000, self._on_late)
        elif self._has_begun:
            self._refuse(408, f"The head of the request did not come within {self._limits.timeout_ms} ms")
        else:
            self.transport.close()

    def _refuse(self, status: int, message: str) -> None:
        self._is_refused = True
        self._stop_clock()
        body = b'{"error_code":%d,"message":"%b"}' % (status, message.encode())
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(
            body
        )
        self.transport.write(STATUS_LINE[status] + head + body)
        self.loop.call_later(
            LINGER_SECONDS, self.transport.close
        )  # what is still sent would reset the answer

    def _stop_clock(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
