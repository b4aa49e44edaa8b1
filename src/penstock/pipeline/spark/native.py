"""A query of Spark's own operators, which Spark runs by itself; we begin it, watch it and commit its positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from penstock.pipeline.spark.kept_query import Drivers, KeptQuery
from penstock.pipeline.spark.positions import PositionCommitter, positions_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryProgress
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipeline.spark.session import Driver
    from penstock.pipeline.spark.settings import EngineSettings

Build = Callable[["SparkSession", str], "StreamingQuery"]


class NativeQuery(KeptQuery):
    def __init__(
        self,
        name: str,
        drivers: Drivers,
        settings: EngineSettings,
        build: Build,
        committer: PositionCommitter | None,
        slots: int,
    ) -> None:
        super().__init__(name, drivers, settings)
        self.slots = slots
        self._build = build
        self._committer = committer
        self._numbers: dict[str, Any] = {}

    def progress(self) -> dict[str, Any]:
        return {**super().progress(), **self._numbers}

    @property
    def checkpoint(self) -> str:
        return f"{self._settings.checkpoints.rstrip('/')}/{quote(self.name, safe='').replace('.', '%2E')}"

    def stop(self, wait_ms: int = 10_000) -> None:
        super().stop(wait_ms)
        if self._committer is not None:
            self._committer.close()

    def on_progress(self, progress: StreamingQueryProgress) -> None:
        self._on_success()
        self._numbers = numbers_of(progress)
        if self._committer is not None:
            self._committer.commit(positions_of(progress.sources))

    def _finish(self, wait_s: float) -> None:
        """Spark ends the batch that runs, or repeats it later from its checkpoint."""

    def _on_attempt_failed(self, reason: str) -> None:
        """Nobody plans a query of Spark's own; its state tells."""

    def _start_query(self, driver: Driver) -> StreamingQuery:
        driver.session.sparkContext.setLocalProperty("spark.scheduler.pool", self.name)
        query = self._build(driver.session, self.checkpoint)
        self.state = "RUNNING"
        return query


def numbers_of(progress: StreamingQueryProgress) -> dict[str, Any]:
    durations = progress.durationMs
    return {
        "batch": progress.batchId,
        "input_rows": progress.numInputRows,
        "input_rows_per_second": progress.inputRowsPerSecond or 0.0,
        "processed_rows_per_second": progress.processedRowsPerSecond or 0.0,
        "batch_ms": durations.get("triggerExecution", 0),
        "state_rows": sum(state.numRowsTotal for state in progress.stateOperators),
        "state_bytes": sum(state.memoryUsedBytes for state in progress.stateOperators),
        "offsets_behind": max((_behind(source.metrics) for source in progress.sources), default=0),
        "output_rows": max(progress.sink.numOutputRows, 0),
    }


def _behind(metrics: Mapping[str, str] | None) -> int:
    """What Spark's Kafka connector says of itself; other sources say nothing."""
    return int((metrics or {}).get("maxOffsetsBehindLatest", 0))
