"""The connector's jars: fetched once into the cache, and an error that says why if they can't be."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from penstock.pipeline.spark import session
from penstock.pipeline.spark.jars import connector_jars
from penstock.pipeline.spark.java import find_java_home
from penstock.pipeline.spark.settings import EngineError, EngineSettings

pytestmark = pytest.mark.processes


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "penstock" / "spark-jars"


@pytest.fixture
def empty_repository(tmp_path: Path) -> str:
    (tmp_path / "repository").mkdir()
    return (tmp_path / "repository").as_uri()


def test_a_repository_without_them_is_said_and_leaves_nothing(
    empty_cache: Path, empty_repository: str
) -> None:
    with pytest.raises(
        EngineError, match=r"the jar spark-sql-kafka-0-10_2.13 4.\d.* can't be had: .*not found"
    ):
        connector_jars(find_java_home(), empty_repository)
    assert [path.name for path in empty_cache.iterdir()] == ["lock"]


def test_without_them_a_driver_starts_and_the_log_says_so(
    empty_cache: Path, empty_repository: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = EngineSettings(tmp_path, jar_repository=empty_repository)
    with caplog.at_level(logging.WARNING):
        assert session._jars_or_none(find_java_home(), settings) == []
    assert "Kafka is read and written through librdkafka instead" in caplog.text


def test_jars_of_the_cache_are_used_as_they_are(empty_cache: Path, empty_repository: str) -> None:
    from pyspark.version import __version__ as version

    folder = empty_cache / version
    folder.mkdir(parents=True)
    (folder / "connector.jar").touch()
    assert connector_jars(Path("/nowhere"), empty_repository) == [folder / "connector.jar"]
