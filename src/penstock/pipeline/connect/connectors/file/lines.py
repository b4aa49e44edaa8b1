"""A file's bytes to lines of text, many at a time, and where each line ends in the file.

Most of what is read has line feeds only: it is decoded and split as a whole. That gives what decoding line by line
would, also of bytes that are no UTF-8: a line feed is never part of what U+FFFD stands for. Carriage returns end lines,
too, with a line feed behind them or without, so where there is any the lines are cut one by one.

Where lines end is worked out when somebody asks: the way of lines to Kafka needs it once for each poll.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import BinaryIO, Final

READ_BYTES: Final = 1024 * 1024


class Lines:
    """The lines of a piece of a file, which begins at `position` and ends with a line."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data, self._position = data, position
        self._has_returns = b"\r" in data
        self.texts = self._texts()

    def _texts(self) -> list[str]:
        if self._has_returns:
            lines = self._data.splitlines()
            return [line.decode("utf-8", "replace") for line in lines]
        texts = self._data.decode("utf-8", "replace").split("\n")
        texts.pop()  # what is behind the last line
        return texts

    def end(self, index: int) -> int:
        """The position behind a line."""
        feeds = 0 if self._has_returns else index + 1
        return self._position + self._sizes[index] + feeds

    @cached_property
    def _sizes(self) -> Sequence[int]:
        """The bytes up to each line's end; without line feeds, where nothing else ends lines."""
        lines: Sequence[str | bytes]
        if self._has_returns:
            lines = self._data.splitlines(keepends=True)
        else:
            lines = self.texts if self._data.isascii() else self._data.split(b"\n")
        return list(accumulate(map(len, lines)))


class LineReader:
    """Reads whole lines; what has no end yet waits for it, up to `longest` bytes."""

    def __init__(self, file: BinaryIO, position: int, longest: int) -> None:
        self._file, self._position, self._longest = file, position, longest
        self._open = b""
        file.seek(position)

    def read(self) -> Lines | None:
        """The lines that follow; None if none has ended yet."""
        data = self._open + self._file.read(READ_BYTES)
        size = _whole_lines_size(data)
        if len(data) - size > self._longest:
            raise ValueError(f"a line is longer than {self._longest} bytes")
        self._open = data[size:]
        if not size:
            return None
        lines = Lines(data[:size], self._position)
        self._position += size
        return lines

    def close(self) -> None:
        self._file.close()


def _whole_lines_size(data: bytes) -> int:
    """A line feed may still follow a carriage return that ends what is there: that is no end yet."""
    return max(data.rfind(b"\n"), data.rfind(b"\r", 0, -1)) + 1
