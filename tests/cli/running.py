"""The `penstock` command as users run it: in a process of its own, in a pipe or on a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.our_tools import our_tools

PENSTOCK = [sys.executable, "-m", "penstock.cli.main"]
PATIENCE_S = 60.0
ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[a-zA-Z]|[()][A-Z0-9]|[=>]|\][^\x07]*\x07)")


class Cli:
    """Runs commands against one broker."""

    def __init__(self, bootstrap_servers: str, directory: Path) -> None:
        self.bootstrap_servers = bootstrap_servers
        self.directory = directory

    def environment(self, **more: str) -> dict[str, str]:
        names = {"PENSTOCK_BOOTSTRAP_SERVERS": self.bootstrap_servers, "TERM": "xterm-256color", **more}
        return {**{name: value for name, value in os.environ.items() if name != "NO_COLOR"}, **names}

    def run(self, *words: str, stdin: str | bytes | None = None) -> subprocess.CompletedProcess[str]:
        given = stdin.encode() if isinstance(stdin, str) else stdin or b""
        done = our_tools().run(
            "penstock.cli.main",
            words,
            input=given,
            timeout=PATIENCE_S,
            env=self.environment(),
            cwd=self.directory,
        )
        text = subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode()
        )
        assert "Traceback" not in text.stderr, text.stderr
        return text

    def output(self, *words: str, stdin: str | bytes | None = None) -> str:
        """What a command that succeeds prints."""
        done = self.run(*words, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *words: str) -> Any:
        return json.loads(self.output(*words, "--output", "json"))

    def refused(self, *words: str) -> str:
        """The one line that a command says that fails."""
        done = self.run(*words)
        assert done.returncode != 0
        assert done.stderr.count("\n") == 1, done.stderr
        return done.stderr.rstrip("\n")

    def on_terminal(self, *words: str, **environment: str) -> str:
        with Terminal([*PENSTOCK, *words], self.environment(**environment), self.directory) as terminal:
            return terminal.read_to_end()


WITH_CONTROLLING_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """A process on a terminal of its own; Ctrl-C and job control work there."""

    def __init__(self, argv: list[str], environment: Mapping[str, str], directory: Path) -> None:
        self._ours, theirs = pty.openpty()
        os.set_blocking(self._ours, False)
        self.process = subprocess.Popen(
            [sys.executable, "-c", WITH_CONTROLLING_TERMINAL, *argv],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            cwd=directory,
            start_new_session=True,
        )
        os.close(theirs)
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def read_until(self, text: str, timeout: float = PATIENCE_S) -> str:
        """What has come since the last time, with the text among it, without escape sequences."""
        deadline = time.monotonic() + timeout
        while text not in without_escapes(self.seen):
            assert time.monotonic() < deadline, f"no {text!r} in {self.seen!r}"
            if not self._read():
                raise AssertionError(f"ended without {text!r}: {self.seen!r}")
        found, self.seen = self.seen, ""
        return without_escapes(found)

    def read_to_end(self) -> str:
        deadline = time.monotonic() + PATIENCE_S
        while self._read():
            assert time.monotonic() < deadline, f"no end after {self.seen!r}"
        self.process.wait(PATIENCE_S)
        return self.seen.replace("\r\n", "\n")

    def _read(self) -> bool:
        """False at the end."""
        ready, _, _ = select.select([self._ours], [], [], 0.1)
        if not ready:
            return self.process.poll() is None
        try:
            data = os.read(self._ours, 65536)
        except OSError:
            return False
        self.seen += data.decode(errors="replace")
        return bool(data)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._ours)


def without_escapes(text: str) -> str:
    return ESCAPES.sub("", text)
