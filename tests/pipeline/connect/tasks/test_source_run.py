"""Source tasks for a tick, over a real broker: what arrives in Kafka, and where the next tick goes on."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest

from penstock import KafkaProducer
from penstock.pipeline.connect.tasks import run
from penstock.pipeline.connect.tasks.client_configs import transactional_id
from penstock.pipeline.connect.tasks.run import run_task
from tests.pipeline.connect.tasks.some_tasks import HangingSource
from tests.pipeline.connect.tasks.works import JSON, Place
from tests.support.cluster_fixture import KafkaServer


@pytest.fixture
def place(kafka: KafkaServer) -> Place:
    return Place(kafka)


def numbers(first: int, last: int) -> list[str]:
    return [str(number) for number in range(first, last + 1)]


def test_records_and_offsets_arrive_together(place: Place) -> None:
    report = run_task(place.source("CountingSource", 25))
    assert (report.state, report.trace, report.records) == ("RUNNING", None, 25)
    assert report.topics == {place.topic}
    assert place.values() == numbers(1, 25)
    assert place.stored() == {'{"counter":1}': {"number": 25}}


def test_the_next_tick_goes_on_behind_the_last(place: Place) -> None:
    for last in (10, 15, 15, 40):
        assert run_task(place.source("CountingSource", last)).state == "RUNNING"
    assert place.values() == numbers(1, 40)


@pytest.mark.processes
def test_a_killed_attempt_leaves_nothing_and_is_repeated(place: Place) -> None:
    """The boundary is far away, so the transaction is open when the process dies."""
    configs = {"transaction.boundary": "interval", "transaction.boundary.interval.ms": "600000"}
    work = place.source("DyingSource", 1000, run_ms=20_000, **configs)
    process = multiprocessing.get_context("spawn").Process(target=run_task, args=(work,))
    process.start()
    process.join(60)
    assert process.exitcode == -9
    assert run_task(place.source("CountingSource", 50)).state == "RUNNING"
    assert place.values() == numbers(1, 50)
    assert len(place.values(isolation="read_uncommitted")) >= 50


def test_a_zombie_is_locked_out(place: Place) -> None:
    work = place.source("CountingSource", 10)
    configs = {"bootstrap.servers": place.bootstrap, "transactional.id": transactional_id(work)}
    with KafkaProducer(configs) as zombie:
        zombie.init_transactions()
        zombie.begin_transaction()
        zombie.send(place.topic, b"from the grave")
        zombie.flush(30)
        assert run_task(work).state == "RUNNING"
        with pytest.raises(Exception, match=r"(?i)fenced|epoch"):
            zombie.commit_transaction()
    assert place.values() == numbers(1, 10)


def test_offsets_of_the_snapshot_are_known(place: Place) -> None:
    key = f'["{place.connector}",{{"counter":1}}]'.encode()
    work = replace(place.source("CountingSource", 12), offsets=[(key, b'{"number":7}')])
    assert run_task(work).state == "RUNNING"
    assert place.values() == numbers(8, 12)


def test_a_failure_keeps_what_was_polled_before(place: Place) -> None:
    report = run_task(place.source("FailingSource", 100))
    assert report.state == "FAILED"
    assert report.error_message == "the source is empty handed"
    assert "some_tasks.py" in (report.trace or "")
    assert run_task(place.source("CountingSource", 30)).state == "RUNNING"
    assert place.values() == numbers(1, 30)


def test_what_may_pass_is_tried_again(place: Place) -> None:
    report = run_task(place.source("WaitingSource", 5, run_ms=1500))
    assert (report.state, report.retries, report.error_message) == ("RUNNING", 1, None)
    assert place.values() == numbers(1, 5)


def test_the_task_ends_its_own_transactions(place: Place) -> None:
    work = place.source("OwnTransactions", 30, at_once="7", **{"transaction.boundary": "connector"})
    report = run_task(work)
    assert (report.state, report.error_message) == ("RUNNING", None)
    assert place.values() == [*numbers(1, 10), *numbers(21, 30)]


def test_without_exactly_once(place: Place) -> None:
    work = place.source("CountingSource", 20)
    plain = replace(work, worker_configs={**work.worker_configs, "exactly.once.source.support": "disabled"})
    assert run_task(plain).state == "RUNNING"
    assert run_task(replace(plain, task_configs={**plain.task_configs, "last": "30"})).state == "RUNNING"
    assert place.values(isolation="read_uncommitted") == numbers(1, 30)


def test_headers_keys_times_and_partitions(place: Place) -> None:
    assert run_task(place.source("MarkedSource", 2)).state == "RUNNING"
    first, second = place.records()
    assert (first.key, first.timestamp_ms, first.headers) == (b"k1", 1_700_000_000_001, (("number", b"1"),))
    assert (second.key, second.partition) == (b"k2", 0)


def test_the_task_hears_of_its_records(place: Place, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    assert run_task(place.source("ToldSource", 2, heard=str(heard))).state == "RUNNING"
    lines = heard.read_text().splitlines()
    assert lines[:2] == ["1 0 0", "2 0 1"]
    assert "commit" in lines


def test_topics_are_made_as_told(place: Place) -> None:
    topic = f"{place.topic}-made"
    configs = {"topic.creation.default.partitions": "3", "topic.creation.default.replication.factor": "1"}
    work = place.source("CountingSource", 5, **configs)
    work = replace(work, task_configs={**work.task_configs, "topic": topic})
    assert run_task(work).state == "RUNNING"
    with KafkaProducer(bootstrap_servers=place.bootstrap) as producer:
        assert producer.partitions_of(topic) == 3


def test_a_transform_that_drops_and_one_that_routes(place: Place) -> None:
    configs = {
        "transforms": "route",
        "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.route.regex": ".*",
        "transforms.route.replacement": f"{place.topic}-routed",
    }
    assert run_task(place.source("CountingSource", 3, **configs)).state == "RUNNING"
    assert place.values(f"{place.topic}-routed") == numbers(1, 3)


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        ({"value.converter": "NoSuchConverter"}, "NoSuchConverter"),
        ({"transforms": "a"}, "transforms.a.type"),
        ({"errors.tolerance": "some"}, "Invalid value some for configuration errors.tolerance"),
        ({"transaction.boundary": "never"}, "Invalid value never for configuration transaction.boundary"),
    ],
)
def test_bad_settings_are_in_the_report(place: Place, configs: dict[str, str], message: str) -> None:
    report = run_task(place.source("CountingSource", 3, **configs))
    assert report.state == "FAILED"
    assert message in (report.error_message or "")


def test_a_record_that_cannot_be_converted(place: Place) -> None:
    long = "org.apache.kafka.connect.converters.LongConverter"
    report = run_task(place.source("CountingSource", 3, **{"value.converter": long}))
    assert report.state == "FAILED"
    assert "VALUE_CONVERTER" in (report.error_message or "")
    assert "at offset {'number': 1}" in (report.error_message or "")
    tolerated = {"value.converter": long, "errors.tolerance": "all"}
    report = run_task(place.source("CountingSource", 3, **tolerated))
    assert (report.state, report.skipped, report.records) == ("RUNNING", 3, 0)
    assert place.stored() == {'{"counter":1}': {"number": 3}}


def test_a_task_that_hangs_is_given_up(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "OVERTIME_SECONDS", 4.0)
    HangingSource.is_released.clear()
    try:
        report = run_task(place.source("HangingSource", 1, run_ms=100))
    finally:
        HangingSource.is_released.set()  # its thread closes what it has open
    assert report.state == "FAILED"
    assert "has not come back" in (report.error_message or "")
    assert "is_released.wait(3600)" in (report.trace or "")


def test_kafka_that_is_away_is_said(place: Place) -> None:
    work = place.source("CountingSource", 1, **{"producer.override.max.block.ms": "300"})
    away = replace(work, worker_configs={**work.worker_configs, "bootstrap.servers": "127.0.0.1:1"})
    report = run_task(away)
    assert (report.state, report.is_retriable) == ("FAILED", True)
    assert "127.0.0.1:1" in (report.error_message or "")


def test_json_without_schemas(place: Place) -> None:
    configs = {"value.converter": JSON, "value.converter.schemas.enable": "false"}
    assert run_task(place.source("CountingSource", 2, **configs)).state == "RUNNING"
    assert place.values() == ['"1"', '"2"']


def test_a_task_says_what_it_waits_for(place: Place, tmp_path: Path) -> None:
    task_class = "penstock.pipeline.connect.connectors.file.source:FileStreamSourceTask"
    work = replace(place.source("CountingSource", 1, file=str(tmp_path / "late")), task_class=task_class)
    waiting = run_task(work)
    assert waiting.state == "RUNNING"
    assert (
        waiting.error_message == f"there is no file {tmp_path / 'late'} where the task runs; it waits for it"
    )
    (tmp_path / "late").write_text("one\n")
    assert run_task(work).error_message is None
    assert place.values() == ["one"]
