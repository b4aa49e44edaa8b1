"""A query of Spark's own operators that has state to keep."""

from __future__ import annotations

from functools import partial
from typing import Any

from penstock.pipeline.spark.engine import Engine
from tests.support.processes import wait_for

PATIENCE_S = 60.0
ROWS_PER_BATCH = 10


def _has(counts: list[int], enough: int) -> bool:
    return len(counts) >= enough


def test_a_query_goes_on_with_the_state_that_it_had(engine: Engine) -> None:
    """Counted over two lives, in RocksDB and on this machine's disk: what was counted before is counted still."""
    counts: list[int] = []

    def note(rows: Any, _: int) -> None:
        counts.extend(row["count"] for row in rows.collect())

    def build(session: Any, checkpoint: str) -> Any:
        source = session.readStream.format("rate-micro-batch").option("rowsPerBatch", ROWS_PER_BATCH).load()
        counted = source.selectExpr("'all' AS word").groupBy("word").count()
        return (
            counted.writeStream.outputMode("update")
            .foreachBatch(note)
            .option("checkpointLocation", checkpoint)
            .start()
        )

    for life in (1, 2):
        query = engine.run_native("counted", build)
        enough = len(counts) + 2
        try:
            wait_for(partial(_has, counts, enough), PATIENCE_S, f"batches of life {life}")
        finally:
            query.stop()
    assert sorted(set(counts)) == [ROWS_PER_BATCH * number for number in range(1, len(set(counts)) + 1)]
