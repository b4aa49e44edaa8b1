"""A program of streams without Spark: its packs run one after another in this process, where a profiler sees them.

    python -m bench.streams.in_process windowed_count 200000 [out.prof]

says how many records a pack takes per second of CPU, and where the time goes.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import topics
from bench.servers import PenstockServer
from bench.streams import records
from penstock.pipeline.tasks.application import StreamsApplication
from penstock.pipeline.tasks.pack import run_pack
from penstock.pipeline.tasks.program import ProgramFile
from penstock.pipeline.tick_calls import TickCalls
from tests.support.processes import wait_for

PROGRAMS = Path(__file__).parent / "programs"
OUTPUT = "results"
READY_SECONDS = 60.0
LONGEST_SECONDS = 600.0
LINES = 45


class ThisProcess:
    """Stands for Spark: a tick's packs in one thread, in turn."""

    def __init__(self) -> None:
        self._work: list[Any] = []
        self._calls: TickCalls | None = None
        self.planned = threading.Event()

    def run_ticks(self, _name: str, calls: TickCalls) -> ThisProcess:
        self._calls = calls
        return self

    def wake(self) -> None:
        self.planned.set()

    def stop(self, wait_ms: int = 0) -> None:
        self.planned.set()

    def run_one_tick(self, run: Callable[[Any], Any]) -> None:
        assert self._calls is not None
        self._calls.on_reports(0, [run(work) for work in self._calls.plan(0)])


def program_file(name: str, application_id: str, output: str, folder: Path) -> ProgramFile:
    text = (PROGRAMS / f"{name}.py").read_text()
    path = folder / f"{application_id}.py"
    path.write_text(text.replace("APPLICATION", application_id).replace("OUTPUT", output))
    return ProgramFile.read(path)


def main(name: str, amount: int, profile_to: str | None) -> None:
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        server = PenstockServer(Path(folder) / "broker")
        with server:
            server.start()
            records.create_filled(server, amount)
            topics.create(server, {OUTPUT: records.PARTITIONS})
            run(server, program_file(name, f"{name}-profiled", OUTPUT, Path(folder)), amount, profile_to)


def run(server: PenstockServer, file: ProgramFile, amount: int, profile_to: str | None) -> None:
    engine = ThisProcess()
    configs = {"bootstrap.servers": server.bootstrap, "replication.factor": "1"}
    application = StreamsApplication(file, configs, engine, packs=1)
    application.start()
    assert engine.planned.wait(READY_SECONDS)

    def is_done() -> bool:
        return sum(application.records.values()) >= amount

    def stop_when_done() -> None:
        wait_for(is_done, LONGEST_SECONDS, "all records", 0.01)
        application.stop()

    watching = threading.Thread(target=stop_when_done)
    watching.start()
    profile = cProfile.Profile()

    def run_profiled(work: Any) -> Any:
        started, before = time.perf_counter(), time.thread_time()
        whole = time.process_time()
        report = profile.runcall(run_pack, work) if profile_to else run_pack(work)
        seconds, cpu = time.perf_counter() - started, time.thread_time() - before
        whole = time.process_time() - whole
        print(f"{report.ending.name} {report.error or ''}: {amount} records, {report.commits} commits")
        print(f"{seconds:.2f} s; CPU of the thread {cpu:.2f} s, of the process {whole:.2f} s")
        print(f"{amount / whole:,.0f} records per second of CPU")
        return report

    engine.run_one_tick(run_profiled)
    watching.join()
    if profile_to:
        profile.dump_stats(profile_to)
        pstats.Stats(profile).sort_stats("tottime").print_stats(LINES)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
