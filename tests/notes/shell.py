"""A person's terminals: a project folder with `config/`, the commands on PATH, a machine whose ports are free."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from tests.support.namespaces import Namespace, network_namespace
from tests.support.processes import wait_for

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 60
LOG_DIR, ZOOKEEPER_DIR = Path("/tmp/kafka-logs"), Path("/tmp/zookeeper")


def install_scripts(directory: Path) -> Path:
    """The console scripts that pip makes from pyproject.toml."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    directory.mkdir(parents=True)
    for name, target in scripts.items():
        module, _, function = target.partition(":")
        script = directory / name
        script.write_text(
            f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n"
        )
        script.chmod(0o755)
    return directory


class Running:
    """A command that runs; what it says is collected as it comes."""

    def __init__(self, words: list[str], directory: Path, environment: dict[str, str]) -> None:
        self._popen = subprocess.Popen(
            words,
            cwd=directory,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.lines: list[str] = []
        self.errors: list[str] = []
        self._readers = [
            threading.Thread(target=self._read, args=pair, daemon=True)
            for pair in ((self._popen.stdout, self.lines), (self._popen.stderr, self.errors))
        ]
        for reader in self._readers:
            reader.start()

    @staticmethod
    def _read(pipe: object, lines: list[str]) -> None:
        lines.extend(line.rstrip("\n") for line in iter(pipe.readline, ""))  # type: ignore[attr-defined]

    @property
    def pid(self) -> int:
        return self._popen.pid

    def said(self) -> str:
        return "\n".join([*self.lines, *self.errors])

    def wait_for_lines(self, count: int, but: str) -> list[str]:
        """So many lines that do not begin with `but`."""

        def lines() -> list[str]:
            return [line for line in self.lines if not line.startswith(but)]

        def enough() -> bool:
            assert self._popen.poll() is None or len(lines()) >= count, self.said()
            return len(lines()) >= count

        wait_for(enough, PATIENCE_SECONDS, lambda: f"{count} lines; so far:\n{self.said()}")
        return lines()

    def wait_for_text(self, text: str) -> None:
        def there() -> bool:
            assert self._popen.poll() is None or text in self.said(), self.said()
            return text in self.said()

        wait_for(there, PATIENCE_SECONDS, lambda: f"{text!r}; so far:\n{self.said()}")

    def finish(self, typed: str | None = None) -> int:
        """Types the text and the end of input, and waits for the end."""
        assert self._popen.stdin is not None
        if typed is not None:
            self._popen.stdin.write(typed)
        self._popen.stdin.close()
        return self.wait()

    def wait(self) -> int:
        code = self._popen.wait(PATIENCE_SECONDS)
        for reader in self._readers:
            reader.join(PATIENCE_SECONDS)
        return code

    def interrupt(self) -> int:
        """Ctrl-C."""
        self._popen.send_signal(signal.SIGINT)
        return self.wait()

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._popen.poll() is None:
            self._popen.kill()
            self._popen.wait()
        assert self._popen.stdin is not None
        try:
            self._popen.stdin.close()
        except BrokenPipeError:
            pass
        for reader, pipe in zip(self._readers, (self._popen.stdout, self._popen.stderr), strict=True):
            reader.join(PATIENCE_SECONDS)
            assert pipe is not None
            pipe.close()


class Machine:
    def __init__(self, namespace: Namespace, project: Path, scripts: Path) -> None:
        self._namespace = namespace
        self.project = project
        self.two_below = project / "bin" / "windows"
        path = (str(scripts), str(Path(sys.executable).parent), os.environ["PATH"])
        self._environment = {**os.environ, "PATH": os.pathsep.join(path), "HOME": str(project)}

    def run(self, command: str) -> Running:
        """Runs a line as a shell would, two folders below the project."""
        words = self._namespace.command(self.two_below, *shlex.split(command))
        return Running(words, self.two_below, self._environment)

    def run_to_end(self, command: str, typed: str | None = None) -> tuple[int, list[str], list[str]]:
        with self.run(command) as running:
            return running.finish(typed), running.lines, running.errors


@contextmanager
def machine(directory: Path) -> Iterator[Machine]:
    """A project with a copy of `config/`, and /tmp/kafka-logs and /tmp/zookeeper that nobody else has."""
    project = directory / "project"
    shutil.copytree(ROOT / "config", project / "config")
    own = {LOG_DIR: directory / "kafka-logs", ZOOKEEPER_DIR: directory / "zookeeper"}
    for path in (project / "bin" / "windows", *own.values()):
        path.mkdir(parents=True)
    scripts = install_scripts(directory / "scripts")
    with network_namespace(own) as namespace:
        yield Machine(namespace, project, scripts)
