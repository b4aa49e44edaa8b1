"""A connector's life on one worker: created, run, failed, restarted, paused, stopped, changed and deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.pipeline.connect.errors import AlreadyExistsError, NotFoundError
from penstock.pipeline.connect.worker.errors import BadRequestError
from tests.pipeline.connect.worker.in_thread import (
    HERE,
    ThreadWorker,
    new_group,
    running_worker,
    worker_configs,
)
from tests.pipeline.connect.worker.some_connectors import SomeSource, works_of
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for


def source(directory: Path, tasks: int = 1, **more: str) -> dict[str, str]:
    return {
        "connector.class": f"{HERE}:SomeSource",
        "tasks.max": str(tasks),
        "directory": str(directory),
        **more,
    }


def test_a_connector_runs_its_tasks_and_says_so(worker: ThreadWorker, name: str, tmp_path: Path) -> None:
    info = worker.create(name, source(tmp_path, 2))
    assert (info["name"], info["type"], info["config"]["name"]) == (name, "source", name)
    status = worker.wait_for_states(name, "RUNNING", "RUNNING", "RUNNING")
    assert status == {
        "name": name,
        "connector": {"state": "RUNNING", "worker_id": f"127.0.0.1:{worker.port}", "version": "7.8"},
        "tasks": [
            {"state": "RUNNING", "worker_id": f"127.0.0.1:{worker.port}", "version": "7.8", "id": task}
            for task in (0, 1)
        ],
        "type": "source",
    }
    wait_for(lambda: len(works_of(name)) >= 4, what="two ticks")
    work = works_of(name)[1]
    assert (work.kind, work.task_class) == ("source", f"{HERE}:SomeSourceTask")
    assert work.task_configs["task.class"] == work.task_class
    assert work.worker_configs["offset.storage.topic"] == worker.settings.offset_storage_topic
    info = worker.call(worker.worker.connector_info(name))
    assert info["tasks"] == [{"connector": name, "task": 0}, {"connector": name, "task": 1}]
    assert [each["config"]["number"] for each in worker.call(worker.worker.tasks(name))] == ["0", "1"]
    wait_for(
        lambda: worker.call(worker.worker.topics(name)) == {name: {"topics": ["made-up"]}}, what="the topic"
    )


def test_the_log_says_how_a_connector_does(
    worker: ThreadWorker, name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "penstock.connect")
    (tmp_path / "failing-0").touch()
    worker.create(name, source(tmp_path, 2, **{"task.restart.max.retries": "0"}))
    worker.wait_for_states(name, "RUNNING", "FAILED", "RUNNING")
    assert f"connector {name} is started: 2 tasks" in caplog.messages
    wait_for(lambda: f"connector {name} is running" in caplog.messages, what="the line")
    assert f"task {name}-0: was told to fail" in caplog.messages
    (tmp_path / "failing-connector").touch()
    worker.call(worker.worker.put_config(name, source(tmp_path, 3)))
    wait_for(lambda: worker.states(name)[0] == "FAILED", what="the failure")
    assert f"connector {name} failed: the connector was told to fail" in caplog.messages


def test_a_name_is_taken_once(worker: ThreadWorker, name: str, tmp_path: Path) -> None:
    worker.create(name, source(tmp_path))
    with pytest.raises(AlreadyExistsError, match=f"Connector {name} already exists"):
        worker.create(name, source(tmp_path))
    assert worker.call(worker.worker.put_config(name, source(tmp_path))).is_new is False
    assert name in worker.call(worker.worker.connectors())


def test_one_that_fails_is_restarted_by_itself_and_leaves_the_others_alone(
    worker: ThreadWorker, name: str, tmp_path: Path
) -> None:
    (tmp_path / "failing-1").touch()
    worker.create(
        name, source(tmp_path, 2, **{"task.restart.max.retries": "-1", "task.restart.backoff.max.ms": "200"})
    )
    wait_for(lambda: "FAILED" in worker.states(name)[2:], what="the failure")
    wait_for(lambda: sum(work.task == 1 for work in works_of(name)) >= 3, what="two restarts")
    assert worker.states(name)[1] == "RUNNING"
    (tmp_path / "failing-1").unlink()
    status = worker.wait_for_states(name, "RUNNING", "RUNNING", "RUNNING")
    assert status["tasks"][1]["restart"]["attempts"] >= 2


def test_one_that_may_not_be_restarted_waits_for_somebody(
    worker: ThreadWorker, name: str, tmp_path: Path
) -> None:
    (tmp_path / "failing-0").touch()
    worker.create(name, source(tmp_path, 2, **{"task.restart.max.retries": "0"}))
    status = worker.wait_for_states(name, "RUNNING", "FAILED", "RUNNING")
    assert status["tasks"][0]["trace"] == "Traceback: task 0 was told to fail"
    assert status["tasks"][0]["restart"] == {"attempts": 0, "max_retries": 0}
    assert worker.call(worker.worker.task_status(name, 0)) == status["tasks"][0]
    (tmp_path / "failing-0").unlink()
    worker.call(worker.worker.restart_task(name, 0))
    status = worker.wait_for_states(name, "RUNNING", "RUNNING", "RUNNING")
    assert "trace" not in status["tasks"][0]
    with pytest.raises(NotFoundError, match=f"Unknown task: {name}-2"):
        worker.call(worker.worker.restart_task(name, 2))


def test_a_connector_that_does_not_start_is_tried_again(
    worker: ThreadWorker, name: str, tmp_path: Path
) -> None:
    (tmp_path / "failing-connector").touch()
    worker.create(
        name, source(tmp_path, **{"task.restart.max.retries": "-1", "task.restart.backoff.max.ms": "200"})
    )
    wait_for(lambda: worker.states(name)[:1] == ["FAILED"], what="the failure")
    wait_for(
        lambda: worker.status(name)["connector"].get("restart", {}).get("attempts", 0) >= 1, what="a retry"
    )
    assert "the connector was told to fail" in worker.status(name)["connector"].get(
        "trace", "the connector was told to fail"
    )
    (tmp_path / "failing-connector").unlink()
    worker.wait_for_states(name, "RUNNING", "RUNNING")


def test_pause_stop_and_resume(worker: ThreadWorker, name: str, tmp_path: Path) -> None:
    worker.create(name, source(tmp_path, 2))
    worker.wait_for_states(name, "RUNNING", "RUNNING", "RUNNING")
    worker.call(worker.worker.pause(name))
    worker.wait_for_states(name, "PAUSED", "PAUSED", "PAUSED")
    run_until_pause = len(works_of(name))
    worker.call(worker.worker.resume(name))
    worker.wait_for_states(name, "RUNNING", "RUNNING", "RUNNING")
    wait_for(lambda: len(works_of(name)) > run_until_pause, what="more ticks")
    worker.call(worker.worker.stop(name))
    worker.wait_for_states(name, "STOPPED")
    assert worker.call(worker.worker.tasks(name)) == []
    assert SomeSource.stopped[name] == 1
    worker.call(worker.worker.resume(name))
    worker.wait_for_states(name, "RUNNING", "RUNNING", "RUNNING")


def test_an_initial_state_keeps_it_from_running(worker: ThreadWorker, name: str, tmp_path: Path) -> None:
    worker.create(name, source(tmp_path), "STOPPED")
    worker.wait_for_states(name, "STOPPED")
    assert name not in SomeSource.started
    assert works_of(name) == []


def test_another_config_makes_other_tasks(worker: ThreadWorker, name: str, tmp_path: Path) -> None:
    worker.create(name, source(tmp_path, 3))
    worker.wait_for_states(name, "RUNNING", "RUNNING", "RUNNING", "RUNNING")
    worker.call(worker.worker.patch_config(name, {"tasks.max": "1", "color": "red"}))
    worker.wait_for_states(name, "RUNNING", "RUNNING")
    wait_for(lambda: works_of(name)[-1].task_configs.get("color") == "red", what="the new config")
    info = worker.call(worker.worker.patch_config(name, {"color": None}))
    assert "color" not in info["config"]


def test_a_connector_can_ask_for_other_tasks(worker: ThreadWorker, name: str, tmp_path: Path) -> None:
    worker.create(name, source(tmp_path, 3))
    worker.wait_for_states(name, "RUNNING", "RUNNING", "RUNNING", "RUNNING")
    (tmp_path / "tasks").write_text("2")
    SomeSource.contexts[name].request_task_reconfiguration()
    worker.wait_for_states(name, "RUNNING", "RUNNING", "RUNNING")
    assert SomeSource.started[name] == 1


def test_more_tasks_than_allowed_are_refused_unless_told(
    worker: ThreadWorker, name: str, tmp_path: Path
) -> None:
    (tmp_path / "tasks").write_text("2")
    worker.create(name, source(tmp_path, 1, **{"task.restart.max.retries": "0"}))
    status = worker.wait_for_states(name, "FAILED")
    assert (
        f"The connector {name} has generated 2 tasks, which is greater than 1" in status["connector"]["trace"]
    )
    worker.call(worker.worker.patch_config(name, {"tasks.max.enforce": "false"}))
    worker.wait_for_states(name, "RUNNING", "RUNNING", "RUNNING")


def test_a_connector_that_raises_later_fails_and_comes_back(
    worker: ThreadWorker, name: str, tmp_path: Path
) -> None:
    worker.create(name, source(tmp_path, **{"task.restart.max.retries": "0"}))
    worker.wait_for_states(name, "RUNNING", "RUNNING")
    SomeSource.contexts[name].raise_error(RuntimeError("the source is gone"))
    status = worker.wait_for_states(name, "FAILED", "RUNNING")
    assert "the source is gone" in status["connector"]["trace"]
    assert worker.call(worker.worker.restart(name)) is None
    worker.wait_for_states(name, "RUNNING", "RUNNING")
    assert SomeSource.started[name] == 2


def test_restart_with_flags_says_what_will_restart(worker: ThreadWorker, name: str, tmp_path: Path) -> None:
    (tmp_path / "failing-0").touch()
    worker.create(name, source(tmp_path, 2, **{"task.restart.max.retries": "0"}))
    worker.wait_for_states(name, "RUNNING", "FAILED", "RUNNING")
    (tmp_path / "failing-0").unlink()
    said = worker.call(worker.worker.restart(name, include_tasks=True, only_failed=True))
    assert [said["connector"]["state"], *(each["state"] for each in said["tasks"])] == [
        "RUNNING",
        "RESTARTING",
        "RUNNING",
    ]
    worker.wait_for_states(name, "RUNNING", "RUNNING", "RUNNING")
    assert SomeSource.started[name] == 1


def test_a_deleted_connector_leaves_nothing(worker: ThreadWorker, name: str, tmp_path: Path) -> None:
    worker.create(name, source(tmp_path))
    worker.wait_for_states(name, "RUNNING", "RUNNING")
    worker.call(worker.worker.delete(name))
    wait_for(lambda: worker.status(name) is None, what="no status")
    assert worker.call(worker.worker.topics(name)) == {name: {"topics": []}}
    with pytest.raises(NotFoundError, match=f"Connector {name} not found"):
        worker.call(worker.worker.connector_info(name))
    with pytest.raises(NotFoundError, match=f"Connector {name} not found"):
        worker.call(worker.worker.delete(name))


def test_a_connector_of_an_unknown_class_fails_visibly(
    worker: ThreadWorker, name: str, tmp_path: Path
) -> None:
    worker.create(
        name, {**source(tmp_path), "connector.class": "NoSuchConnector", "task.restart.max.retries": "0"}
    )
    status = worker.wait_for_states(name, "FAILED")
    assert "NoSuchConnector" in status["connector"]["trace"]
    assert status["type"] == "unknown"


def test_secrets_stay_out_of_kafka(kafka: KafkaServer, tmp_path: Path) -> None:
    (tmp_path / "db.properties").write_text("password=swordfish\n")
    configs = worker_configs(
        kafka.bootstrap,
        new_group(),
        {
            "config.providers": "file",
            "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
        },
    )
    variable = f"${{file:{tmp_path}/db.properties:password}}"
    with running_worker(configs) as worker:
        worker.create("secretive", source(tmp_path, password=variable))
        worker.wait_for_states("secretive", "RUNNING", "RUNNING")
        assert works_of("secretive")[0].task_configs["password"] == "swordfish"
        assert worker.call(worker.worker.tasks("secretive"))[0]["config"]["password"] == variable
        assert worker.call(worker.worker.connector_info("secretive"))["config"]["password"] == variable


def test_offsets_of_a_source_change_only_when_it_is_stopped(
    worker: ThreadWorker, name: str, tmp_path: Path
) -> None:
    worker.create(name, source(tmp_path))
    worker.wait_for_states(name, "RUNNING", "RUNNING")
    one = {"partition": {"file": "a"}, "offset": {"position": 5}}
    with pytest.raises(BadRequestError, match="Connectors must be in the STOPPED state"):
        worker.call(worker.worker.alter_offsets(name, [one]))
    worker.call(worker.worker.stop(name))
    message = worker.call(worker.worker.alter_offsets(name, [one]))
    assert message.startswith(
        "The Connect framework-managed offsets for this connector have been altered successfully"
    )
    assert worker.call(worker.worker.offsets(name)) == {"offsets": [one]}
    worker.call(worker.worker.resume(name))
    worker.wait_for_states(name, "RUNNING", "RUNNING")
    wait_for(lambda: works_of(name)[-1].offsets, what="a tick with offsets")
    assert works_of(name)[-1].offsets == [(f'["{name}",{{"file":"a"}}]'.encode(), b'{"position":5}')]
    worker.call(worker.worker.stop(name))
    worker.call(worker.worker.reset_offsets(name))
    assert worker.call(worker.worker.offsets(name)) == {"offsets": []}


def test_a_connector_may_keep_its_offsets_apart(worker: ThreadWorker, name: str, tmp_path: Path) -> None:
    """What the worker's topic says counts until its own topic says something."""
    first, second = ({"partition": {"file": file}, "offset": {"position": 5}} for file in "ab")
    worker.create(name, source(tmp_path), "STOPPED")
    worker.wait_for_states(name, "STOPPED")
    worker.call(worker.worker.alter_offsets(name, [first]))
    worker.call(worker.worker.patch_config(name, {"offsets.storage.topic": f"{name}-own"}))
    worker.call(worker.worker.alter_offsets(name, [second]))
    found = worker.call(worker.worker.offsets(name))["offsets"]
    assert sorted(each["partition"]["file"] for each in found) == ["a", "b"]
    worker.call(worker.worker.resume(name))
    wait_for(lambda: works_of(name), what="a tick")
    assert len(works_of(name)[0].offsets) == 2
    assert sum(works_of(name)[0].offsets_position.values()) > 0
    worker.call(worker.worker.stop(name))
    worker.call(worker.worker.reset_offsets(name))
    assert worker.call(worker.worker.offsets(name)) == {"offsets": []}
    worker.call(worker.worker.patch_config(name, {"offsets.storage.topic": None}))
    assert worker.call(worker.worker.offsets(name)) == {"offsets": []}
