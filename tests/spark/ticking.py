"""A pipeline process by itself: `python -m tests.spark.ticking <data dir>` prints a line for each tick."""

import sys
from pathlib import Path
from threading import Event

from penstock.pipeline.spark.engine import Engine
from tests.spark import works
from tests.support.spark import settings


def main(data_dir: str) -> None:
    engine = Engine(settings(Path(data_dir), with_kafka_jars=False, idle_wait_ms=100))
    engine.start()
    process = engine.wait_until_ready().sparkContext._gateway.proc  # type: ignore[union-attr]
    print(f"driver {process.pid}", flush=True)
    engine.run_ticks(
        "ticking",
        plan=lambda tick: [tick],
        run=works.double,
        on_reports=lambda tick, reports: print(f"tick {tick} in {reports[0][1]}", flush=True),
        on_failure=lambda reason: print(f"failed: {reason}", flush=True),
    )
    Event().wait()


if __name__ == "__main__":
    main(sys.argv[1])
