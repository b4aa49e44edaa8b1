"""A server in a process of its own, whose output goes to a file; ended by its pid at the latest when Python exits."""

import atexit
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from penstock import child_processes
from penstock.testing.waiting import wait_for

T = TypeVar("T")


def dying_with_us(argv: Sequence[str], number: signal.Signals = signal.SIGKILL) -> list[str]:
    """As the product does it, but at once: what a killed test leaves behind has nothing to save."""
    return child_processes.dying_with_us(argv, number)


class ServerProcess:
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
