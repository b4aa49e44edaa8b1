"""Ctrl-C and SIGTERM as a wish to stop: the tool ends in its own time, with its last line and Java's exit code.

Most tools look at `received` between two pieces of work. One that waits for input, which no signal ends, waits inside
`interruptible()`, out of which a signal raises `StopRequested`. A second signal ends the tool where it is.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self


class StopRequested(Exception):
    """A signal came while the tool waited."""


class StopSignals:
    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.received: int | None = None
        self._interrupts = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._receive) for number in self.SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            os._exit(128 + number)  # asked twice: what it waits for does not come
        self.received = number
        if self._interrupts:
            raise StopRequested

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        self._interrupts = True
        try:
            if self.received is not None:
                raise StopRequested
            yield
        finally:
            self._interrupts = False

    @property
    def exit_code(self) -> int:
        return 0 if self.received is None else 128 + self.received
