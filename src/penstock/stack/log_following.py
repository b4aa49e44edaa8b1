"""Log files read from their end, and on as they grow; one that is set aside or cut short is begun anew."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

PIECE_BYTES = 64 * 1024
LOOK_EVERY_SECONDS = 0.1


class LogFile:
    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._path = path
        self._file: BinaryIO | None = None
        self._begun = b""
        """Of a line whose end has not been written yet."""

    def last_lines(self, count: int) -> list[str]:
        """The last complete lines; `new_lines` goes on behind them."""
        self._open()
        if self._file is None:
            return []
        position, found = self._file.seek(0, os.SEEK_END), b""
        end = position
        while position and found.count(b"\n") <= count:
            step = min(PIECE_BYTES, position)
            position -= step
            self._file.seek(position)
            found = self._file.read(step) + found
        self._file.seek(end)
        *lines, self._begun = found.split(b"\n")
        return [_text(line) for line in lines[max(0, len(lines) - count) :]]

    def new_lines(self) -> list[str]:
        """What has come since the last time."""
        found = self._read()
        if self._was_replaced():
            self._open()
            found += self._read()
        *lines, self._begun = (self._begun + found).split(b"\n")
        return [_text(line) for line in lines]

    def _open(self) -> None:
        self.close()
        try:
            self._file = self._path.open("rb")
        except FileNotFoundError:
            self._file = None

    def _read(self) -> bytes:
        return b"" if self._file is None else self._file.read()

    def _was_replaced(self) -> bool:
        try:
            now = self._path.stat()
        except FileNotFoundError:
            return False
        if self._file is None:
            return True
        ours = os.fstat(self._file.fileno())
        return (now.st_dev, now.st_ino) != (ours.st_dev, ours.st_ino) or now.st_size < self._file.tell()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def follow(logs: Sequence[LogFile], show: Callable[[str, Sequence[str]], None]) -> None:
    """For good."""
    while True:
        for log in logs:
            show(log.name, log.new_lines())
        time.sleep(LOOK_EVERY_SECONDS)


def _text(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\r")
