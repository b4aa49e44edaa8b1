"""Made-up records through whole ticks on a broker: none twice, none left out, the same again with the same seed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.pipeline.connect.connectors.datagen.source import DatagenConnector, DatagenTask
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.connect.plugins import Plugins
from penstock.pipeline.connect.tasks.run import run_task
from penstock.pipeline.connect.tasks.work import TaskWork
from tests.pipeline.connect.connectors.contexts import polled, started
from tests.pipeline.connect.tasks.works import JSON, Place
from tests.support.cluster_fixture import KafkaServer

TASK_CLASS = f"{DatagenTask.__module__}:DatagenTask"


def work(place: Place, task: int = 0, run_ms: int = 300, **configs: str) -> TaskWork:
    named = {name.replace("_", "."): value for name, value in configs.items()}
    given = {"kafka.topic": place.topic, "max.interval": "0", "value.converter": JSON, **named}
    return TaskWork(
        *(place.connector, task, "source", TASK_CLASS),
        *({**given, "task.id": str(task)}, given, place.worker_configs, run_ms),
    )


def ids(place: Place) -> list[int]:
    return [json.loads(value)["payload"]["orderid"] for value in place.values()]


def test_ticks_go_on_where_the_last_ended(kafka: KafkaServer) -> None:
    place = Place(kafka)
    for iterations in (30, 30, 75):
        report = run_task(work(place, quickstart="orders", random_seed="1", iterations=str(iterations)))
        assert (report.state, report.trace) == ("RUNNING", None)
    assert ids(place) == list(range(75))
    assert [record.key for record in place.records()] == [str(number).encode() for number in range(75)]
    fields = json.loads(place.values()[0])["schema"]["fields"]
    assert [each["field"] for each in fields] == ["ordertime", "orderid", "itemid", "orderunits", "address"]


def test_the_same_seed_makes_the_same_records_and_tasks_differ(kafka: KafkaServer) -> None:
    def values(task: int, *iterations: str, **seed: str) -> list[str]:
        place = Place(kafka)
        for each in iterations:
            assert run_task(work(place, task, quickstart="users", iterations=each, **seed)).state == "RUNNING"
        return place.values()

    once = values(0, "40", random_seed="5")
    assert values(0, "15", "40", random_seed="5") == once
    assert values(1, "40", random_seed="5") != once
    assert len(values(0, "20")) == 20


def test_tasks_have_their_own_sequences(kafka: KafkaServer) -> None:
    place = Place(kafka)
    for task in (0, 1):
        assert run_task(work(place, task, quickstart="orders", iterations="10")).records == 10
    assert sorted(ids(place)) == sorted([*range(10), *range(10)])
    assert set(place.stored()) == {'{"task.id":0}', '{"task.id":1}'}


def test_an_interval_longer_than_a_tick_passes_all_the_same(kafka: KafkaServer) -> None:
    """Each tick lasts a tenth of the interval, and yet records come, none of them at once."""
    place = Place(kafka)
    configs = {"quickstart": "orders", "max_interval": "2000", "random_seed": "3"}
    reports = [run_task(work(place, run_ms=200, **configs))]
    while sum(report.records for report in reports) < 3 and len(reports) < 100:
        reports.append(run_task(work(place, run_ms=200, **configs)))
    assert ids(place)[:3] == [0, 1, 2]
    assert any(report.records == 0 for report in reports)


def test_json_schema_file_reaches_tasks_as_text(tmp_path: Path, kafka: KafkaServer) -> None:
    path = tmp_path / "shape.avsc"
    path.write_text(
        '{"type": "record", "name": "n", "fields": [{"name": "a", "type":'
        ' {"type": "int", "arg.properties": {"iteration": {"start": 3}}}}]}'
    )
    place = Place(kafka)
    configs = {"kafka.topic": place.topic, "schema.filename": str(path), "schema.keyfield": "a"}
    connector = DatagenConnector()
    assert connector.validate(configs) == {}
    connector.start({**configs, "max.interval": "0", "iterations": "2"})
    task_configs = connector.task_configs(2)
    path.unlink()
    assert [each["task.id"] for each in task_configs] == ["0", "1"]
    report = run_task(replace(work(place), task_configs=task_configs[0]))
    assert (report.state, [record.key for record in place.records()]) == ("RUNNING", [b"3", b"4"])


@pytest.mark.parametrize(
    ("configs", "key", "message"),
    [
        ({}, "quickstart", "got none"),
        ({"quickstart": "users", "schema.string": "{}"}, "schema.string", "got quickstart and schema.string"),
        ({"schema.string": "{"}, "schema.string", "no JSON"),
        ({"schema.filename": "/nowhere/x.avsc"}, "schema.filename", "No such file"),
        ({"quickstart": "users", "schema.keyfield": "id"}, "schema.keyfield", "the schema has registertime"),
    ],
)
def test_settings_that_are_refused(configs: dict[str, str], key: str, message: str) -> None:
    errors = DatagenConnector().validate({"kafka.topic": "t", **configs})
    assert message in errors[key][0]


def test_keys_of_the_configuration() -> None:
    answers = DatagenConnector.config_def.validate({"quickstart": "shoes", "iterations": "-2"})
    assert "pricing" in answers["quickstart"].errors[0]
    assert answers["iterations"].errors
    assert "Missing required" in answers["kafka.topic"].errors[0]


def test_the_java_name_is_known() -> None:
    name = "io.confluent.kafka.connect.datagen.DatagenConnector"
    assert Plugins("").find_connector(name).cls is DatagenConnector


def test_offsets_may_be_altered_to_numbers_only() -> None:
    good: list[Any] = [({"task.id": 0}, {"current.iteration": 5}), ({"task.id": 1}, None)]
    assert DatagenConnector().alter_offsets({}, good)
    with pytest.raises(ConnectError, match=r"current\.iteration"):
        DatagenConnector().alter_offsets({}, [({"task.id": 0}, {"current.iteration": "five"})])
    with pytest.raises(ConnectError, match=r"task\.id"):
        DatagenConnector().alter_offsets({}, [({"table": 0}, {"current.iteration": 5})])


def test_a_poll_without_waiting_is_bounded() -> None:
    configs = {"kafka.topic": "t", "quickstart": "pageviews", "max.interval": "0"}
    assert len(polled(started(DatagenTask(), configs))) == 1000
