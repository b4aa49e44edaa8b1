"""One Spark driver per pipeline process, and the queries that it keeps alive.

The driver is started by a thread in the background, which then watches its process: should it die (killed, out of
memory), another is started after a while, and the queries, which wait for it, begin anew.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from threading import Condition, Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from penstock.pipeline.spark.kept_query import KeptQuery
from penstock.pipeline.spark.metrics import metrics_text
from penstock.pipeline.spark.native import NativeQuery
from penstock.pipeline.spark.positions import PositionCommitter
from penstock.pipeline.spark.query import Query
from penstock.pipeline.spark.reasons import reason_of
from penstock.pipeline.spark.session import Driver, keep_output_small, start_driver
from penstock.pipeline.spark.settings import EngineError, EngineSettings
from penstock.pipeline.spark.ticks import TickQuery
from penstock.pipeline.tick_calls import TickCalls

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

logger = logging.getLogger(__name__)

OUTPUT_INTERVAL_S = 60.0
"""How often what the driver says is looked at, lest it fill the disk."""


class Engine:
    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self._changed = Condition()
        self._driver: Driver | None = None
        self._failure: str | None = None
        self._queries: dict[str, KeptQuery] = {}
        self._stopping = Event()
        self._thread = Thread(target=self._keep_driver, name="Spark driver", daemon=True)
        self._output_thread = Thread(target=self._keep_output_small, name="Spark output", daemon=True)

    def start(self) -> None:
        """Finds Java, fetches jars and starts the driver in a background thread; returns at once."""
        self._thread.start()
        self._output_thread.start()

    def wait_until_ready(self, timeout_s: float | None = None) -> SparkSession:
        """The session; raises EngineError with the reason if it could not be started, or not yet."""
        with self._changed:
            self._changed.wait_for(lambda: self._driver or self._failure, timeout_s)
            if self._driver is None:
                raise EngineError(self._failure or "Spark is not ready yet")
            return self._driver.session

    @property
    def failure(self) -> str | None:
        """Why there is no driver; None while it starts or runs."""
        return self._failure

    @property
    def has_kafka_jars(self) -> bool:
        """Whether Spark's own Kafka connector is there; known when the engine is ready."""
        with self._changed:
            return self._driver is not None and bool(self._driver.jars)

    def run_ticks(self, name: str, calls: TickCalls) -> Query:
        """Returns at once, before the driver is ready as well. An empty plan waits until `Query.wake()` or
        `idle_wait_ms`."""
        return self._begin(TickQuery(name, self, self.settings, calls))

    def run_native(
        self,
        name: str,
        build: Callable[[SparkSession, str], StreamingQuery],
        *,
        positions_group: str | None = None,
        positions_configs: Mapping[str, str] | None = None,
        slots: int = 0,
    ) -> Query:
        """`build(session, checkpoint)` starts a query of Spark's own; it is called again after each failure.
        The positions of its Kafka sources are committed as `positions_group`, where `positions_configs` or else
        the engine's `client_configs` lead. `slots` is how many it holds for
        good (a real-time query: one per input partition); refused with the count if there are not as many, for
        which the engine must be ready."""
        self._check_slots(name, slots)
        committer = (
            None
            if positions_group is None
            else PositionCommitter(positions_group, positions_configs or self.settings.client_configs)
        )
        return self._begin(NativeQuery(name, self, self.settings, build, committer, slots))

    def metrics_text(self) -> str:
        """The progress of all queries in Prometheus' text format."""
        return metrics_text(self._running())

    def stop(self) -> None:
        """Stops all queries and the driver, and waits for both."""
        self._stopping.set()
        for query in self._running():
            query.stop()
        with self._changed:
            self._changed.notify_all()
            driver = self._driver
        if driver is not None:
            driver.stop()
        if self._thread.ident is not None:
            self._thread.join()
            self._output_thread.join()

    def wait_for_driver(self, stopping: Event) -> Driver | None:
        """For queries: the driver as soon as there is one; None if the event is set before."""
        with self._changed:
            while not (stopping.is_set() or self._stopping.is_set()):
                if self._driver is not None:
                    return self._driver
                self._changed.wait(0.2)
        return None

    def on_progress(self, progress: Any) -> None:
        """Called by Spark after each batch of any query."""
        query = self._queries.get(progress.name)
        if isinstance(query, NativeQuery):
            query.on_progress(progress)

    def _begin(self, query: KeptQuery) -> Query:
        with self._changed:
            before = self._queries.get(query.name)
            if before is not None and before.state != "STOPPED":
                raise EngineError(f"a query named {query.name!r} runs already")
            self._queries[query.name] = query
        query.begin()
        return query

    def _running(self) -> list[KeptQuery]:
        with self._changed:
            return [query for query in self._queries.values() if query.state != "STOPPED"]

    def _check_slots(self, name: str, slots: int) -> None:
        if not slots:
            return
        there_are = self.wait_until_ready().sparkContext.defaultParallelism
        held = sum(query.slots for query in self._running() if isinstance(query, NativeQuery))
        if slots > there_are - held:
            raise EngineError(
                f"query {name!r} needs {slots} slots of Spark for good, and {there_are - held} of {there_are} are "
                f"free; give it fewer input partitions, or Spark more slots than {self.settings.master}"
            )

    # --- the driver

    def _keep_driver(self) -> None:
        backoff_ms = self.settings.restart_backoff_ms
        while not self._stopping.is_set():
            began = monotonic()
            self._run_driver()
            if 1000 * (monotonic() - began) > self.settings.restart_backoff_max_ms:
                backoff_ms = self.settings.restart_backoff_ms
            if self._stopping.wait(backoff_ms / 1000):
                return
            backoff_ms = min(2 * backoff_ms, self.settings.restart_backoff_max_ms)

    def _run_driver(self) -> None:
        """Starts one, and returns when it is gone."""
        began = monotonic()
        logger.info("Spark is starting")
        try:
            driver = self._started()
        except Exception as error:
            self._become(None, f"Spark can't be started: {reason_of(error)}")
            return
        logger.info("Spark is ready after %.1f s", monotonic() - began)
        self._become(driver, None)
        if self._stopping.is_set():
            driver.stop()
        exit_code = driver.process.wait()
        if not self._stopping.is_set():
            self._become(None, f"Spark's driver ended with {exit_code}")
            driver.stop()

    def _started(self) -> Driver:
        """One that dies before it is listened to leaves nothing that would keep the next one from starting."""
        driver = start_driver(self.settings)
        try:
            self._listen(driver)
        except BaseException:
            driver.stop()
            raise
        return driver

    def _keep_output_small(self) -> None:
        keep_output_small(self.settings.spark_dir)
        while not self._stopping.wait(OUTPUT_INTERVAL_S):
            keep_output_small(self.settings.spark_dir)

    def _become(self, driver: Driver | None, failure: str | None) -> None:
        if failure:
            logger.error("%s", failure)
        with self._changed:
            self._driver, self._failure = driver, failure
            self._changed.notify_all()

    def _listen(self, driver: Driver) -> None:
        from penstock.pipeline.spark.listener import ProgressListener

        driver.session.streams.addListener(ProgressListener(self.on_progress))
