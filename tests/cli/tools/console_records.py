"""What the tests of the console tools share: records to look at, and what the tools log."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType

from tests.cli.tools.masks import mask
from tests.foreign_clients.drivers.model import Record
from tests.foreign_clients.samples import BASE_TIMESTAMP
from tests.support.java_tools import ToolRun

# Kafka's tools log apart in these tests, ours on standard error.
LOG = mask(
    r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] (?:WARN .*\n|ERROR .*\n(?:(?:[a-z]\w*\.)+[A-Z]\w*(?::.*)?\n)?)",
    "",
)
HEADERS = (("trace", b"1"), ("trace", b"2"), ("empty", b""), ("absent", None), ("名前", "wörth".encode()))
RECORDS = [
    Record(b"plain", b"key", (), BASE_TIMESTAMP),
    Record("grüße ✓".encode(), None, (), BASE_TIMESTAMP + 5),
    Record(None, b"tombstone", (), BASE_TIMESTAMP + 3),
    Record(b"", b"", (), BASE_TIMESTAMP + 4),
    Record(b"with headers", b"headers", HEADERS, BASE_TIMESTAMP + 6),
]


def properties(option: str, *pairs: str) -> list[str]:
    return [part for pair in pairs for part in (option, pair)]


class RunningTool:
    """One of our tools as a process that a test talks to while it runs."""

    def __init__(self, name: str, *arguments: str) -> None:
        module = f"penstock.cli.tools.{name.replace('-', '_')}"
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> RunningTool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None and not pipe.closed:
                pipe.close()

    def type(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text.encode())
        self._process.stdin.flush()

    def read_line(self, seconds: float = 30.0) -> str:
        assert self._process.stdout is not None
        watchdog = threading.Timer(seconds, self._process.kill)
        watchdog.start()
        try:
            return self._process.stdout.readline().decode()
        finally:
            watchdog.cancel()

    def stop_reading(self) -> None:
        assert self._process.stdout is not None
        self._process.stdout.close()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def end(self, seconds: float = 30.0) -> ToolRun:
        if self._process.stdout is not None and self._process.stdout.closed:
            err = self._process.stderr.read() if self._process.stderr is not None else b""
            self._process.wait(seconds)
            return ToolRun(self._process.returncode, "", err.decode())
        out, err = self._process.communicate(timeout=seconds)
        return ToolRun(self._process.returncode, out.decode(), err.decode())


def write_properties(directory: Path, **configs: str) -> str:
    """A properties file of settings whose names have underscores for dots."""
    file = directory / f"{os.urandom(4).hex()}.properties"
    file.write_text("".join(f"{name.replace('_', '.')}={value}\n" for name, value in configs.items()))
    return str(file)
