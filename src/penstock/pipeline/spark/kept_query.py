"""The frame of a query that is kept alive.

A thread of its own waits for a driver, begins the query, and waits for its end; after a failure it waits, twice as
long each time until the query does something useful again, and begins anew. That a whole driver dies and another
takes its place is such a failure too.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Protocol

from penstock.pipeline.spark.query import QueryState
from penstock.pipeline.spark.reasons import reason_of

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipeline.spark.session import Driver
    from penstock.pipeline.spark.settings import EngineSettings

logger = logging.getLogger(__name__)


class Drivers(Protocol):
    def wait_for_driver(self, stopping: Event) -> Driver | None:
        """The driver as soon as there is one; None if the event was set before."""


class KeptQuery(ABC):
    def __init__(self, name: str, drivers: Drivers, settings: EngineSettings) -> None:
        self.name = name
        self.state: QueryState = "STARTING"
        self.failure: str | None = None
        self.restarts = 0
        self._settings = settings
        self._drivers = drivers
        self._backoff_ms = settings.restart_backoff_ms
        self._stopping = Event()
        self._wake = Event()
        self._lock = Lock()
        self._query: StreamingQuery | None = None
        self._thread = Thread(target=self._keep, name=f"query {name}", daemon=True)

    def begin(self) -> None:
        self._thread.start()

    def progress(self) -> dict[str, Any]:
        return {"state": self.state, "failure": self.failure, "restarts": self.restarts}

    def wake(self) -> None:
        self._wake.set()

    def went_well(self) -> None:
        """Who began it knows that it does what it should, before a tick ends: the next failure is a first one again."""
        self._on_success()

    def stop(self, wait_ms: int = 10_000) -> None:
        self._stopping.set()
        self._wake.set()
        self._finish(wait_ms / 1000)
        with self._lock:
            query = self._query
        if query is not None:
            _stop_quietly(query)
        if self._thread.is_alive():
            self._thread.join()
        self.state = "STOPPED"

    @abstractmethod
    def _start_query(self, driver: Driver) -> StreamingQuery:
        """Begins it; returns at once."""

    @abstractmethod
    def _finish(self, wait_s: float) -> None:
        """Gives what runs this time to end by itself."""

    @abstractmethod
    def _on_attempt_failed(self, reason: str) -> None:
        """Called in the query's thread after each attempt that failed."""

    def _on_success(self) -> None:
        self.failure = None
        self.state = "RUNNING"
        self._backoff_ms = self._settings.restart_backoff_ms

    def _on_failure(self, reason: str) -> None:
        """Says why, and waits."""
        self.failure = reason
        self.state = "FAILED"
        logger.warning("query %s failed, and goes on in %d ms: %s", self.name, self._backoff_ms, reason)
        self._wake.clear()
        if not self._stopping.is_set():
            self._wake.wait(self._backoff_ms / 1000)
        self._backoff_ms = min(2 * self._backoff_ms, self._settings.restart_backoff_max_ms)

    def _keep(self) -> None:
        while not self._stopping.is_set():
            driver = self._drivers.wait_for_driver(self._stopping)
            if driver is None:
                return
            reason = self._attempt(driver)
            if reason is None or self._stopping.is_set():
                continue
            self.restarts += 1
            self._on_attempt_failed(reason)
            self._on_failure(reason)

    def _attempt(self, driver: Driver) -> str | None:
        """Why it ended; None if it was stopped."""
        self.state = "STARTING"
        try:
            driver.be_active_in_this_thread()
            query = self._start_query(driver)
            with self._lock:
                self._query = query
            if self._stopping.is_set():
                _stop_quietly(query)
            query.awaitTermination()
        except Exception as error:
            return reason_of(error)
        finally:
            with self._lock:
                self._query = None
        return None if self._stopping.is_set() else "it was ended from outside"


def _stop_quietly(query: StreamingQuery) -> None:
    try:
        query.stop()
    except Exception as error:
        logger.info("while a query was stopped: %s", reason_of(error))
