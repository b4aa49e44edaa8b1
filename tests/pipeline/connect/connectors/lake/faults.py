"""What ends a sink in the middle: a step that fails, and a process that is killed."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import dying_with_us

Step = tuple[object, str]
"""A class or a module, and the name of its function."""


class Fuse:
    """Ends the program's luck at the n-th of its steps, before or behind it."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        steps: Iterable[Step],
        error: type[Exception],
        blows_at: int,
        behind: bool,
    ) -> None:
        self.taken = 0
        self._error, self._blows_at, self._behind = error, blows_at, behind
        for owner, name in steps:
            monkeypatch.setattr(owner, name, self._watched(getattr(owner, name)))

    def _watched(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **more: Any) -> Any:
            self.taken += 1
            is_now = self.taken == self._blows_at
            if is_now and not self._behind:
                raise self._error("the disk is gone")
            answer = step(*arguments, **more)
            if is_now:
                raise self._error("the answer is lost")
            return answer

        return watched

    @property
    def has_blown(self) -> bool:
        return self.taken >= self._blows_at


def killed_and_finished(writer: str, place: Path, dice: random.Random) -> int:
    """Has a program write orders, kills it a few times, lets it end, and says how many there are then.

    It is told the place, its first order and its last, and says after each few the position that a worker would commit.
    """
    safe = 0
    for _ in range(4):
        safe = max(safe, _killed_after(writer, place, safe, dice.randint(1, 12)))
    end = safe + 20
    argv = [sys.executable, "-c", writer, str(place), str(safe), str(end)]
    subprocess.run(argv, check=True, timeout=120, stdout=subprocess.DEVNULL)
    return end


def _killed_after(writer: str, place: Path, start: int, lines: int) -> int:
    argv = [sys.executable, "-c", writer, str(place), str(start), "100000"]
    with subprocess.Popen(dying_with_us(argv), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [int(process.stdout.readline()) for _ in range(lines)]
        process.send_signal(signal.SIGKILL)
        assert process.wait(30) == -signal.SIGKILL
    return said[-1]


def refused_then_done(program: str, *arguments: str, refusal: str) -> None:
    """Runs a program that writes 200 orders to a full disk, twice, and then to one that has room."""
    argv = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(argv, check=True, timeout=120, capture_output=True, text=True)
    first, second, safe = done.stdout.splitlines()
    assert refusal in first
    assert "File too large" in first
    assert "File too large" in second
    assert safe == "{('orders', 0): 200}"
