"""Reads what a znode says, and tells which one makes no sense."""

from collections.abc import Callable
from typing import TypeVar

from penstock.broker.coordination import MalformedNode

SHOWN_BYTES = 100
"""Of a malformed node."""

DecodedT = TypeVar("DecodedT")


def decoded(path: str, decode: Callable[[bytes], DecodedT], data: bytes) -> DecodedT:
    """What a node says; MalformedNode if it says nothing that can be understood."""
    try:
        return decode(data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MalformedNode(f"{path} holds {data[:SHOWN_BYTES]!r}: {type(error).__name__} {error}") from error
