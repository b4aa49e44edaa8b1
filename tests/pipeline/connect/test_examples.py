"""The connectors of `examples/`, found through plugin.path and run for ticks on a broker."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.pipeline.connect.plugins import PluginInfo, Plugins
from penstock.pipeline.connect.tasks.run import run_task
from penstock.pipeline.connect.tasks.work import TaskWork
from tests.pipeline.connect.tasks.works import JSON, Place
from tests.support.cluster_fixture import KafkaServer

EXAMPLES = str(Path(__file__).parents[3] / "examples")


@pytest.fixture
def place(kafka: KafkaServer) -> Place:
    return Place(kafka)


def planned(place: Place, name: str, **configs: str) -> TaskWork:
    """As a worker does it: the class by its name, a task's configuration from the connector."""
    found: PluginInfo = Plugins(EXAMPLES).find_connector(name)
    assert found.cls.config_def.validate(configs)
    connector = found.cls()
    connector.start(configs)
    assert connector.validate(configs) == {}
    task_class = f"{found.reference.partition(':')[0]}:{found.cls.task_class.__name__}"
    return TaskWork(
        *(place.connector, 0, "source" if "Source" in name else "sink", task_class),
        *(connector.task_configs(1)[0], configs, {**place.worker_configs, "plugin.path": EXAMPLES}, 500),
    )


def test_the_source_goes_on_in_the_next_tick(place: Place) -> None:
    configs = {"topic": place.topic, "interval.ms": "20", "value.converter": JSON}
    first = run_task(planned(place, "LoadSource", **configs))
    assert (first.state, first.trace) == ("RUNNING", None)
    second = run_task(planned(place, "LoadSource", **configs))
    values = [json.loads(value)["payload"] for value in place.values()]
    assert first.records > 0
    assert second.records > 0
    assert [value["number"] for value in values] == list(range(1, first.records + second.records + 1))
    assert all(value["one_minute"] >= 0 for value in values)


def test_the_sink_takes_the_same_records_twice(place: Place, tmp_path: Path) -> None:
    place.produce("a", "b", "c")
    work = planned(place, "RowsSink", database=str(tmp_path / "rows.db"))
    report = run_task(replace(work, positions={(place.topic, 0): 0}))
    assert (report.state, report.trace, report.positions) == ("RUNNING", None, {(place.topic, 0): 3})
    place.produce("d")
    run_task(replace(work, positions={(place.topic, 0): 1}))  # as if the offsets had been lost
    with sqlite3.connect(tmp_path / "rows.db") as database:
        rows = database.execute("SELECT number, value FROM rows ORDER BY number").fetchall()
    database.close()
    assert rows == [(0, "a"), (1, "b"), (2, "c"), (3, "d")]


def test_the_sink_waits_while_the_database_is_locked(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "rows.db"
    place.produce("a")
    work = planned(place, "RowsSink", database=str(path))
    run_task(replace(work, positions={(place.topic, 0): 1}))  # makes the table
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("BEGIN IMMEDIATE")
    report = run_task(replace(work, positions={(place.topic, 0): 0}))
    assert report.positions == {} or report.positions[(place.topic, 0)] == 0
    assert "locked" in (report.error_message or "")
    database.execute("ROLLBACK")
    run_task(replace(work, positions={(place.topic, 0): 0}))
    assert database.execute("SELECT value FROM rows").fetchall() == [("a",)]
    database.close()
