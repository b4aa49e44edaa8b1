"""What tests have run on executors: functions that a Python worker imports by name."""

import os
import signal
import time
from pathlib import Path


def double(number: int) -> tuple[int, int]:
    return 2 * number, os.getpid()


def die_once(marker: str) -> str:
    """The first call ends the Python worker that it runs in."""
    path = Path(marker)
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "survived"


def refuse(reason: str) -> None:
    raise ValueError(reason)


def wait_for_nothing(marker: str) -> None:
    Path(marker).touch()
    time.sleep(600)
