"""Topics that Apache Kafka Connect wrote, read by our folds; and those that ours wrote, read by it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from penstock.pipeline.connect.settings import ConnectSettings
from penstock.pipeline.connect.storage.cluster_storage import ClusterStorage
from penstock.pipeline.connect.tasks.run import run_task
from tests.pipeline.connect.worker.in_thread import HERE, running_worker
from tests.support.cluster_fixture import KafkaServer
from tests.support.connect_workers import ConnectClient, running_apache_connect, worker_settings
from tests.support.processes import wait_for
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

SECONDS = 60.0
SOME_SOURCE = f"{HERE}:SomeSource"


@pytest.fixture(scope="module")
@starts_processes
def group(kafka: KafkaServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A cluster of Apache Kafka Connect that has run a source and a sink, and is gone."""
    directory = tmp_path_factory.mktemp("apache")
    (directory / "lines.txt").write_text("one\ntwo\n")
    group = "taken-over"
    with running_apache_connect(directory, kafka.bootstrap, group) as connect:
        source = {
            "connector.class": "FileStreamSource",
            "file": str(directory / "lines.txt"),
            "topic": "taken-lines",
        }
        sink = {
            "connector.class": "FileStreamSink",
            "file": str(directory / "out.txt"),
            "topics": "taken-lines",
        }
        assert connect.send("POST", "/connectors", {"name": "read-lines", "config": source}).status == 201
        assert connect.send("POST", "/connectors", {"name": "write-lines", "config": sink}).status == 201
        wait_for(
            lambda: (directory / "out.txt").exists() and "two" in (directory / "out.txt").read_text(), SECONDS
        )
        wait_for(lambda: _has_offsets(connect), SECONDS, "offsets")
        assert connect.send("PUT", "/connectors/write-lines/stop").status == 204
        wait_for(lambda: _state(connect, "write-lines") == "STOPPED", SECONDS, "the stop")
    return group


def _has_offsets(connect: ConnectClient) -> bool:
    return bool(connect.send("GET", "/connectors/read-lines/offsets").body["offsets"])


def _state(connect: ConnectClient, name: str) -> str:
    return str(connect.send("GET", f"/connectors/{name}/status").body["connector"]["state"])


def settings_of(kafka: KafkaServer, group: str) -> dict[str, str]:
    return worker_settings(kafka.bootstrap, group, 0)


def test_configs_states_and_offsets_are_understood(
    kafka: KafkaServer, group: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def read() -> ClusterStorage:
        storage = ClusterStorage(ConnectSettings.from_configs(settings_of(kafka, group)), lambda said: None)
        async with storage.running():
            async with asyncio.timeout(SECONDS):
                await storage.until_ready()
        return storage

    storage = asyncio.run(read())
    assert not [record for record in caplog.records if record.levelname == "WARNING"]
    source, sink = storage.configs.connectors["read-lines"], storage.configs.connectors["write-lines"]
    assert source.config["topic"] == "taken-lines"
    assert (source.target_state, sink.target_state) == ("STARTED", "STOPPED")
    assert [task["task.class"] for task in source.tasks] == [
        "org.apache.kafka.connect.file.FileStreamSourceTask"
    ]
    assert source.tasks_of_config == source.config
    assert sink.tasks == []
    assert storage.statuses.connectors["write-lines"].worker_id.startswith("127.0.0.1:")
    assert storage.statuses.tasks["read-lines"][0].generation > 0
    assert set(storage.statuses.topics["read-lines"]) == {"taken-lines"}
    (offset,) = storage.offset_topics.main.state.connectors["read-lines"].values()
    assert offset.partition == {"filename": source.config["file"]}
    assert offset.offset == {"position": 8}


def test_a_cluster_that_ours_has_run_goes_back_to_apache(
    kafka: KafkaServer, group: str, tmp_path: Path
) -> None:
    """Our worker has the connectors for a while, adds one, and Apache's finds all as it should be."""
    quick = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "200"}
    configs = {**settings_of(kafka, group), "plugin.path": HERE, **quick}
    with running_worker({**configs, "tick.ms": "50"}, run_task) as worker:
        assert worker.call(worker.worker.connectors()) == ["read-lines", "write-lines"]
        worker.wait_for_states("write-lines", "STOPPED")
        ours = {"connector.class": SOME_SOURCE, "directory": str(tmp_path)}
        worker.create("ours", ours, "STOPPED")
        worker.wait_for_states("ours", "STOPPED")
        worker.call(worker.worker.alter_offsets("ours", [{"partition": {"a": "b"}, "offset": {"c": 1}}]))
        worker.wait_for_states("read-lines", "RUNNING", "RUNNING")
        worker.call(worker.worker.pause("read-lines"))
        wait_for(lambda: worker.states("read-lines")[:1] == ["PAUSED"], SECONDS, "the pause")
    with running_apache_connect(tmp_path, kafka.bootstrap, group) as connect:
        assert sorted(connect.send("GET", "/connectors").body) == ["ours", "read-lines", "write-lines"]
        assert connect.send("GET", "/connectors/ours").body["config"] == {**ours, "name": "ours"}
        wait_for(lambda: _state(connect, "read-lines") == "PAUSED", SECONDS, "the pause")
        assert _state(connect, "write-lines") == "STOPPED"
        assert connect.send("PUT", "/connectors/read-lines/resume").status == 202
        wait_for(lambda: _state(connect, "read-lines") == "RUNNING", SECONDS, "the start")
        assert connect.send("GET", "/connectors/read-lines/offsets").body["offsets"][0]["offset"] == {
            "position": 8
        }
