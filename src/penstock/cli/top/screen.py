"""A screen that is drawn again and again, on a terminal that is left as it was found."""

from __future__ import annotations

import os
import select
import shutil
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from penstock.wire_client.errors import KafkaError

ENTER = "\x1b[?1049h\x1b[?25l"
LEAVE = "\x1b[?25h\x1b[?1049l"
HOME = "\x1b[H"
CLEAR_REST_OF_LINE = "\x1b[K"
CLEAR_BELOW = "\x1b[J"
RESET = "\x1b[0m"
QUIT_KEYS = {"q", "Q"}


def show_until_q(look: Callable[[], list[str]], interval_seconds: float) -> None:
    with _screen():
        while True:
            _draw(_looked(look))
            if _quits_within(interval_seconds):
                return


def _looked(look: Callable[[], list[str]]) -> list[str]:
    """A broker that is away for a while is no reason to end."""
    try:
        return look()
    except KafkaError as error:
        return [str(error)]


@contextmanager
def _screen() -> Iterator[None]:
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    sys.stdout.write(ENTER)
    try:
        yield
    finally:
        sys.stdout.write(LEAVE)
        sys.stdout.flush()
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _draw(lines: list[str]) -> None:
    columns, rows = shutil.get_terminal_size()
    shown = [cut(line, columns) + CLEAR_REST_OF_LINE for line in lines[: rows - 1]]
    sys.stdout.write(HOME + "\r\n".join(shown) + "\r\n" + CLEAR_BELOW)
    sys.stdout.flush()


def cut(line: str, columns: int) -> str:
    """As much as fits; colours take no room."""
    shown, width, position = "", 0, 0
    while position < len(line) and width < columns:
        if line[position] == "\x1b":
            end = line.index("m", position) + 1
            shown += line[position:end]
            position = end
        else:
            shown += line[position]
            width += 1
            position += 1
    return shown + (RESET if "\x1b" in shown else "")


def _quits_within(seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([sys.stdin], [], [], left)
        if ready:
            typed = os.read(sys.stdin.fileno(), 100).decode(errors="replace")
            if not typed or QUIT_KEYS & set(typed):
                return True
    return False
