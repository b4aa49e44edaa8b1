"""The lake and HTTP connectors, run for ticks over a real broker, as Spark's executors run them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from penstock.pipeline.connect.tasks.run import run_task
from penstock.pipeline.connect.tasks.work import TaskReport, TaskWork
from tests.pipeline.connect.connectors.http.server import Reply, running_server
from tests.pipeline.connect.connectors.lake.lake import files, leftovers, rows
from tests.pipeline.connect.tasks.works import JSON, Place, new_name
from tests.support.cluster_fixture import KafkaServer

CONNECTORS = "penstock.pipeline.connect.connectors"
PLAIN_JSON = {"value.converter": JSON, "value.converter.schemas.enable": "false"}


@pytest.fixture
def place(kafka: KafkaServer) -> Place:
    return Place(kafka)


def sunk(
    place: Place, task: str, configs: Mapping[str, str], start: int | None = None, run_ms: int = 1200
) -> TaskReport:
    given = {"name": place.connector, **PLAIN_JSON, **configs}
    return run_task(
        TaskWork(
            *(place.connector, 0, "sink", f"{CONNECTORS}.{task}", given, given, place.worker_configs, run_ms),
            positions={(place.topic, 0): start},
        )
    )


def sourced(place: Place, task: str, configs: Mapping[str, str], run_ms: int = 1200) -> TaskReport:
    given = {"name": place.connector, **PLAIN_JSON, **configs}
    return run_task(
        TaskWork(
            *(
                place.connector,
                0,
                "source",
                f"{CONNECTORS}.{task}",
                given,
                given,
                place.worker_configs,
                run_ms,
            )
        )
    )


def orders(start: int, end: int) -> list[str]:
    return [json.dumps({"id": number}) for number in range(start, end)]


def test_a_lost_report_repeats_nothing_in_the_lake(place: Place, tmp_path: Path) -> None:
    configs = {"store.path": str(tmp_path), "rotate.interval.ms": "0"}
    place.produce(*orders(0, 50))
    first = sunk(place, "lake.sink:LakeSinkTask", configs)
    assert (first.state, first.trace, first.positions) == ("RUNNING", None, {(place.topic, 0): 50})
    place.produce(*orders(50, 80))
    again = sunk(place, "lake.sink:LakeSinkTask", configs)  # the first one's positions were never committed
    assert (again.state, again.positions) == ("RUNNING", {(place.topic, 0): 80})
    assert rows(tmp_path, "id") == [(number,) for number in range(80)]
    assert leftovers(tmp_path) == []


def test_young_records_wait_over_ticks(place: Place, tmp_path: Path) -> None:
    configs = {"store.path": str(tmp_path), "rotate.interval.ms": "600000", "flush.size": "4"}
    place.produce(*orders(0, 6))
    first = sunk(place, "lake.sink:LakeSinkTask", configs)
    assert first.positions == {(place.topic, 0): 4}
    place.produce(*orders(6, 8))
    second = sunk(place, "lake.sink:LakeSinkTask", configs, 4)
    assert second.positions == {(place.topic, 0): 8}
    assert rows(tmp_path, "id") == [(number,) for number in range(8)]
    assert len(files(tmp_path)) == 2


def test_what_the_lake_cannot_take_goes_to_the_dead_letters(place: Place, tmp_path: Path) -> None:
    queue = new_name("dead")
    configs = {
        "store.path": str(tmp_path),
        "rotate.interval.ms": "0",
        "partitioner.class": "FieldPartitioner",
        "partition.field.name": "id",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": queue,
        "errors.deadletterqueue.topic.replication.factor": "1",
    }
    place.produce('{"id": 1}', '{"other": 2}', '{"id": 3}')
    report = sunk(place, "lake.sink:LakeSinkTask", configs, run_ms=1500)
    assert (report.state, report.error_message, report.dead_lettered) == ("RUNNING", None, 1)
    assert rows(tmp_path, "id") == [(1,), (3,)]
    assert place.values(queue) == ['{"other": 2}']


def test_files_become_records_once(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "topics" / place.topic
    folder.mkdir(parents=True)
    configs = {
        "store.path": str(tmp_path),
        "format.class": "json",
        "poll.interval.ms": "50",
        "batch.max.rows": "7",
    }
    for start in (0, 20, 20):
        (folder / f"{start}.json").write_text("\n".join(orders(start, start + 20)) + "\n")
        report = sourced(place, "lake.source:LakeSourceTask", configs)
        assert (report.state, report.trace) == ("RUNNING", None)
    assert [json.loads(value)["id"] for value in place.values()] == list(range(40))
    assert (
        place.stored()[json.dumps({"file": f"topics/{place.topic}/0.json"}, separators=(",", ":"))]["row"]
        == 20
    )


def test_requests_go_on_over_ticks_when_the_server_fails(place: Place) -> None:
    place.produce(*orders(0, 6))
    with running_server() as server:
        configs = {
            "http.api.url": f"{server.url}/${{topic}}",
            "request.body.format": "json",
            "retry.backoff.ms": "60000",
            "batch.max.size": "2",
        }
        server.replies.extend([Reply(), Reply(503)])
        first = sunk(place, "http.sink:HttpSinkTask", configs)
        assert first.state == "RUNNING"
        assert "status 503" in (first.error_message or "")
        assert first.positions == {(place.topic, 0): 2}
        second = sunk(place, "http.sink:HttpSinkTask", configs, 2)
        assert (second.error_message, second.positions) == (None, {(place.topic, 0): 6})
        sent = [[each["id"] for each in json.loads(body)] for body in server.bodies]
        assert sent == [[0, 1], [2, 3], [2, 3], [4, 5]]


def test_answers_become_records_once(place: Place) -> None:
    with running_server() as server:
        server.answer = lambda asked: Reply(body=_behind(int(asked.path.partition("=")[2]), last[0]))
        configs = {
            "url": server.url,
            "topic.name.pattern": place.topic,
            "http.request.parameters": "since=${offset}",
            "http.offset.mode": "CHAINING",
            "http.offset.json.pointer": "/id",
            "http.initial.offset": "-1",
            "request.interval.ms": "50",
        }
        for end in (10, 25, 25):
            last = [end]
            report = sourced(place, "http.source:HttpSourceTask", configs)
            assert (report.state, report.trace) == ("RUNNING", None)
    assert [json.loads(value)["id"] for value in place.values()] == list(range(25))


def _behind(offset: int, last: int) -> bytes:
    return json.dumps([{"id": number} for number in range(offset + 1, min(offset + 5, last))]).encode()
