"""A service as a process of its own: it serves until SIGTERM or SIGINT."""

import asyncio
import gc
import signal
import sys
from collections.abc import Coroutine
from typing import Any

import uvloop

from penstock.errors import ConfigError

YOUNG_THRESHOLD = 10_000
SWITCH_INTERVAL_SECONDS = 0.0005
"""How long a thread that computes may keep the event loop from running."""


def run_service(command: str, serve: Coroutine[Any, Any, None]) -> int:
    """Runs what `serve` does to its end; the exit code. Settings that cannot be are told in one line."""
    gc.set_threshold(YOUNG_THRESHOLD)
    share_the_interpreter()
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve)
    except ConfigError as error:
        print(f"{command}: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


def share_the_interpreter() -> None:
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)


async def stop_signal() -> None:
    """Until the process is told to stop."""
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await stopped.wait()
