"""Processes that are started by this one, and are to end with it."""

import os
import shutil
import subprocess
import threading
from collections.abc import Sequence
from signal import SIGTERM, Signals


def dying_with_us(command: Sequence[str], number: Signals = SIGTERM) -> list[str]:
    """The same command, which the kernel ends with `number` when this process ends, even if that is killed.

    The kernel watches the thread that starts it, not the process: a command that another thread than the first starts
    is left as it is.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None or threading.get_native_id() != os.getpid():
        return list(command)
    return [setpriv, "--pdeathsig", number.name.removeprefix("SIG"), "--", *command]


def end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """With SIGTERM, and after so long with SIGKILL."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
