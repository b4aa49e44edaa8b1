"""Runs ticks as the Spark engine does, in threads of the test's process: `run_ticks` has the engine's protocol.

Each piece of work goes through pickle, as it would on its way to an executor.
"""

from __future__ import annotations

import pickle
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from penstock.pipeline.tick_calls import TickCalls

MAX_TASKS_AT_ONCE = 32
IDLE_TICK_MS = 50


class TickQuery:
    """`state` is STARTING, RUNNING, FAILED or STOPPED; a failure of planning or of a report ends the query."""

    def __init__(self, name: str, calls: TickCalls) -> None:
        self.name = name
        self.state = "STARTING"
        self.failure: str | None = None
        self._calls = calls
        self._ticks = 0
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._run_all, name=f"ticks-{name}", daemon=True)
        self._thread.start()

    def progress(self) -> dict[str, Any]:
        return {"name": self.name, "batchId": self._ticks - 1}

    def went_well(self) -> None:
        pass

    def wake(self) -> None:
        """Ends the wait after a plan of nothing."""
        self._woken.set()

    def stop(self, wait_ms: int = 10_000) -> None:
        """No tick comes after the running one, which has `wait_ms` to end."""
        self._stopping.set()
        self._woken.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(wait_ms / 1000)
        if self.state != "FAILED":
            self.state = "STOPPED"

    def _run_all(self) -> None:
        self.state = "RUNNING"
        try:
            with ThreadPoolExecutor(MAX_TASKS_AT_ONCE, thread_name_prefix=self.name) as pool:
                while not self._stopping.is_set():
                    self._run_tick(pool)
        except Exception:
            self.state, self.failure = "FAILED", traceback.format_exc()
            self._calls.on_failure(self.failure)

    def _run_tick(self, pool: ThreadPoolExecutor) -> None:
        tick, self._ticks = self._ticks, self._ticks + 1
        works = [pickle.loads(pickle.dumps(work)) for work in self._calls.plan(tick)]
        if not works:
            self._woken.wait(IDLE_TICK_MS / 1000)
            self._woken.clear()
        reports = list(pool.map(self._calls.run, works))
        self._calls.on_reports(tick, [pickle.loads(pickle.dumps(report)) for report in reports])


class TickRunner:
    """Stop it when the test is over: `with TickRunner() as runner`."""

    def __init__(self) -> None:
        self._queries: list[TickQuery] = []
        self.is_prepared = False

    def prepare(self) -> None:
        self.is_prepared = True

    def run_ticks(self, name: str, calls: TickCalls) -> TickQuery:
        self._queries.append(TickQuery(name, calls))
        return self._queries[-1]

    def stop(self, wait_ms: int = 30_000) -> None:
        for query in self._queries:
            query.stop(wait_ms)

    def __enter__(self) -> TickRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
