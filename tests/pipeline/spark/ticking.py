"""A pipeline process by itself: `python -m tests.pipeline.spark.ticking <data dir> [master]` prints a line a tick."""

import json
import sys
from pathlib import Path
from threading import Event

from penstock.pipeline.spark.engine import Engine
from penstock.pipeline.tick_calls import TickCalls
from tests.pipeline.spark import works
from tests.support.spark import settings

PARTS = 4


def main(data_dir: str, master: str = "local[4]") -> None:
    choices = {"master": master, "executor_memory_mb": 512, "driver_memory_mb": 512}
    engine = Engine(settings(Path(data_dir), with_kafka_jars=False, **choices))
    engine.start()
    process = engine.wait_until_ready().sparkContext._gateway.proc  # type: ignore[union-attr]
    print(f"driver {process.pid}", flush=True)
    calls = TickCalls(
        plan=lambda tick: [0.2] * PARTS,
        run=works.where_after,
        on_reports=lambda tick, reports: print(f"tick {tick} {json.dumps(reports)}", flush=True),
        on_failure=lambda reason: print(f"failed: {reason}", flush=True),
    )
    engine.run_ticks("ticking", calls)
    Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
