"""Whole ticks on a broker: what is in Kafka is each change once, whoever is killed."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.pipeline.connect.connectors.postgres_cdc.source import PostgresTask
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.tasks.run import run_task
from penstock.pipeline.connect.tasks.work import TaskReport, TaskWork
from tests.pipeline.connect.connectors.postgres_cdc.conftest import Captured
from tests.pipeline.connect.tasks.works import JSON, Place
from tests.support.cluster_fixture import KafkaServer
from tests.support.postgres import running_postgres
from tests.support.processes import wait_for
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes


class DyingTask(PostgresTask):
    """Killed when it has polled records, before they are committed."""

    has_some = False

    def poll(self) -> list[SourceRecord] | None:
        if self.has_some:
            os.kill(os.getpid(), signal.SIGKILL)
        records = super().poll()
        self.has_some = bool(records)
        return records


class Ticks:
    def __init__(self, kafka: KafkaServer, captured: Captured) -> None:
        self.place, self.captured = Place(kafka), captured
        self.prefix = self.place.topic

    def work(self, task: type = PostgresTask, run_ms: int = 700, **configs: str) -> TaskWork:
        named = {name.replace("_", "."): value for name, value in configs.items()}
        plain = {f"{each}.converter": JSON for each in ("key", "value")}
        plain |= {f"{each}.converter.schemas.enable": "false" for each in ("key", "value")}
        creation = {
            "topic.creation.default.partitions": "1",
            "topic.creation.default.replication.factor": "1",
        }
        given = {**self.captured.configs, "topic.prefix": self.prefix, **plain, **creation, **named}
        return TaskWork(
            *(self.place.connector, 0, "source", f"{task.__module__}:{task.__name__}"),
            *(given, given, self.place.worker_configs, run_ms),
        )

    def tick(self, **configs: str) -> TaskReport:
        return run_task(self.work(**configs))

    def found(self) -> list[tuple[str, int]]:
        values = [json.loads(value) for value in self.place.values(f"{self.prefix}.public.orders") if value]
        return [(value["op"], (value["after"] or value["before"])["id"]) for value in values]


@pytest.fixture
def ticks(kafka: KafkaServer, captured: Captured) -> Ticks:
    captured.run("CREATE TABLE orders (id INT PRIMARY KEY)")
    return Ticks(kafka, captured)


def test_rows_and_changes_across_ticks(ticks: Ticks) -> None:
    ticks.captured.run("INSERT INTO orders SELECT generate_series(1, 100)")
    report = ticks.tick(max_batch_size="30")
    assert (report.state, report.trace, report.records) == ("RUNNING", None, 100)
    ticks.captured.run("INSERT INTO orders SELECT generate_series(101, 150)")
    ticks.captured.run("DELETE FROM orders WHERE id = 1")
    for _ in range(2):
        assert ticks.tick(max_batch_size="30").state == "RUNNING"
    expected = [*(("r", number) for number in range(1, 101)), *(("c", number) for number in range(101, 151))]
    assert ticks.found() == [*expected, ("d", 1)]
    stored = ticks.place.stored()
    assert stored[f'{{"server":"{ticks.prefix}"}}']["lsn_end"] > 0


@pytest.mark.parametrize("operation", ["r", "c"])
def test_a_task_that_is_killed_between_poll_and_commit(ticks: Ticks, operation: str) -> None:
    """In the snapshot, and in the stream of changes."""
    ticks.captured.run("INSERT INTO orders VALUES (0)")
    if operation == "c":
        assert ticks.tick().records == 1
    ticks.captured.run("INSERT INTO orders SELECT generate_series(1, 40)")
    boundary = {"transaction_boundary": "interval", "transaction_boundary_interval_ms": "600000"}
    work = ticks.work(DyingTask, run_ms=20_000, max_batch_size="10", **boundary)
    process = multiprocessing.get_context("spawn").Process(target=run_task, args=(work,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert ticks.tick().state == "RUNNING"
    assert ticks.found() == [("r", 0), *((operation, number) for number in range(1, 41))]


@pytest.fixture
@starts_processes
def own_server() -> Iterator[Captured]:
    """To be killed."""
    with running_postgres() as server:
        yield Captured(server)


def test_postgres_is_killed_in_the_middle(kafka: KafkaServer, own_server: Captured) -> None:
    """Of a tick that goes on when it is back, and between ticks."""
    own_server.run("CREATE TABLE orders (id INT PRIMARY KEY)")
    ticks = Ticks(kafka, own_server)
    ticks.captured.run("INSERT INTO orders SELECT generate_series(1, 20)")
    assert ticks.tick().state == "RUNNING"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_task, ticks.work(run_ms=8000))
        ticks.captured.run("INSERT INTO orders SELECT generate_series(21, 40)")
        wait_for(lambda: len(ticks.found()) == 40, what="the first changes")
        own_server.server.kill()
        own_server.server.start()
        ticks.captured.run("INSERT INTO orders SELECT generate_series(41, 60)")
        assert running.result(60).state == "RUNNING"
    own_server.server.kill()
    report = ticks.tick()
    assert report.state == "RUNNING"
    assert "cannot connect" in (report.error_message or "")
    own_server.server.start()
    ticks.captured.run("INSERT INTO orders VALUES (61)")
    for _ in range(2):
        assert (report := ticks.tick()).state == "RUNNING"
    assert report.error_message is None
    rows, changes = range(1, 21), range(21, 62)
    assert ticks.found() == [*(("r", number) for number in rows), *(("c", number) for number in changes)]
