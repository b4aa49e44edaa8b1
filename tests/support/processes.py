"""Ports, waiting and child processes, for tests and benchmarks that talk to real servers.

A free port is picked below the range from which the kernel takes the ports of outgoing connections, so that
no client can grab it between the pick and the bind of the server that it is meant for. Nor can another worker of
pytest-xdist: each has ports of its own.
"""

from __future__ import annotations

import atexit
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from penstock import child_processes

LOWEST_PORT = 10_000
PORT_ATTEMPTS = 1_000
MOST_WORKERS = 16
CPUCLOCK_SCHED = 2
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
LONGEST_PAUSE_SECONDS = 0.1

T = TypeVar("T")
_handed_out: set[int] = set()
_random = random.Random()  # its own seed: a test that seeds the global one must not make workers collide


def _first_ephemeral_port() -> int:
    try:
        return int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except OSError:
        return 32_768


def _is_free(port: int, host: str) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _worker() -> int:
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % MOST_WORKERS


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on and that this process has not been given before."""
    highest = max(_first_ephemeral_port() - 1, LOWEST_PORT + PORT_ATTEMPTS)
    for _ in range(PORT_ATTEMPTS):
        port = _random.randint(LOWEST_PORT, highest) // MOST_WORKERS * MOST_WORKERS + _worker()
        if port not in _handed_out and _is_free(port, host):
            _handed_out.add(port)
            return port
    raise RuntimeError(f"no free port between {LOWEST_PORT} and {highest}")


def wait_for(
    condition: Callable[[], T],
    timeout: float = 30.0,
    what: str | Callable[[], str] = "the condition",
    interval: float = 0.01,
) -> T:
    """Polls until `condition` returns something true, and returns that; TimeoutError names `what`.

    A condition may cost a request or a process: the longer it takes, the more rarely it is tried, and what was waited
    for is seen at most a twentieth later.
    """
    start = time.monotonic()
    while not (result := condition()):
        waited = time.monotonic() - start
        if waited > timeout:
            raise TimeoutError(f"waited {timeout:g} s for {what() if callable(what) else what}")
        time.sleep(max(interval, min(waited / 20, LONGEST_PAUSE_SECONDS)))
    return result


def _stat_fields(pid: int) -> list[str]:
    # The command name, field 2, may hold spaces and parentheses: count from the last closing one.
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def cpu_seconds(pid: int) -> float:
    """User and system time of all threads of the process, its live children not included.

    The process's own CPU clock (as clock_getcpuclockid names it) counts nanoseconds; /proc counts hundredths of a
    second, too coarse for a run of a second.
    """
    return time.clock_gettime((~pid << 3) | CPUCLOCK_SCHED)


def rss_bytes(pid: int) -> int:
    return int(_stat_fields(pid)[21]) * PAGE_SIZE


def dying_with_us(argv: Sequence[str], number: signal.Signals = signal.SIGKILL) -> list[str]:
    """As the product does it, but at once: what a killed test leaves behind has nothing to save."""
    return child_processes.dying_with_us(argv, number)


class Process:
    """A child process whose output goes to a file, ended by its pid at the latest when Python exits."""

    def __init__(
        self,
        argv: Sequence[str | os.PathLike[str]],
        log: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.argv = [os.fspath(argument) for argument in argv]
        self.log = log
        self.started_at = time.monotonic()
        with log.open("ab") as output:
            self._popen = subprocess.Popen(
                dying_with_us(self.argv),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
                cwd=cwd,
                start_new_session=True,  # Ctrl-C reaches us, and we end the child in order
            )
        atexit.register(self.kill)

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def alive(self) -> bool:
        return self._popen.poll() is None

    @property
    def returncode(self) -> int | None:
        return self._popen.poll()

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)

    def rss_bytes(self) -> int:
        return rss_bytes(self.pid)

    def log_text(self) -> str:
        return self.log.read_text(errors="replace")

    def log_tail(self, lines: int = 30) -> str:
        return "\n".join(self.log_text().splitlines()[-lines:])

    def require_alive(self) -> None:
        if not self.alive:
            raise RuntimeError(f"{self.argv[0]} ended with {self.returncode}:\n{self.log_tail()}")

    def wait_until(self, condition: Callable[[], T], timeout: float = 60.0, what: str = "an answer") -> T:
        """As wait_for, but a process that ends meanwhile is reported at once, with the end of its log."""

        def alive_and_condition() -> T:
            self.require_alive()
            return condition()

        return wait_for(alive_and_condition, timeout, lambda: f"{what}; log:\n{self.log_tail()}")

    def signal(self, number: int) -> None:
        if self.alive:
            self._popen.send_signal(number)

    def wait(self, timeout: float = 30.0) -> int:
        return self._popen.wait(timeout)

    def stop(self, timeout: float = 30.0) -> int:
        """SIGTERM, then SIGKILL if it does not end in time."""
        self.signal(signal.SIGTERM)
        try:
            self.wait(timeout)
        except subprocess.TimeoutExpired:
            pass
        return self.kill()

    def kill(self) -> int:
        if self.alive:
            self._popen.kill()
        atexit.unregister(self.kill)
        return self._popen.wait()

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
