"""Waiting for something that happens in another process."""

import time
from collections.abc import Callable
from typing import TypeVar

LONGEST_PAUSE_SECONDS = 0.1

T = TypeVar("T")


def wait_for(
    condition: Callable[[], T],
    timeout: float = 30.0,
    what: str | Callable[[], str] = "the condition",
    interval: float = 0.01,
) -> T:
    """Polls until `condition` returns something true, and returns that; TimeoutError names `what`.

    A condition may cost a request or a process: the longer it takes, the more rarely it is tried, and what was waited
    for is seen at most a twentieth later.
    """
    start = time.monotonic()
    while not (result := condition()):
        waited = time.monotonic() - start
        if waited > timeout:
            raise TimeoutError(f"waited {timeout:g} s for {what() if callable(what) else what}")
        time.sleep(max(interval, min(waited / 20, LONGEST_PAUSE_SECONDS)))
    return result
