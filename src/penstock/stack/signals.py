"""Signals as something to wait for, in a process without an event loop."""

import select
import signal
import socket
from types import FrameType

from penstock.stack.restart_requests import WAKES

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class SignalInbox:
    """From `open` on, a signal interrupts `wait` and nothing else. One per process."""

    def __init__(self) -> None:
        self.stops = 0
        self._receiver, self._sender = socket.socketpair()

    def open(self) -> None:
        for end in (self._receiver, self._sender):
            end.setblocking(False)
        signal.set_wakeup_fd(self._sender.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, WAKES):
            signal.signal(number, lambda number, frame: None)
        for number in STOP_SIGNALS:
            signal.signal(number, self._on_stop)

    def _on_stop(self, number: int, frame: FrameType | None) -> None:
        self.stops += 1

    def wait(self, timeout_s: float | None) -> None:
        """Until a signal comes or the time is up; a signal since the last wait counts."""
        select.select([self._receiver], [], [], timeout_s)
        try:
            while self._receiver.recv(4096):
                pass
        except BlockingIOError:
            pass
