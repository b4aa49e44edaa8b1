"""The signals by which a test steers a driver program."""

from __future__ import annotations

import signal
import time
from typing import Any

from tests.faults.drivers.journal import Journal

LOOK_SECONDS = 0.02


class Switches:
    def __init__(self) -> None:
        self.stopping = False
        self._holding = False
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGUSR1, self._hold)
        signal.signal(signal.SIGUSR2, self._release)

    def _stop(self, *_: Any) -> None:
        self.stopping = True

    def _hold(self, *_: Any) -> None:
        self._holding = True

    def _release(self, *_: Any) -> None:
        self._holding = False

    def wait_while_held(self, journal: Journal) -> None:
        if self._holding:
            journal.note("holding")
        while self._holding and not self.stopping:
            time.sleep(LOOK_SECONDS)
