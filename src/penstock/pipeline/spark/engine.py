"""One Spark driver per pipeline process, and the queries that it keeps alive."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.pipeline.spark.query import Query
from penstock.pipeline.spark.settings import EngineSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


class Engine:
    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings

    def start(self) -> None:
        """Finds Java, fetches jars and starts the driver in a background thread; returns at once."""
        raise NotImplementedError

    def wait_until_ready(self, timeout_s: float | None = None) -> SparkSession:
        """The session; raises EngineError with the reason if it could not be started, or not yet."""
        raise NotImplementedError

    @property
    def failure(self) -> str | None:
        """Why the driver could not be started."""
        raise NotImplementedError

    def run_ticks(
        self,
        name: str,
        *,
        plan: Callable[[int], list[Any]],
        run: Callable[[Any], Any],
        on_reports: Callable[[int, list[Any]], None],
        on_failure: Callable[[str], None],
    ) -> Query:
        """Returns at once, before the driver is ready as well. Again and again `plan(tick)` says what is to be
        done, `run(work)` does each part of it on an executor (pickled by its importable name), and
        `on_reports(tick, reports)` gets what came back, in the order of the plan. All callables but `run` are
        called in one thread of this process. An empty plan waits until `Query.wake()` or `idle_wait_ms`."""
        raise NotImplementedError

    def run_native(
        self,
        name: str,
        build: Callable[[SparkSession, str], StreamingQuery],
        *,
        positions_group: str | None = None,
        slots: int = 0,
    ) -> Query:
        """`build(session, checkpoint)` starts a query of Spark's own; it is called again after each failure.
        The positions of its Kafka sources are committed as `positions_group`. `slots` is how many it holds for
        good (a real-time query: one per input partition); refused with the count if there are not as many."""
        raise NotImplementedError

    def metrics_text(self) -> str:
        """The progress of all queries in Prometheus' text format."""
        raise NotImplementedError

    def stop(self) -> None:
        """Stops all queries and the driver, and waits for both."""
        raise NotImplementedError
