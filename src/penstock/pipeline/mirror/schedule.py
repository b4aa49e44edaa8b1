"""What a connector does again and again while it lives, one thing at a time, in a thread of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from penstock.errors import PenstockError

log = logging.getLogger("penstock.mirror")


@dataclass(slots=True)
class _Chore:
    what: str
    do: Callable[[], None]
    seconds: float
    next_at: float


class Schedule:
    """A chore that fails is logged, and done again when it is its turn."""

    def __init__(self, name: str) -> None:
        self._chores: list[_Chore] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"mirror-{name}", daemon=True)

    def every(self, seconds: float, what: str, do: Callable[[], None], *, at_once: bool = False) -> None:
        """For the first time at once, or when so many seconds have passed."""
        self._chores.append(_Chore(what, do, seconds, time.monotonic() + (0 if at_once else seconds)))

    def start(self) -> None:
        if self._chores:
            self._thread.start()

    def stop(self, timeout_seconds: float) -> None:
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join(timeout_seconds)

    def _run(self) -> None:
        while not self._stopping.is_set():
            chore = min(self._chores, key=lambda each: each.next_at)
            if self._stopping.wait(max(0.0, chore.next_at - time.monotonic())):
                return
            try:
                chore.do()
            except PenstockError as error:
                log.warning("%s: %s", chore.what, error)
            except Exception:
                log.exception("%s failed", chore.what)
            chore.next_at = time.monotonic() + chore.seconds
