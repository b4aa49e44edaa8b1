"""The process behind `our_tools`: forks once per call, and says the child's pid and then its exit code.

In the child `calls` returns, and Python ends as it does after any script: standard streams are flushed, what was
registered for the exit is run.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import sys
from typing import Any

import penstock.cli.main
from penstock.cli import tools

MESSAGE_BYTES = 190_000
STANDARD_STREAMS = 3
SET_DEATH_SIGNAL = 1  # of prctl(2)


def calls(asked: socket.socket) -> dict[str, Any]:
    """Serves until the other side has gone; returns in the children only, with what to call."""
    while True:
        message, files, _, _ = socket.recv_fds(asked, MESSAGE_BYTES, STANDARD_STREAMS)
        if not message:
            sys.exit(0)
        if (pid := os.fork()) == 0:
            asked.close()
            _become(files)
            call: dict[str, Any] = json.loads(message)
            return call
        for file in files:
            os.close(file)
        asked.send(str(pid).encode())
        asked.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())


def _become(files: list[int]) -> None:
    """The process that the caller meant: its streams, and an end when the server's comes."""
    ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, signal.SIGKILL)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)


def main() -> int:
    for module in pkgutil.iter_modules(tools.__path__, "penstock.cli.tools."):
        importlib.import_module(module.name)
    gc.collect()
    gc.freeze()
    call = calls(socket.socket(fileno=int(sys.argv[1])))
    os.chdir(call["directory"])
    os.environ.clear()
    os.environ.update(call["environment"])
    module = importlib.import_module(call["module"])
    sys.argv = [module.__file__ or "", *call["arguments"]]
    code: int = module.main()
    return code


if __name__ == "__main__":
    assert penstock.cli.main
    sys.exit(main())
