"""A state is that of the configuration that is to run, not of an earlier one whose last tick is not over yet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

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

PATIENT = {"task.shutdown.graceful.timeout.ms": "60000"}


@pytest.fixture(scope="module")
def patient_worker(kafka: KafkaServer) -> Iterator[ThreadWorker]:
    with running_worker(worker_configs(kafka.bootstrap, new_group(), PATIENT)) as running:
        yield running


@pytest.fixture
def held(patient_worker: ThreadWorker, name: str, tmp_path: Path) -> Iterator[Path]:
    """The directory of a running connector whose tick does not end while `holding-0` is there."""
    old = tmp_path / "old"
    old.mkdir()
    patient_worker.create(name, source(old))
    patient_worker.wait_for_states(name, "RUNNING", "RUNNING")
    holding = old / "holding-0"
    holding.touch()
    try:
        wait_for((old / "held").exists, what="a tick that is held")
        yield old
    finally:
        holding.unlink(missing_ok=True)


def source(directory: Path) -> dict[str, str]:
    return {"connector.class": f"{HERE}:SomeSource", "directory": str(directory)}


def failing_source(directory: Path) -> dict[str, str]:
    (directory / "failing-0").touch()
    return source(directory) | {"task.restart.max.retries": "0"}


def put(worker: ThreadWorker, name: str, config: dict[str, str]) -> bool:
    """Whether it is a new one."""
    return worker.call(worker.worker.put_config(name, config)).is_new


def seen_until_failed(worker: ThreadWorker, name: str) -> set[str]:
    """All states of tasks on the way."""
    seen: set[str] = set()

    def has_failed() -> bool:
        seen.update(worker.states(name)[1:])
        return "FAILED" in seen

    wait_for(has_failed, what="the failure")
    return seen


def test_a_changed_connector_does_not_run_before_its_new_tasks_do(
    patient_worker: ThreadWorker, name: str, held: Path, tmp_path: Path
) -> None:
    assert not put(patient_worker, name, failing_source(tmp_path))
    assert patient_worker.states(name) == ["UNASSIGNED", "UNASSIGNED"]
    (held / "holding-0").unlink()
    assert "RUNNING" not in seen_until_failed(patient_worker, name)


def test_one_that_gets_the_configuration_it_has_is_restarted_and_its_tasks_run_on(
    patient_worker: ThreadWorker, name: str, tmp_path: Path
) -> None:
    patient_worker.create(name, source(tmp_path))
    patient_worker.wait_for_states(name, "RUNNING", "RUNNING")
    put(patient_worker, name, source(tmp_path))
    patient_worker.wait_for_states(name, "RUNNING", "RUNNING")
    wait_for(lambda: SomeSource.started[name] == 2, what="the second start")
    assert {work.generation for work in works_of(name)} == {1}


def test_a_failed_one_is_brought_back_by_the_configuration_it_has(
    patient_worker: ThreadWorker, name: str, tmp_path: Path
) -> None:
    (tmp_path / "failing-connector").touch()
    config = source(tmp_path) | {"task.restart.max.retries": "0"}
    patient_worker.create(name, config)
    patient_worker.wait_for_states(name, "FAILED")
    (tmp_path / "failing-connector").unlink()
    put(patient_worker, name, config)
    patient_worker.wait_for_states(name, "RUNNING", "RUNNING")


def test_a_deleted_one_is_there_until_its_tick_is_over(
    patient_worker: ThreadWorker, name: str, held: Path, tmp_path: Path
) -> None:
    patient_worker.call(patient_worker.worker.delete(name))
    other = f"other-{name}"
    patient_worker.create(other, source(tmp_path))  # which has the workers agree anew
    patient_worker.wait_for_states(other, "RUNNING", "RUNNING")
    assert patient_worker.status(name) is not None
    (held / "holding-0").unlink()
    wait_for(lambda: patient_worker.status(name) is None, what="no status")


def test_one_made_anew_does_not_run_as_long_as_the_old_one_ends(
    patient_worker: ThreadWorker, name: str, held: Path, tmp_path: Path
) -> None:
    patient_worker.call(patient_worker.worker.delete(name))
    assert put(patient_worker, name, failing_source(tmp_path))
    assert patient_worker.states(name) == ["UNASSIGNED", "UNASSIGNED"]
    (held / "holding-0").unlink()
    assert "RUNNING" not in seen_until_failed(patient_worker, name)


def test_a_pause_forgets_why_tasks_of_an_earlier_configuration_failed(
    patient_worker: ThreadWorker, name: str, tmp_path: Path
) -> None:
    patient_worker.create(name, failing_source(tmp_path))
    patient_worker.wait_for_states(name, "RUNNING", "FAILED")
    patient_worker.call(patient_worker.worker.pause(name))
    patient_worker.wait_for_states(name, "PAUSED", "FAILED")
    put(patient_worker, name, {**failing_source(tmp_path), "more": "1"})
    patient_worker.wait_for_states(name, "PAUSED", "PAUSED")
