"""The REST API over a real worker: what it refuses, where it listens, and how workers pass requests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from penstock.pipeline.connect.tasks.run import run_task
from penstock.web.app import DEFAULT_MAX_BODY_BYTES
from tests.support.cluster_fixture import KafkaServer
from tests.support.connect_workers import ConnectClient
from tests.support.penstock_connect import running_penstock_connect
from tests.support.processes import free_port, wait_for
from tests.web.limits import check_limits

CONFIG = {"connector.class": "FileStreamSource", "topic": "lines", "file": "/does/not/exist"}


@pytest.fixture(scope="module")
def workers(kafka: KafkaServer) -> Iterator[tuple[ConnectClient, ConnectClient]]:
    """The leader and a follower."""
    with (
        running_penstock_connect(kafka.bootstrap, "rest", run_task) as first,
        running_penstock_connect(kafka.bootstrap, "rest", run_task) as second,
    ):
        yield first, second


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "Request body is not JSON"),
        (b"", "Request body: must not be empty"),
        (b"[]", "Request body: got an array, takes a JSON object"),
        (b'{"nam": "x"}', "Unrecognized field 'nam'; takes name, config, initial_state"),
        (b'{"name": "x"}', "config: takes an object of configurations"),
        (b'{"name": "x", "config": {"a": {"b": 1}}}', "a: got an object, takes text"),
        (
            b'{"name": "x", "initial_state": "odd", "config": {}}',
            "initial_state: got 'odd', takes RUNNING, PAUSED, STOPPED",
        ),
    ],
)
def test_bad_bodies(workers: tuple[ConnectClient, ConnectClient], body: bytes, message: str) -> None:
    said = workers[0].send("POST", "/connectors", body, {"content-type": "application/json"})
    assert (said.status, said.body["error_code"]) == (400, 400)
    assert said.body["message"].startswith(message)


@pytest.mark.parametrize(
    "body", [{"offsets": {}}, {"offsets": [3]}, {"offsets": [{"partition": 1}]}, {"offset": []}, []]
)
def test_bad_offsets(workers: tuple[ConnectClient, ConnectClient], body: Any) -> None:
    said = workers[0].send("PATCH", "/connectors/x/offsets", body)
    assert (said.status, said.body["error_code"]) == (400, 400)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("POST", "/", 405),
        ("DELETE", "/connectors", 405),
        ("PUT", "/connectors/x/fence", 404),
    ],
)
def test_paths_that_are_not_there(
    workers: tuple[ConnectClient, ConnectClient], method: str, path: str, status: int
) -> None:
    assert workers[0].send(method, path).status == status


def test_who_this_is(workers: tuple[ConnectClient, ConnectClient]) -> None:
    said = workers[0].send("GET", "/")
    assert set(said.body) == {"version", "commit", "kafka_cluster_id"}
    assert len(said.body["kafka_cluster_id"]) == 22
    metrics = workers[0].send("GET", "/metrics")
    assert (metrics.status, metrics.body) == (200, "penstock_connect_test 1\n")
    assert metrics.headers["content-type"].startswith("text/plain")


def test_plugins(workers: tuple[ConnectClient, ConnectClient]) -> None:
    connectors = workers[0].send("GET", "/connector-plugins").body
    assert {each["type"] for each in connectors} == {"sink", "source"}
    everything = workers[0].send("GET", "/connector-plugins?connectorsOnly=false").body
    assert {"transformation", "predicate"} < {each["type"] for each in everything}
    java_name = "org.apache.kafka.connect.file.FileStreamSinkConnector"
    assert {"class": java_name, "type": "sink", "version": "4.3.1"} in connectors


def is_running(worker: ConnectClient, name: str) -> bool:
    said = worker.send("GET", f"/connectors/{name}/status")
    return said.status == 200 and said.body["connector"]["state"] == "RUNNING"


def test_any_worker_can_be_asked(workers: tuple[ConnectClient, ConnectClient]) -> None:
    """One of the two is not the leader; what it is asked to write goes on to the one that is."""
    for number, worker in enumerate(workers):
        name = f"anywhere-{number}"
        made = worker.send("POST", "/connectors", {"name": name, "config": CONFIG})
        assert made.status == 201
        assert made.headers["location"].endswith(f"/connectors/{name}")
        assert worker.send("PUT", f"/connectors/{name}/config", {**CONFIG, "batch.size": 8}).status == 200
        bad = worker.send("PUT", f"/connectors/{name}/config", {**CONFIG, "batch.size": "x"})
        assert (bad.status, bad.body["error_code"]) == (400, 400)
        for other in workers:
            wait_for(lambda other=other, name=name: is_running(other, name), 30, f"{name} to run", 0.05)
        assert worker.send("POST", f"/connectors/{name}/restart?includeTasks=true").status == 202
        assert worker.send("DELETE", f"/connectors/{name}").status == 204


def test_a_request_is_not_passed_on_for_ever(workers: tuple[ConnectClient, ConnectClient]) -> None:
    answers = [each.send("DELETE", "/connectors/gone?forward=false") for each in workers]
    assert sorted(answer.status for answer in answers) == [404, 409]
    refused = next(answer for answer in answers if answer.status == 409)
    assert refused.body["message"] == (
        "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"
    )


def test_admin_has_listeners_of_its_own_and_topics_are_not_tracked(kafka: KafkaServer) -> None:
    port = free_port()
    settings = {
        "admin.listeners": f"http://127.0.0.1:{port}",
        "topic.tracking.enable": "false",
    }
    with running_penstock_connect(kafka.bootstrap, "rest-admin", run_task, settings) as worker:
        assert worker.send("GET", "/admin/loggers").status == 404
        admin = ConnectClient(f"http://127.0.0.1:{port}")
        assert "root" in admin.send("GET", "/admin/loggers").body
        assert admin.send("GET", "/connectors").status == 404
        refused = worker.send("GET", "/connectors/x/topics")
        assert (refused.status, refused.body["message"]) == (403, "Topic tracking is disabled.")
        assert worker.send("PUT", "/connectors/x/topics/reset").status == 403


def test_limits_of_head_and_body(kafka: KafkaServer) -> None:
    limits = {"max.request.header.size": "3000", "request.body.timeout.ms": "300"}
    with running_penstock_connect(kafka.bootstrap, "rest-limits", run_task, limits) as worker:
        port = int(worker.url.rpartition(":")[2])
        check_limits(port, "/connectors", 3000, 300, DEFAULT_MAX_BODY_BYTES)
