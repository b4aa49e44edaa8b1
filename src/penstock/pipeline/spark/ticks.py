"""A query made of ticks.

Its source is Spark's cheapest, `rate-micro-batch`, of which nothing is read. Each of its batches calls us back in
this process, in the thread that the query has in the driver: what we run from there belongs to the query's job
group, so that stopping the query cancels it, and to its pool, so that queries share slots fairly.

What a tick did is known to those who planned it. The checkpoint only counts, so it lies on this machine whatever
the others do, and one that can't be read is thrown away.

The callback never raises: a job that failed is told to the planner, who plans anew after a while. (An exception
with a long Java trace would overflow the stack of the regular expression with which Spark looks for the reason.)
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from penstock.pipeline.spark.kept_query import Drivers, KeptQuery
from penstock.pipeline.spark.reasons import reason_of
from penstock.pipeline.spark.session import OF_TICKS

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipeline.spark.session import Driver
    from penstock.pipeline.spark.settings import EngineSettings
    from penstock.pipeline.tick_calls import TickCalls

logger = logging.getLogger(__name__)

Run = Callable[[Any], Any]


class TickQuery(KeptQuery):
    def __init__(self, name: str, drivers: Drivers, settings: EngineSettings, calls: TickCalls) -> None:
        super().__init__(name, drivers, settings)
        self._calls = calls
        self._no_tick_runs = Event()
        self._no_tick_runs.set()
        self._began_in_this_attempt = False
        self._ticks = 0
        self._failed_ticks = 0
        self._last_tick_ms = 0
        self._last_tasks = 0
        self._said_that_slots_lack = False

    def progress(self) -> dict[str, Any]:
        return {
            **super().progress(),
            "ticks": self._ticks,
            "failed_ticks": self._failed_ticks,
            "last_tick_ms": self._last_tick_ms,
            "last_tasks": self._last_tasks,
        }

    def _start_query(self, driver: Driver) -> StreamingQuery:
        session = driver.session.newSession()
        for name, value in OF_TICKS.items():
            session.conf.set(name, value)
        self._context = session.sparkContext
        self._context.setLocalProperty("spark.scheduler.pool", self.name)
        self._began_in_this_attempt = False
        source = session.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
        writer = source.writeStream.queryName(self.name).foreachBatch(self._on_batch)
        return writer.option("checkpointLocation", f"file://{self._checkpoint()}").start()

    def _checkpoint(self) -> Path:
        return self._settings.spark_dir / "ticks" / quote(self.name, safe="").replace(".", "%2E")

    def _on_attempt_failed(self, reason: str) -> None:
        if not self._began_in_this_attempt:
            shutil.rmtree(self._checkpoint(), ignore_errors=True)
        self._calls.on_failure(reason)

    def _finish(self, wait_s: float) -> None:
        self._no_tick_runs.wait(wait_s)

    def _on_batch(self, _: DataFrame, tick: int) -> None:
        self._began_in_this_attempt = True
        try:
            works = self._planned(tick)
            if works:
                self._run_tick(tick, works)
                self._on_success()
        except Exception as error:
            self._on_tick_failed(reason_of(error))
        finally:
            self._no_tick_runs.set()

    def _planned(self, tick: int) -> list[Any]:
        """Waits for a plan with something in it; returns an empty one only to stop."""
        while not self._stopping.is_set():
            self._wake.clear()
            works = self._calls.plan(tick)
            if works:
                self._no_tick_runs.clear()
                return [] if self._stopping.is_set() else works
            self._on_success()
            if not self._stopping.is_set():
                self._wake.wait(self._settings.idle_wait_ms / 1000)
        return []

    def _run_tick(self, tick: int, works: list[Any]) -> None:
        began = monotonic()
        self._say_if_slots_lack(len(works))
        reports = run_on_executors(self._context, self._calls.run, works)
        self._calls.on_reports(tick, reports)
        self._ticks += 1
        self._last_tasks = len(works)
        self._last_tick_ms = round(1000 * (monotonic() - began))

    def _on_tick_failed(self, reason: str) -> None:
        if self._stopping.is_set():
            return
        self._failed_ticks += 1
        self._calls.on_failure(reason)
        self._on_failure(reason)

    def _say_if_slots_lack(self, tasks: int) -> None:
        slots = self._context.defaultParallelism
        if tasks > slots and not self._said_that_slots_lack:
            logger.warning(
                "query %s has %d tasks and Spark %d slots: some wait their turn", self.name, tasks, slots
            )
        self._said_that_slots_lack = tasks > slots


def run_on_executors(context: SparkContext, run: Run, works: list[Any]) -> list[Any]:
    """One partition for each, and what came back in the same order."""
    return context.parallelize(works, len(works)).mapPartitions(_PartRunner(run)).collect()


class _PartRunner:
    """Pickled by name, so that a Python worker that is used again has it already."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def __call__(self, works: Iterable[Any]) -> Iterator[Any]:
        return map(self.run, works)
