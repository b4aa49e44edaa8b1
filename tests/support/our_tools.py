"""Our console tools, each call in a process of its own that is forked from one which has imported them.

A call then costs some ten milliseconds instead of the tenth of a second that Python's start and the imports take; all
else is as when a user starts it: arguments, environment, folder, standard streams, exit code. That the installed
commands start is tested beside this, by tests that start them.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from tests.support.processes import dying_with_us
from tools.suite.processes import note_a_process

SERVER = Path(__file__).parent / "forked_tools.py"
MESSAGE_BYTES = 190_000
"""The largest datagram between the two: of the kernel's default 212,992."""


class ForkedTools:
    """One server, for calls in turn; `run` is subprocess.run for a module's `main`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._server = subprocess.Popen(
                dying_with_us([sys.executable, str(SERVER), str(theirs.fileno())]),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )

    def run(
        self,
        module: str,
        arguments: Sequence[str],
        *,
        input: bytes = b"",
        timeout: float = 60.0,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        call = {
            "module": module,
            "arguments": list(arguments),
            "environment": dict(os.environ if env is None else env),
            "directory": str(cwd or Path.cwd()),
        }
        with self._lock, ExitStack() as files:
            given, out, err = (
                files.enter_context(open(os.memfd_create(name), "w+b")) for name in ("in", "out", "err")
            )
            given.write(input)
            given.seek(0)
            code = self._run(call, [given.fileno(), out.fileno(), err.fileno()], timeout)
            said, complained = (
                os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0) for file in (out, err)
            )
        if code is None:
            raise subprocess.TimeoutExpired([module, *arguments], timeout, said, complained)
        return subprocess.CompletedProcess([module, *arguments], code, said, complained)

    def _run(self, call: Mapping[str, object], files: Sequence[int], timeout: float) -> int | None:
        """The exit code; None if it was killed when its time was up."""
        socket.send_fds(self._socket, [json.dumps(call).encode()], files)
        pid = int(self._answer(None))
        try:
            return int(self._answer(timeout))
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            self._answer(None)
            return None

    def _answer(self, timeout: float | None) -> bytes:
        self._socket.settimeout(timeout)
        if not (answer := self._socket.recv(MESSAGE_BYTES)):
            raise EOFError(f"the server of our tools has ended with {self._server.wait(5)}")
        return answer


def our_tools() -> ForkedTools:
    """Of this test worker; it ends with it."""
    note_a_process()
    return _started()


@functools.cache
def _started() -> ForkedTools:
    return ForkedTools()
