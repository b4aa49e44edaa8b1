"""Answers that come later than the request's handler returns."""

from collections.abc import Callable
from typing import NamedTuple

from penstock.wire.records_field import Part
from penstock.wire.schema import ApiMessage


class Encoded(NamedTuple):
    """A response that somebody has encoded already."""

    parts: list[Part]


class Large(NamedTuple):
    """A response that would take the event loop long to encode: a thread does it."""

    message: ApiMessage


def message_of(answer: ApiMessage | Large | None) -> ApiMessage | None:
    """For who does not encode it, or does so in a thread anyway."""
    return answer.message if isinstance(answer, Large) else answer


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
