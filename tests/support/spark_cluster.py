"""A Spark cluster of one master and two workers, started by our commands."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from types import TracebackType

from tests.support.processes import Process, free_port
from tests.support.spark import QUICK_JAVA
from tests.support.spark_processes import executors_below, is_executor, java_below, kill

SCRIPTS = Path(sys.executable).parent
PATIENCE_SECONDS = 180.0
WORKERS = ("one", "two")


class SparkCluster:
    """The workers' folders have their names."""

    def __init__(self, folder: Path, *, cores: int = 4, memory: str = "1g") -> None:
        self._folder = folder
        self._port = free_port()
        self._offer = ["--cores", str(cores), "--memory", memory]
        self.address = f"spark://127.0.0.1:{self._port}"
        self.workers: dict[str, Process] = {}
        self._master: Process | None = None
        self._left_behind: list[int] = []

    def start(self) -> None:
        self._master = self._launched("master", ["master", "--port", str(self._port)])
        said = f"master at {self.address}"
        self._wait_for_words(self._master, said, 1)
        for name in WORKERS:
            self.workers[name] = self._launched_worker(name)
        for worker in self.workers.values():
            self._wait_for_words(worker, self._said_by_a_worker, 1)

    def executors(self) -> list[int]:
        return [pid for worker in self.workers.values() for pid in executors_below(worker.pid)]

    def kill_worker(self, name: str) -> None:
        """Spark's own process; our command ends with it, and so do its executors. One that was just starting does not
        notice, and serves the driver as long as that lives."""
        command = self.workers[name]
        self._left_behind += executors_below(command.pid)
        for java in java_below(command.pid):
            kill(java)
        assert command.wait(PATIENCE_SECONDS) == 1, command.log_tail()

    def start_worker(self, name: str) -> None:
        """Once more."""
        before = self.workers[name].log_text().count(self._said_by_a_worker)
        self.workers[name] = self._launched_worker(name)
        self._wait_for_words(self.workers[name], self._said_by_a_worker, before + 1)

    @property
    def _said_by_a_worker(self) -> str:
        return f"for {self.address}"

    def _launched_worker(self, name: str) -> Process:
        return self._launched(name, ["worker", self.address, *self._offer])

    def _launched(self, name: str, words: list[str]) -> Process:
        command = [SCRIPTS / "penstock", "spark", *words, "--data-dir", self._folder / name]
        return Process(command, self._folder / f"{name}.log", QUICK_JAVA)

    @staticmethod
    def _wait_for_words(process: Process, words: str, times: int) -> None:
        """Its log is that of those before it, too."""
        process.wait_until(lambda: process.log_text().count(words) >= times, PATIENCE_SECONDS, words)

    def stop(self) -> None:
        processes = [each for each in (*self.workers.values(), self._master) if each is not None]
        for process in processes:
            process.signal(signal.SIGTERM)
        for process in processes:
            process.stop()
        for pid in filter(is_executor, self._left_behind):
            kill(pid)

    def __enter__(self) -> SparkCluster:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
