"""Processes by identity: a pid alone may have been given to another process since."""

import os
import select
import signal
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """`start_time` is in clock ticks since boot, as the kernel counts it."""

    pid: int
    start_time: int

    def is_alive(self) -> bool:
        return _start_time_of(self.pid) == self.start_time

    def send(self, number: signal.Signals) -> bool:
        """Sends a signal, to this process or to none. False if it is gone."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return False
        try:
            if not self.is_alive():
                return False
            signal.pidfd_send_signal(descriptor, number)
        except ProcessLookupError:
            return False
        finally:
            os.close(descriptor)
        return True

    def wait_until_gone(self, timeout_s: float) -> bool:
        """False if it still runs after `timeout_s`."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return True
        try:
            if self.is_alive():
                select.select([descriptor], [], [], timeout_s)
        finally:
            os.close(descriptor)
        return not self.is_alive()


def identify(pid: int) -> ProcessIdentity | None:
    """None if there is no such process, or it has ended."""
    start_time = _start_time_of(pid)
    return None if start_time is None else ProcessIdentity(pid, start_time)


def _start_time_of(pid: int) -> int | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else int(fields[18])


def command_of(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return "unknown command"
    return " ".join(word.decode(errors="replace") for word in words if word) or "unknown command"
