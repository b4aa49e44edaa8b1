"""Sink tasks for a tick, over a real broker: what they are given, and which offsets may be committed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock import KafkaAdmin
from penstock.pipeline.connect.api import SourceTask
from penstock.pipeline.connect.tasks.run import run_task
from tests.pipeline.connect.tasks.works import JSON, Place, new_name
from tests.support.cluster_fixture import KafkaServer


@pytest.fixture
def place(kafka: KafkaServer) -> Place:
    return Place(kafka)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "values"


def lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def values(file: Path) -> list[Any]:
    return [line[4] for line in lines(file)]


def test_records_are_put_and_positions_reported(place: Place, file: Path) -> None:
    place.produce("a", "b", key=b"k", headers={"h": b"1"})
    report = run_task(place.sink(file))
    assert (report.state, report.trace) == ("RUNNING", None)
    assert lines(file) == [
        [place.topic, 0, 0, "k", "a", {"h": 1}],
        [place.topic, 0, 1, "k", "b", {"h": 1}],
    ]
    assert report.positions == {(place.topic, 0): 2}
    assert (report.records, report.topics) == (2, {place.topic})


def test_a_tick_goes_on_where_the_last_was_committed(place: Place, file: Path) -> None:
    place.produce("a", "b", "c")
    report = run_task(place.sink(file, 2))
    assert values(file) == ["c"]
    assert run_task(place.sink(file, report.positions[place.topic, 0])).positions == {}


def test_what_was_aborted_is_not_put(place: Place, file: Path) -> None:
    place.produce("a")
    place.abort("never", "neither")
    place.produce("b")
    report = run_task(place.sink(file))
    assert values(file) == ["a", "b"]
    assert report.positions == {(place.topic, 0): 5}  # a, two that were aborted, their marker, b


@pytest.mark.parametrize("where", ["worker", "connector"])
def test_who_asks_for_it_gets_what_was_aborted(place: Place, file: Path, where: str) -> None:
    place.abort("x")
    level = {"isolation.level": "read_uncommitted"}
    if where == "connector":
        work = place.sink(file, **{f"consumer.override.{name}": each for name, each in level.items()})
    else:
        work = place.sink(file)
        given = {f"consumer.{name}": each for name, each in level.items()}
        work = replace(work, worker_configs={**work.worker_configs, **given})
    run_task(work)
    assert values(file) == ["x"]


def test_where_nothing_was_committed(place: Place, file: Path) -> None:
    place.produce("a")
    latest = run_task(place.sink(file, **{"consumer.override.auto.offset.reset": "latest"}))
    assert (values(file), latest.positions) == ([], {(place.topic, 0): 1})
    refused = run_task(place.sink(file, **{"consumer.override.auto.offset.reset": "none"}))
    assert refused.state == "FAILED"
    assert "has no committed offset" in (refused.error_message or "")


def test_a_refused_record_fails_the_task_and_keeps_its_place(place: Place, file: Path) -> None:
    place.produce("a", "refuse")
    report = run_task(place.sink(file))
    assert (report.state, report.error_message, report.positions) == ("FAILED", "refused", {})


def test_what_may_pass_is_put_again(place: Place, file: Path) -> None:
    place.produce("retry", "b")
    report = run_task(place.sink(file))
    assert (report.state, report.retries, report.error_message) == ("RUNNING", 1, None)
    assert values(file) == ["retry", "b"]


def test_what_never_passes_waits_for_the_next_tick(place: Place, file: Path) -> None:
    place.produce("never")
    report = run_task(place.sink(file))
    assert (report.state, report.error_message, report.positions) == ("RUNNING", "never", {})
    assert report.retries > 1


def test_a_sink_that_remembers_its_own_position(place: Place, file: Path) -> None:
    place.produce("a", "b", "c")
    report = run_task(place.sink(file, 2, **{"from": "1"}))
    assert values(file) == ["b", "c"]
    assert report.positions == {(place.topic, 0): 3}


def test_pause_and_rewind(place: Place, file: Path) -> None:
    place.produce("pause")
    assert run_task(place.sink(file)).positions == {(place.topic, 0): 1}
    place.produce("rewind", "c")
    report = run_task(place.sink(file, 1, run_ms=2000))  # a fetch that waits is not called back
    assert values(file)[-2:] == ["rewind", "c"]
    assert values(file).count("rewind") == 2
    assert report.positions == {(place.topic, 0): 3}


def test_only_assigned_partitions_can_be_sought(place: Place, file: Path) -> None:
    work = place.sink(file, **{"from": "0"})
    task_class = "tests.pipeline.connect.tasks.test_sink_run:SeeksElsewhere"
    report = run_task(replace(work, task_class=task_class))
    assert "not assigned to this task: elsewhere-3" in (report.error_message or "")


class SeeksElsewhere:
    def start(self, configs: Any) -> None:
        self.context.offset({("elsewhere", 3): 0})  # type: ignore[attr-defined]

    def stop(self) -> None:
        pass


class CannotStart:
    def start(self, configs: Any) -> None:
        raise ValueError("no such thing")

    def stop(self) -> None:
        raise RuntimeError("was never started")


class CannotStartSource(CannotStart, SourceTask):
    pass


def test_what_stops_a_task_from_starting_is_what_is_said(place: Place, file: Path) -> None:
    work = replace(place.sink(file), task_class="tests.pipeline.connect.tasks.test_sink_run:CannotStart")
    assert run_task(work).error_message == "no such thing"
    source = replace(place.source("CountingSource", 1), task_class=f"{work.task_class}Source")
    assert run_task(source).error_message == "no such thing"


def test_poison_fails_with_its_coordinates(place: Place, file: Path) -> None:
    place.produce('{"a": 1}', "no json")
    report = run_task(
        place.sink(file, **{"value.converter": JSON, "value.converter.schemas.enable": "false"})
    )
    assert report.state == "FAILED"
    assert f"topic {place.topic} partition 0 offset 1" in (report.error_message or "")
    assert "VALUE_CONVERTER" in (report.error_message or "")


def test_poison_is_skipped_where_that_is_tolerated(place: Place, file: Path) -> None:
    place.produce('{"a": 1}', "no json", '{"b": 2}')
    configs = {"value.converter": JSON, "value.converter.schemas.enable": "false", "errors.tolerance": "all"}
    report = run_task(place.sink(file, **configs))
    assert (report.state, report.skipped, report.failures) == ("RUNNING", 1, 1)
    assert values(file) == [{"a": 1}, {"b": 2}]
    assert report.positions == {(place.topic, 0): 3}


def test_poison_goes_to_the_dead_letter_queue(place: Place, file: Path) -> None:
    queue = new_name("dead")
    configs = {
        "value.converter": JSON,
        "value.converter.schemas.enable": "false",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": queue,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    place.produce("no json", key=b"k", headers={"mine": b"1"})
    report = run_task(place.sink(file, **configs))
    assert (report.dead_lettered, report.positions) == (1, {(place.topic, 0): 1})
    [dead] = place.records(queue)
    headers = dict(dead.headers)
    assert (dead.key, dead.value, headers["mine"]) == (b"k", b"no json", b"1")
    prefix = "__connect.errors."
    assert headers[f"{prefix}topic"] == place.topic.encode()
    assert headers[f"{prefix}partition"] == b"0"
    assert headers[f"{prefix}offset"] == b"0"
    assert headers[f"{prefix}connector.name"] == place.connector.encode()
    assert headers[f"{prefix}task.id"] == b"0"
    assert headers[f"{prefix}stage"] == b"VALUE_CONVERTER"
    assert headers[f"{prefix}class.name"] == JSON.encode()
    assert headers[f"{prefix}exception.class.name"] == b"org.apache.kafka.connect.errors.DataException"
    assert headers[f"{prefix}exception.message"]
    assert b"Traceback" in headers[f"{prefix}exception.stacktrace"]


def test_a_sink_reports_a_record_itself(place: Place, file: Path) -> None:
    queue = new_name("dead")
    place.produce("report", "b")
    configs = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": queue,
    }
    report = run_task(place.sink(file, **configs))
    assert (values(file), report.dead_lettered) == (["b"], 1)
    assert [each.value for each in place.records(queue)] == [b"report"]


def test_the_dead_letter_queue_has_as_many_replicas_as_there_are_brokers(place: Place, file: Path) -> None:
    """Three by default, where there are three; a number that was asked for is not made another one."""
    queue = {"errors.tolerance": "all", "errors.deadletterqueue.topic.name": new_name("dead")}
    assert run_task(place.sink(file, **queue)).state == "RUNNING"
    asked = {**queue, "errors.deadletterqueue.topic.name": new_name("dead")}
    asked["errors.deadletterqueue.topic.replication.factor"] = "9"
    refused = run_task(place.sink(file, **asked))
    assert refused.state == "FAILED"
    assert "Could not initialize dead letter queue" in (refused.error_message or "")


def test_transforms_and_predicates(place: Place, file: Path) -> None:
    place.produce("a", None)
    configs = {
        "transforms": "drop",
        "transforms.drop.type": "org.apache.kafka.connect.transforms.Filter",
        "transforms.drop.predicate": "tombstone",
        "predicates": "tombstone",
        "predicates.tombstone.type": "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone",
    }
    report = run_task(place.sink(file, **configs))
    assert values(file) == ["a"]
    assert report.positions == {(place.topic, 0): 2}


def test_a_topic_that_is_gone_is_said(place: Place, file: Path) -> None:
    place.produce("a")
    with KafkaAdmin(bootstrap_servers=place.bootstrap) as admin:
        admin.delete_topics([place.topic])
    report = run_task(place.sink(file, **{"consumer.override.allow.auto.create.topics": "false"}))
    assert report.state == "FAILED"
    assert place.topic in (report.error_message or "")
