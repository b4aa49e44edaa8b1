"""A process that stays for many jobs, each a line of JSON in and one out: what takes long to start starts once.

The other end is `serve_jobs`. The process ends when its input does, so it never outlives who started it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.client import ROOT
from tests.support.processes import dying_with_us

JOB_SECONDS = 900.0
END_SECONDS = 60.0

Job = dict[str, Any]


class JobProcess:
    def __init__(self, module: str, arguments: Job, log: Path) -> None:
        self._log = log
        with log.open("ab") as output:
            self._popen = subprocess.Popen(
                dying_with_us([sys.executable, "-m", module, json.dumps(arguments)]),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                cwd=ROOT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._popen.pid

    def run(self, **job: Any) -> Job:
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._popen.stdin.write(json.dumps(job).encode() + b"\n")
        self._popen.stdin.flush()
        timer = threading.Timer(JOB_SECONDS, self._popen.kill)
        timer.start()
        try:
            line = self._popen.stdout.readline()
        finally:
            timer.cancel()
        if not line:
            raise RuntimeError(f"no answer to {job}; log:\n{self._log.read_text()[-2000:]}")
        answer: Job = json.loads(line)
        return answer

    def close(self) -> None:
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        try:
            self._popen.stdin.close()
            self._popen.wait(END_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            self._popen.kill()
            self._popen.wait()
        self._popen.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def serve_jobs(run: Callable[[Job], Job]) -> None:
    """Until there are no more; whatever else is printed meanwhile goes to the log."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), file=answers, flush=True)
