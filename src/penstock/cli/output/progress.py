"""A progress bar on stderr, for people: where stderr is no terminal, nothing is drawn and nothing is paid.

    from penstock.cli.output.progress import Progress

    with Progress("reading segments", total=size_in_bytes, unit="B") as bar:
        for batch in batches:
            ...
            bar.advance(batch.size)      # or bar.reach(position); bar.total may change on the way

`total=None` counts without an end. The line is redrawn at most ten times a second and removed at the end, so that
stdout and what is printed afterwards look as if it had never been there.
"""

import os
import shutil
import sys
import time
from types import TracebackType
from typing import Self, TextIO

REDRAW_SECONDS = 0.1
BAR_WIDTH = 24
_CLEAR_LINE = "\r\x1b[K"
_SCALES = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))


class Progress:
    def __init__(
        self, what: str, total: float | None = None, unit: str = "", stream: TextIO | None = None
    ) -> None:
        self.what = what
        self.total = total
        self.unit = unit
        self.done = 0.0
        self._stream = sys.stderr if stream is None else stream
        self._shown = is_for_people(self._stream)
        self._started = self._drawn = time.monotonic()

    def advance(self, count: float = 1) -> None:
        self.reach(self.done + count)

    def reach(self, done: float) -> None:
        self.done = done
        if self._shown and time.monotonic() - self._drawn >= REDRAW_SECONDS:
            self._draw()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        columns = shutil.get_terminal_size().columns
        line = progress_line(self.what, self.done, self.total, self.unit, self._drawn - self._started)
        self._stream.write(_CLEAR_LINE + line[: columns - 1])
        self._stream.flush()

    def clear(self) -> None:
        """Makes room for a line of output; the bar is back with the next step."""
        if self._shown:
            self._stream.write(_CLEAR_LINE)
            self._stream.flush()

    def close(self) -> None:
        self.clear()
        self._shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def is_for_people(stream: TextIO) -> bool:
    """Whether somebody watches: a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def progress_line(what: str, done: float, total: float | None, unit: str, seconds: float) -> str:
    rate = done / seconds if seconds > 0 else 0.0
    speed = f"{scaled(rate, unit)}/s"
    if not total:
        return f"{what}  {scaled(done, unit)}  {speed}"
    share = min(done / total, 1.0)
    filled = int(share * BAR_WIDTH)
    bar = "#" * filled + "-" * (BAR_WIDTH - filled)
    left = f"  {duration_text((total - done) / rate)} left" if rate > 0 and share < 1 else ""
    return f"{what}  [{bar}] {share:4.0%}  {scaled(done, unit)} of {scaled(total, unit)}  {speed}{left}"


def scaled(amount: float, unit: str = "") -> str:
    """12345678, "B" -> "12.3 MB"; 12345, "records" -> "12.3 k records"."""
    word = f" {unit}" if len(unit) > 1 else unit
    for letter, size in _SCALES:
        if abs(amount) >= size:
            return f"{amount / size:.1f} {letter}{word}"
    return f"{amount:.0f} {unit}".rstrip()


def duration_text(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02}m"
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
