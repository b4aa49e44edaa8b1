"""Sink tasks that take columns, over a real broker: they get them where all is well, and records where it is not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.pipeline.connect.tasks.run import run_task
from penstock.pipeline.connect.tasks.work import TaskReport
from tests.pipeline.connect.tasks import some_tasks
from tests.pipeline.connect.tasks.works import JSON, Place, new_name
from tests.support.cluster_fixture import KafkaServer

PLAIN_JSON = {"value.converter": JSON, "value.converter.schemas.enable": "false"}


@pytest.fixture
def place(kafka: KafkaServer) -> Place:
    return Place(kafka)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "values"


def run(place: Place, file: Path, **configs: str) -> TaskReport:
    work = place.sink(file, **{**PLAIN_JSON, **configs})
    task = f"{some_tasks.__name__}:{some_tasks.FileOfColumns.__name__}"
    return run_task(replace(work, task_class=task))


def kinds(file: Path) -> set[str]:
    return {line.split()[0] for line in file.with_suffix(".kinds").read_text().splitlines()}


def lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_objects_come_as_columns(place: Place, file: Path) -> None:
    place.produce('{"a":1}', '{"a":2}', key=b"k", headers={"h": b"1"})
    report = run(place, file)
    assert (report.state, report.trace) == ("RUNNING", None)
    assert kinds(file) == {"SinkColumns"}
    assert lines(file) == [
        [place.topic, 0, 0, "k", {"a": 1}, {"h": 1}],
        [place.topic, 0, 1, "k", {"a": 2}, {"h": 1}],
    ]
    assert report.positions == {(place.topic, 0): 2}
    assert (report.records, report.polled, report.bytes, report.topics) == (2, 2, 14, {place.topic})


def test_what_was_aborted_is_in_no_column(place: Place, file: Path) -> None:
    place.produce('{"a":1}')
    place.abort('{"a":666}')
    place.produce('{"a":2}')
    assert run(place, file).positions == {(place.topic, 0): 4}
    assert kinds(file) == {"SinkColumns"}
    assert [line[4] for line in lines(file)] == [{"a": 1}, {"a": 2}]


def test_a_tombstone_comes_as_a_record(place: Place, file: Path) -> None:
    place.produce('{"a":1}', None)
    assert run(place, file).positions == {(place.topic, 0): 2}
    assert "list" in kinds(file)
    assert [line[4] for line in lines(file)] == [{"a": 1}, None]


def test_poison_fails_with_its_coordinates(place: Place, file: Path) -> None:
    place.produce('{"a":1}', '{"a":')
    report = run(place, file)
    assert report.state == "FAILED"
    assert f"topic {place.topic} partition 0 offset 1" in (report.error_message or "")


def test_a_poisoned_key_is_told_as_well(place: Place, file: Path) -> None:
    place.produce('{"a":1}', key=b"no json")
    configs = {"key.converter": JSON, "key.converter.schemas.enable": "false"}
    report = run(place, file, **configs)
    assert "KEY_CONVERTER" in (report.error_message or "")
    assert run(place, file, **configs, **{"errors.tolerance": "all"}).skipped == 1


def test_good_keys_do_no_harm(place: Place, file: Path) -> None:
    place.produce('{"a":1}', key=b'{"k":1}')
    run(place, file, **{"key.converter": JSON, "key.converter.schemas.enable": "false"})
    assert kinds(file) == {"SinkColumns"}
    assert lines(file)[0][3] == {"k": 1}


def test_transforms_get_records(place: Place, file: Path) -> None:
    place.produce('{"a":1}')
    transform = {
        "transforms": "hoist",
        "transforms.hoist.type": "HoistField$Value",
        "transforms.hoist.field": "b",
    }
    run(place, file, **transform)
    assert kinds(file) == {"list"}
    assert lines(file)[0][4] == {"b": {"a": 1}}


def test_a_sink_reports_a_record_of_its_columns(place: Place, file: Path) -> None:
    queue = new_name("dead")
    place.produce('{"a":"1"}', '{"a":"report"}')
    configs = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": queue,
        "errors.deadletterqueue.topic.replication.factor": "1",
    }
    assert run(place, file, **configs).dead_lettered == 1
    assert kinds(file) == {"SinkColumns"}
    assert [each.value for each in place.records(queue)] == [b'{"a":"report"}']
