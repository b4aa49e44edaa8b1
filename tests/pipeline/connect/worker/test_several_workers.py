"""Several workers with one group: they share connectors, and take over from one that is gone."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from penstock.pipeline.connect.worker.errors import NotAssignedError, NotLeaderError
from tests.pipeline.connect.worker.in_thread import (
    HERE,
    ThreadWorker,
    new_group,
    running_worker,
    worker_configs,
)
from tests.pipeline.connect.worker.some_connectors import works_of
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import Process, wait_for

pytestmark = pytest.mark.processes

SECONDS = 60.0


def source(directory: Path) -> dict[str, str]:
    return {"connector.class": f"{HERE}:SomeSource", "directory": str(directory)}


def owners(worker: ThreadWorker, names: list[str]) -> dict[str, str | None]:
    return {name: worker.worker.owner_url(name) for name in names}


def are_shared(worker: ThreadWorker, other: ThreadWorker, names: list[str]) -> bool:
    urls = list(owners(worker, names).values())
    return owners(worker, names) == owners(other, names) and {
        urls.count(worker.url),
        urls.count(other.url),
    } == {2}


def worker_of(worker: ThreadWorker, name: str) -> str | None:
    """None as long as nobody has said that it runs the connector."""
    status = worker.status(name)
    return None if status is None else status["connector"]["worker_id"]


def test_connectors_are_shared_evenly_and_come_back_when_a_worker_leaves(
    kafka: KafkaServer, tmp_path: Path
) -> None:
    configs = worker_configs(kafka.bootstrap, new_group())
    names = [f"shared-{number}" for number in range(4)]
    with running_worker(configs) as first:
        for name in names:
            first.create(name, source(tmp_path))
        with running_worker(configs) as second:
            wait_for(lambda: are_shared(first, second, names), SECONDS, lambda: str(owners(first, names)))
            both = {f"127.0.0.1:{first.port}", f"127.0.0.1:{second.port}"}
            wait_for(
                lambda: {worker_of(first, name) for name in names} == both,
                SECONDS,
                "both to say that they run connectors",
            )
            for name in names:
                first.wait_for_states(name, "RUNNING", "RUNNING")
            _refuses_what_is_not_its_own(first, second, names)
        wait_for(lambda: set(owners(first, names).values()) == {first.url}, SECONDS, "the way back")
        for name in names:
            first.wait_for_states(name, "RUNNING", "RUNNING")


def _refuses_what_is_not_its_own(first: ThreadWorker, second: ThreadWorker, names: list[str]) -> None:
    """Who came first leads; the other says so, and so does each of what the other runs."""
    assert first.worker.leader_url() == second.worker.leader_url() == first.url
    with pytest.raises(NotLeaderError, match="Only the leader can set connector configs") as refusal:
        second.create("more", {"connector.class": "x"})
    assert refusal.value.url == first.url
    theirs = next(name for name, url in owners(first, names).items() if url == second.url)
    with pytest.raises(NotAssignedError) as elsewhere:
        first.call(first.worker.restart(theirs))
    assert elsewhere.value.url == second.url
    second.call(second.worker.pause(theirs))
    first.wait_for_states(theirs, "PAUSED", "PAUSED")
    first.call(first.worker.resume(theirs))
    first.wait_for_states(theirs, "RUNNING", "RUNNING")


def test_a_killed_worker_is_replaced(kafka: KafkaServer, tmp_path: Path) -> None:
    configs = worker_configs(kafka.bootstrap, new_group())
    names = ["taken-0", "taken-1"]
    with started_process(configs, tmp_path, 19_083) as killed, running_worker(configs) as survivor:
        leader = survivor.worker.leader_url()
        assert leader == "http://127.0.0.1:19083"
        with pytest.raises(NotLeaderError):
            survivor.create("taken-0", source(tmp_path))
        killed.kill()
        wait_for(lambda: survivor.worker.leader_url() == survivor.url, SECONDS, "another leader")
        for name in names:
            survivor.create(name, source(tmp_path))
            survivor.wait_for_states(name, "RUNNING", "RUNNING")


def test_what_a_killed_worker_ran_goes_on_elsewhere(kafka: KafkaServer, tmp_path: Path) -> None:
    configs = worker_configs(kafka.bootstrap, new_group())
    names = ["moved-0", "moved-1"]
    with running_worker(configs) as survivor:
        for name in names:
            survivor.create(name, source(tmp_path))
        with started_process(configs, tmp_path, 19_084) as killed:
            moved = wait_for(lambda: _owned_by(survivor, names, "http://127.0.0.1:19084"), SECONDS, "a share")
            wait_for((tmp_path / f"ran-{moved}").exists, SECONDS, "its first tick")
            ticks = len(works_of(moved))
            killed.kill()
            wait_for(lambda: len(works_of(moved)) > ticks, SECONDS, "the takeover")
            survivor.wait_for_states(moved, "RUNNING", "RUNNING")
            assert survivor.status(moved)["connector"]["worker_id"] == f"127.0.0.1:{survivor.port}"


def test_a_state_is_of_this_life(kafka: KafkaServer, tmp_path: Path) -> None:
    """The topic says RUNNING of what a worker ran when it was killed; the next one at its address has to run it first.
    What its ticks need is told to start when the topics are read, before the group has waited for the dead member."""
    configs = worker_configs(kafka.bootstrap, new_group())
    with running_worker(configs) as first:
        assert not first.engine.is_prepared
        first.create("alive", source(tmp_path))
    ran = tmp_path / "ran-alive"
    with started_process(configs, tmp_path, 19_085) as killed:
        wait_for(lambda: ran.exists() and len(ran.read_text().splitlines()) > 5, SECONDS, "ticks")
        killed.kill()
    (tmp_path / "holding-0").touch()
    again = ThreadWorker(configs, port=19_085)
    try:
        assert again.engine.is_prepared
        seen = set()
        while not (tmp_path / "held").exists():
            seen |= {each["state"] for each in again.status("alive")["tasks"]}
        assert seen == {"UNASSIGNED"}
        (tmp_path / "holding-0").unlink()
        again.wait_for_states("alive", "RUNNING", "RUNNING")
    finally:
        again.stop()


def _owned_by(worker: ThreadWorker, names: list[str], url: str) -> str | None:
    return next((name for name, owner in owners(worker, names).items() if owner == url), None)


def started_process(configs: Mapping[str, str], directory: Path, port: int) -> Process:
    file = directory / f"worker-{port}.json"
    file.write_text(json.dumps({"configs": dict(configs), "port": port}))
    log = directory / f"worker-{port}.log"
    process = Process([sys.executable, "-m", "tests.pipeline.connect.worker.worker_process", file], log)
    process.wait_until(lambda: "ready " in log.read_text(), SECONDS, "the worker")
    return process
