"""What a driver leaves on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.log_rotation import LARGEST_LOG_BYTES, LOGS_KEPT
from penstock.pipeline.spark import engine, session
from penstock.pipeline.spark.engine import Engine
from tests.support.processes import wait_for
from tests.support.spark import settings


def test_what_an_earlier_driver_said_is_kept(tmp_path: Path) -> None:
    """Tasks log there what they reject, so that is wanted after a restart as well."""
    for line in (b"first\n", b"second\n"):
        with session._driver_output(tmp_path) as output:
            output.write(line)
    assert (tmp_path / session.OUTPUT_FILE).read_bytes() == b"first\nsecond\n"


def test_what_a_running_driver_says_does_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here Spark doesn't start, for want of Java, and somebody talks in its place."""
    for name in ("JAVA_HOME", "PATH"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setattr("penstock.pipeline.spark.java.bundled_java_home", lambda: None)
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)  # of another test's driver
    monkeypatch.setattr(engine, "OUTPUT_INTERVAL_S", 0.01)
    spark = Engine(settings(tmp_path, with_kafka_jars=False))
    spark.settings.spark_dir.mkdir(parents=True)
    spark.start()
    try:
        with session._driver_output(spark.settings.spark_dir) as output:
            said = Path(output.name)
            for _ in range(LOGS_KEPT + 2):
                output.write(b"rejected: a record\n" * (LARGEST_LOG_BYTES // 18))
                output.flush()
                wait_for(lambda: said.stat().st_size < LARGEST_LOG_BYTES, what="the output to be shortened")
    finally:
        spark.stop()
    assert len(list(said.parent.glob("driver.out*"))) == 1 + LOGS_KEPT


def test_the_log_says_why_spark_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("JAVA_HOME", "PATH"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setattr("penstock.pipeline.spark.java.bundled_java_home", lambda: None)
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)  # of another test's driver
    spark = Engine(settings(tmp_path, with_kafka_jars=False))
    with caplog.at_level("INFO", "penstock.pipeline.spark"):
        spark.start()
        try:
            wait_for(lambda: spark.failure, what="the failure")
        finally:
            spark.stop()
    assert "Spark is starting" in caplog.messages
    assert any(
        line.startswith("Spark can't be started: Spark needs Java 17 or newer") for line in caplog.messages
    )
