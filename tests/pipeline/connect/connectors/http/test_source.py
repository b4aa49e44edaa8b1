"""What an API answers becomes records, each once, also from an API that fails on purpose."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from penstock.pipeline.connect.connectors.http.source import HttpSourceConnector, HttpSourceTask, first_due_ms
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError
from tests.pipeline.connect.connectors.contexts import polled, started
from tests.pipeline.connect.connectors.http.server import Asked, Reply, Server
from tests.support.processes import free_port

_started: list[HttpSourceTask] = []


@pytest.fixture(autouse=True)
def _stopped() -> Iterator[None]:
    yield
    while _started:
        _started.pop().stop()


def source(url: str, records: Sequence[SourceRecord] = (), **configs: str) -> HttpSourceTask:
    named = {name.replace("_", "."): value for name, value in configs.items()}
    fixed = {"topic.name.pattern": "things", "request.interval.ms": "0", "retry.backoff.ms": "0"}
    task = HttpSourceTask()
    started(task, {"url": url, **fixed, **named}, records)
    _started.append(task)
    return task


def reply(document: Any) -> Reply:
    return Reply(body=json.dumps(document).encode())


def query(asked: Asked) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(asked.path).query).items()}


def values(records: Sequence[SourceRecord]) -> list[Any]:
    return [each.value for each in records]


class Pages:
    """An API of numbered pages, of two each."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.configs = {"http_request_parameters": "page=${offset}", "http_initial_offset": "1"}

    def __call__(self, asked: Asked) -> Reply:
        first = (int(query(asked)["page"]) - 1) * 2
        return reply([{"id": number} for number in range(first, min(first + 2, self.count))])


class Since:
    """An API of what comes behind a number, three at a time."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.configs = {
            "http_request_parameters": "since=${offset}",
            "http_offset_mode": "chaining",
            "http_initial_offset": "-1",
            "http_offset_json_pointer": "/id",
            "http_response_data_json_pointer": "/items",
        }

    def __call__(self, asked: Asked) -> Reply:
        first = int(query(asked)["since"]) + 1
        return reply({"items": [{"id": number} for number in range(first, min(first + 3, self.count))]})


class Cursors:
    """An API whose answers say what is next, until the last one."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.configs = {
            "http_request_parameters": "cursor=${offset}",
            "http_offset_mode": "CURSOR_PAGINATION",
            "http_next_page_json_pointer": "/paging/next",
            "http_response_data_json_pointer": "/data",
        }

    def __call__(self, asked: Asked) -> Reply:
        first = int(query(asked).get("cursor", "c/0").removeprefix("c/"))
        last = min(first + 2, self.count)
        following = f"c/{last}" if last - first == 2 else None
        data = [{"id": number} for number in range(first, last)]
        return reply({"data": data, "paging": {"next": following}})


APIS: dict[str, Callable[[int], Any]] = {"pages": Pages, "since": Since, "cursors": Cursors}


@pytest.fixture(params=list(APIS))
def api(request: pytest.FixtureRequest, server: Server) -> Any:
    server.answer = APIS[request.param](8)
    return server.answer


def test_everything_is_read_once(server: Server, api: Any) -> None:
    records = polled(source(f"{server.url}/things", **api.configs), 10)
    assert values(records) == [{"id": number} for number in range(8)]
    assert {each.topic for each in records} == {"things"}


@pytest.mark.parametrize("done", range(9))
def test_a_task_that_is_started_again_goes_on(server: Server, api: Any, done: int) -> None:
    url = f"{server.url}/things"
    records = polled(source(url, **api.configs), 10)
    rest = polled(source(url, records[:done], **api.configs), 10)
    assert values(rest) == [{"id": number} for number in range(done, 8)]


def test_what_is_new_later_is_read_then(server: Server, api: Any) -> None:
    task = source(f"{server.url}/things", **api.configs)
    before = polled(task, 10)
    api.count = 13
    assert values(polled(task, 10)) == [{"id": number} for number in range(8, 13)]
    restarted = source(f"{server.url}/things", before, **api.configs)
    assert values(polled(restarted, 10)) == [{"id": number} for number in range(8, 13)]


def test_the_last_page_of_cursors_may_grow(server: Server) -> None:
    api = server.answer = Cursors(7)
    task = source(server.url, **api.configs)
    assert len(polled(task, 10)) == 7
    api.count = 8
    assert values(polled(task, 10)) == [{"id": 7}]
    api.count = 9
    assert values(polled(task, 10)) == [{"id": 8}]


def test_trouble_loses_and_repeats_nothing(server: Server, api: Any) -> None:
    trouble = [
        Reply(500),
        Reply(429),
        Reply(hangs_up=True),
        Reply(200, b"[", {"Content-Length": "9"}, closes=True),
    ]
    task = source(f"{server.url}/things", **api.configs)
    records: list[SourceRecord] = []
    failures = 0
    for each in (*trouble, *[None] * 8):
        if each is not None:
            server.replies.append(each)
        try:
            records += task.poll() or ()
        except RetriableConnectError:
            failures += 1
        server.replies.clear()
        records += polled(task)
    assert failures == 3  # a kept connection on which the server hangs up is made again at once
    assert values(records) == [{"id": number} for number in range(8)]


def test_what_is_asked(server: Server) -> None:
    server.answer = lambda asked: reply([])
    task = source(
        f"{server.url}/things?a=1",
        http_request_method="post",
        http_request_headers="X-At:${offset}|Accept:text/json",
        http_request_parameters="from=${offset}",
        http_request_body='{"from": "${offset}"}',
        http_offset_mode="CHAINING",
        http_offset_json_pointer="/id",
        http_initial_offset='a "b" & c',
        auth_type="bearer",
        bearer_token="t0ken",
    )
    polled(task)
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/things?a=1&from=a%20%22b%22%20%26%20c")
    assert json.loads(asked.body) == {"from": 'a "b" & c'}
    assert asked.headers["X-At"] == 'a "b" & c'
    assert asked.headers["Accept"] == "text/json"
    assert asked.headers["Content-Type"] == "application/json"
    assert asked.headers["Authorization"] == "Bearer t0ken"


@pytest.mark.parametrize(
    ("body", "expected"),
    [(b'{"a": 1}', [{"a": 1}]), (b"[1, 2]", [1, 2]), (b"null", []), (b"", []), (b"[]", [])],
)
def test_answers_of_one_many_and_none(server: Server, body: bytes, expected: list[Any]) -> None:
    server.replies.append(Reply(body=body))
    assert values(polled(source(server.url))) == expected


def test_nothing_new_is_not_asked_for_at_once(server: Server) -> None:
    server.answer = lambda asked: reply([])
    task = source(server.url, request_interval_ms="0")
    polled(task)
    task._settings["request.interval.ms"] = 3_600_000
    polled(task, 5)
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("now_ms", "asked_ms", "due_ms"),
    [
        (100_000, None, 105_000),  # between two multiples: the next one
        (105_000, None, 105_000),
        (105_999, None, 105_999),  # just behind one: nobody may have asked
        (106_000, None, 120_000),
        (100_000, 95_000, 100_000),  # records came just before: there may be more
        (100_000, 50_000, 105_000),
    ],
)
def test_when_a_task_asks_first(now_ms: int, asked_ms: int | None, due_ms: int) -> None:
    assert first_due_ms(now_ms, asked_ms, 15_000) == due_ms


def test_without_an_interval_it_asks_at_once() -> None:
    assert first_due_ms(100_001, None, 0) == 100_001


@pytest.mark.parametrize("status", [302, 400, 401, 404])
def test_what_lasts_fails(server: Server, status: int) -> None:
    server.replies.append(Reply(status, b"no such thing"))
    with pytest.raises(ConnectError, match=f"GET {server.url}: status {status}: no such thing") as caught:
        polled(source(server.url))
    assert not isinstance(caught.value, RetriableConnectError)


def test_the_server_says_how_long_to_wait(server: Server) -> None:
    server.replies.append(Reply(429, headers={"Retry-After": "3600"}))
    task = source(server.url)
    with pytest.raises(RetriableConnectError):
        polled(task)
    assert polled(task, 3) == []
    assert len(server.asked) == 1


def test_a_server_that_is_not_there_is_asked_again() -> None:
    with pytest.raises(RetriableConnectError, match="refused"):
        polled(source(f"http://127.0.0.1:{free_port()}/"))


@pytest.mark.parametrize(
    ("body", "configs", "said"),
    [
        (b"<html>", {}, "the answer is not JSON"),
        (b'{"a": 1}', {"http_response_data_json_pointer": "/b"}, "has nothing at '/b'"),
        (
            b'[{"a": 1}]',
            {"http_offset_mode": "CHAINING", "http_offset_json_pointer": "/id"},
            "a record has no offset at '/id'",
        ),
        (
            b'[{"id": null}]',
            {"http_offset_mode": "CHAINING", "http_offset_json_pointer": "/id"},
            "a record has no offset at '/id'",
        ),
    ],
)
def test_an_answer_that_makes_no_sense_fails(
    server: Server, body: bytes, configs: dict[str, str], said: str
) -> None:
    server.replies.append(Reply(body=body))
    with pytest.raises(ConnectError, match=said) as caught:
        polled(source(server.url, **configs))
    assert server.url in str(caught.value)


def test_pointers(server: Server) -> None:
    server.replies.append(reply({"a/b": [{"~": [{"x": 1}]}]}))
    task = source(server.url, http_response_data_json_pointer="/a~1b/0/~0")
    assert values(polled(task)) == [{"x": 1}]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("url", "host/path", "http://"),
        ("topic.name.pattern", "", "topic.name.pattern"),
        ("http.request.method", "PUT", "GET, POST"),
        ("http.offset.mode", "GUESS", "SIMPLE_INCREMENTING, CHAINING, CURSOR_PAGINATION"),
        ("http.response.data.json.pointer", "data", "takes a JSON pointer"),
        ("http.offset.json.pointer", "id", "takes a JSON pointer"),
        ("http.next.page.json.pointer", "next", "takes a JSON pointer"),
        ("request.interval.ms", "-1", "at least 0"),
        ("http.request.headers.separator", "", "http.request.headers.separator"),
    ],
)
def test_a_wrong_value_is_named(key: str, value: str, said: str) -> None:
    configs = {"url": "http://host/", "topic.name.pattern": "things", key: value}
    errors = HttpSourceConnector.config_def.validate(configs)[key].errors
    assert len(errors) == 1
    assert key in errors[0]
    assert said in errors[0]


@pytest.mark.parametrize(
    ("configs", "key", "said"),
    [
        ({"url": "http://host/${page}"}, "url", "got ${page}"),
        ({"http.request.parameters": "a=${page}"}, "http.request.parameters", "got ${page}"),
        ({"http.request.body": "${page}"}, "http.request.body", "got ${page}"),
        ({"http.request.headers": "X:${page}"}, "http.request.headers", "got ${page}"),
        ({"http.request.headers": "X"}, "http.request.headers", "takes name:value"),
        ({"http.offset.mode": "CHAINING"}, "http.offset.json.pointer", "is empty"),
        ({"http.offset.mode": "CURSOR_PAGINATION"}, "http.next.page.json.pointer", "is empty"),
        ({"http.initial.offset": "first"}, "http.initial.offset", "takes a number"),
        ({"auth.type": "basic"}, "connection.user", "is empty"),
    ],
)
def test_values_that_do_not_go_together_are_named(configs: dict[str, str], key: str, said: str) -> None:
    errors = HttpSourceConnector().validate(
        {"url": "http://host/", "topic.name.pattern": "things", **configs}
    )
    assert list(errors) == [key]
    assert said in errors[key][0]


def test_offsets_that_make_no_sense_are_refused() -> None:
    alter = HttpSourceConnector().alter_offsets
    assert alter({}, [({"url": "http://host/"}, {"offset": "3"}), ({"url": "http://host/"}, None)])
    with pytest.raises(ConnectError, match="'offset': a text"):
        alter({}, [({"url": "http://host/"}, {"offset": 3})])
    with pytest.raises(ConnectError, match="'url': the url"):
        alter({}, [({"file": "x"}, None)])


def test_one_task_is_enough() -> None:
    connector = HttpSourceConnector()
    connector.start({"url": "http://host/"})
    assert len(connector.task_configs(4)) == 1
