"""How long calls of librdkafka wait, in turns: a call cannot be interrupted, so none lasts longer than a turn.

Between turns Python looks for Ctrl-C, and the caller may have gone: a coroutine that was cancelled leaves its call in a
thread, which then has `AFTER_ERROR_SECONDS` to end what it began. With brokers that answer that is more than enough;
without, nobody waits for the two minutes that a record has.
"""

import math
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar

TURN_SECONDS = 0.1
AFTER_ERROR_SECONDS = 2.0
"""What is still waited for after an exception: to deliver what is left, to abort a transaction."""

abandoned: ContextVar[threading.Event | None] = ContextVar("abandoned", default=None)
"""Set by whoever awaited this thread's call, when it waits no more."""


def turns(timeout: float | None, turn: float = TURN_SECONDS) -> Iterator[float]:
    """The seconds of one turn after the other, at least one turn, until `timeout` seconds are over."""
    has_gone = abandoned.get()
    deadline = math.inf if timeout is None else time.monotonic() + timeout
    while True:
        if has_gone is not None and has_gone.is_set():
            has_gone, deadline = None, min(deadline, time.monotonic() + AFTER_ERROR_SECONDS)
        left = deadline - time.monotonic()
        yield max(0.0, min(left, turn))
        if time.monotonic() >= deadline:
            return
