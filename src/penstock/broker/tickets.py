"""Tickets of requests that a machine will answer: a client's, and the broker's own."""

import asyncio
from collections.abc import Callable
from typing import Any

from penstock.broker.parked import Parked, is_connected
from penstock.errors import ApiError
from penstock.machine import Ticket
from penstock.wire.schema import ApiMessage


class Call(Parked, Ticket):
    """A client's request. Answered before its handler returns, or parked until it is."""

    __slots__ = ("_refuse", "is_closed", "response")

    def __init__(self, refuse: Callable[[ApiError], ApiMessage]) -> None:
        super().__init__()
        self._refuse = refuse
        self.response: ApiMessage | None = None
        self.is_closed = False

    def reply(self, response: ApiMessage) -> None:
        assert self.response is None, "a ticket is replied to once"
        self.response = response
        if is_connected(self) and not self.is_closed:
            self.respond(response)

    def refuse(self, error: ApiError) -> None:
        self.reply(self._refuse(error))

    def on_close(self) -> None:
        self.is_closed = True


class Await(Ticket):
    """A question of the broker itself."""

    __slots__ = ("future",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.future: asyncio.Future[Any] = loop.create_future()

    def reply(self, response: Any) -> None:
        if not self.future.done():
            self.future.set_result(response)

    def refuse(self, error: ApiError) -> None:
        if not self.future.done():
            self.future.set_exception(error)
