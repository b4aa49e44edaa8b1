"""An engine whose driver is killed twice while it starts: before it has a session, and before it is listened to."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from penstock.pipeline.spark.engine import Engine
from penstock.pipeline.spark.session import Driver
from tests.support.processes import wait_for
from tests.support.spark import START_TIMEOUT_S, settings

_killed: list[str] = []


class _KilledBeforeItsSession(SparkSession):
    def __init__(self, context: SparkContext, **options: Any) -> None:
        if not _killed:
            _kill("before its session", SparkContext._gateway.proc)  # type: ignore[union-attr]
        super().__init__(context, **options)


class _KilledBeforeItIsListenedTo(Engine):
    def _listen(self, driver: Driver) -> None:
        if len(_killed) == 1:
            _kill("before it is listened to", driver.process)
        super()._listen(driver)


def _kill(moment: str, process: Any) -> None:
    _killed.append(moment)
    process.kill()
    process.wait()


def main() -> None:
    import pyspark.sql

    pyspark.sql.SparkSession = _KilledBeforeItsSession  # type: ignore[misc]
    engine = _KilledBeforeItIsListenedTo(settings(Path(sys.argv[1]), with_kafka_jars=False))
    engine.start()
    try:
        session = wait_for(lambda: engine._driver and engine._driver.session, START_TIMEOUT_S, "a driver")
        print(*_killed, session.range(3).count(), sep="\n")
    finally:
        engine.stop()


if __name__ == "__main__":
    main()
