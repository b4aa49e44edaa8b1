"""Records become requests, to a server that fails on purpose."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import ConfigError
from penstock.pipeline.connect.connectors.http.sink import HttpSinkConnector, HttpSinkTask
from penstock.pipeline.connect.data import SchemaBuilder, SinkRecord, Struct
from penstock.pipeline.connect.data.logical import decimal_schema
from penstock.pipeline.connect.data.schema import INT64, OPTIONAL_STRING, STRING
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError
from tests.pipeline.connect.connectors.contexts import SinkContext
from tests.pipeline.connect.connectors.http.server import Reply, Server, running_server
from tests.support.certificates import self_signed
from tests.support.processes import free_port

ORDER = (
    SchemaBuilder.struct()
    .field("id", INT64)
    .field("item", OPTIONAL_STRING)
    .field("price", decimal_schema(2))
    .build()
)
ORDERS = ("orders", 0)
_started: list[HttpSinkTask] = []


@pytest.fixture(autouse=True)
def _stopped() -> Iterator[None]:
    yield
    while _started:
        _started.pop().stop()


def task_of(url: str, **configs: str) -> HttpSinkTask:
    task = HttpSinkTask()
    task.context = SinkContext()
    named = {name.replace("_", "."): value for name, value in configs.items()}
    task.start({"http.api.url": url, **named})
    _started.append(task)
    return task


def text(offset: int, value: str | None = None, key: Any = None) -> SinkRecord:
    return SinkRecord("orders", 0, offset, value or f"v{offset}", STRING, key, STRING if key else None)


def tombstone(offset: int, key: str = "k") -> SinkRecord:
    return SinkRecord("orders", 0, offset, None, None, key, STRING)


def test_texts_go_one_by_one(server: Server) -> None:
    task_of(f"{server.url}/in").put([text(0), text(1, "ü")])
    assert server.bodies == ["v0", "ü"]
    assert [(each.method, each.path) for each in server.asked] == [("POST", "/in")] * 2
    assert server.asked[0].headers["Content-Type"] == "text/plain; charset=utf-8"
    assert server.connections == 1  # which is kept


@pytest.mark.parametrize("method", ["POST", "put", "PATCH", "DELETE"])
def test_methods(server: Server, method: str) -> None:
    task_of(server.url, request_method=method).put([text(0)])
    assert [(each.method, each.path) for each in server.asked] == [(method.upper(), "/")]


def test_values_as_json(server: Server) -> None:
    value = Struct(ORDER, id=7, item=None, price=Decimal("12.30"))
    task = task_of(server.url, request_body_format="json", batch_max_size="3")
    task.put(
        [SinkRecord("orders", 0, 0, value, ORDER), SinkRecord("orders", 0, 1, {"a": [1, None]}), text(2)]
    )
    assert [json.loads(each, parse_float=Decimal) for each in server.bodies] == [
        [{"id": 7, "item": None, "price": Decimal("12.30")}, {"a": [1, None]}, "v2"]
    ]
    assert server.asked[0].headers["Content-Type"] == "application/json"


def test_json_without_an_array(server: Server) -> None:
    task_of(server.url, request_body_format="json", batch_json_as_array="false").put([text(0), text(1)])
    assert server.bodies == ['"v0"', '"v1"']


def test_structs_and_bytes_as_text(server: Server) -> None:
    value = Struct(ORDER, id=7, item="cup", price=Decimal("1.00"))
    task_of(server.url).put(
        [SinkRecord("orders", 0, 0, value, ORDER), SinkRecord("orders", 0, 1, b"\x00\xff")]
    )
    assert server.asked[0].body == b"Struct{id=7,item=cup,price=1.00}"
    assert server.asked[1].body == b"\x00\xff"


def test_batches(server: Server) -> None:
    task = task_of(server.url, batch_max_size="3", batch_prefix="<", batch_suffix=">", batch_separator=r"\n;")
    task.put([text(number) for number in range(7)])
    assert server.bodies == ["<v0\n;v1\n;v2>", "<v3\n;v4\n;v5>", "<v6>"]


def test_names_in_url_and_headers(server: Server) -> None:
    task = task_of(
        f"{server.url}/${{topic}}/${{key}}?at=${{offset}}",
        headers="X-Once: ${topic}-${partition}-${offset} | Content-Type:text/csv",
    )
    task.put([text(5, key="a/b ü?"), text(6, key=None)])
    assert server.paths == ["/orders/a%2Fb%20%C3%BC%3F?at=5", "/orders/?at=6"]
    assert server.asked[0].headers["X-Once"] == "orders-0-5"
    assert server.asked[0].headers["Content-Type"] == "text/csv"


def test_a_batch_has_one_url_and_keeps_the_order(server: Server) -> None:
    task = task_of(f"{server.url}/${{key}}", batch_max_size="10")
    task.put([text(0, key="a"), text(1, key="a"), text(2, key="b"), text(3, key="a")])
    assert list(zip(server.paths, server.bodies, strict=True)) == [
        ("/a", "v0,v1"),
        ("/b", "v2"),
        ("/a", "v3"),
    ]


def test_a_key_that_no_header_can_have_is_refused_with_its_place(server: Server) -> None:
    task = task_of(server.url, headers="X-Key:${key}")
    with pytest.raises(
        ConnectError, match=r"orders-0 at offset 1: a header takes printable ASCII .*'a\\r\\nb'"
    ):
        task.put([text(0, key="a"), text(1, key="a\r\nb")])


def test_who_asks_is_said(server: Server) -> None:
    task_of(server.url, auth_type="BASIC", connection_user="me", connection_password="päss").put([text(0)])
    task_of(server.url, auth_type="bearer", bearer_token="t0ken").put([text(1)])
    assert [each.headers["Authorization"] for each in server.asked] == ["Basic bWU6cMOkc3M=", "Bearer t0ken"]


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_what_passes_is_sent_again_and_nothing_else(server: Server, status: int) -> None:
    task = task_of(server.url, retry_backoff_ms="70")
    server.replies.extend([Reply(), Reply(status, b"later")])
    records = [text(0), text(1), text(2)]
    with pytest.raises(RetriableConnectError, match=f"POST {server.url}: status {status}: later"):
        task.put(records)
    assert task.context.timeout_ms == 70
    assert task.pre_commit({}) == {ORDERS: 1}
    task.put(records)
    assert server.bodies == ["v0", "v1", "v1", "v2"]
    assert task.pre_commit({ORDERS: 3}) == {ORDERS: 3}


def test_the_server_says_how_long_to_wait(server: Server) -> None:
    task = task_of(server.url)
    server.replies.append(Reply(503, headers={"Retry-After": "7"}))
    with pytest.raises(RetriableConnectError):
        task.put([text(0)])
    assert task.context.timeout_ms == 7000


def test_retries_have_an_end(server: Server) -> None:
    task = task_of(server.url, max_retries="2")
    server.replies.extend([Reply(500)] * 3)
    for _ in range(2):
        with pytest.raises(RetriableConnectError):
            task.put([text(0)])
    with pytest.raises(ConnectError, match=r"orders-0 at offset 0: .*status 500; max\.retries=2") as caught:
        task.put([text(0)])
    assert not isinstance(caught.value, RetriableConnectError)


def test_success_begins_a_new_count(server: Server) -> None:
    task = task_of(server.url, max_retries="1")
    for number in range(3):
        server.replies.append(Reply(500))
        with pytest.raises(RetriableConnectError):
            task.put([text(number)])
        task.put([text(number)])
    assert len(server.asked) == 6


@pytest.mark.parametrize("status", [301, 400, 401, 404, 422])
def test_what_lasts_fails_with_the_records_place(server: Server, status: int) -> None:
    server.replies.append(Reply(status, b"no\nsuch thing", {"Location": "/elsewhere"}))
    task = task_of(server.url, batch_max_size="2")
    with pytest.raises(ConnectError) as caught:
        task.put([text(0), text(1), text(2)])
    assert not isinstance(caught.value, RetriableConnectError)
    assert str(caught.value) == (
        "2 records from orders-0 at offset 0 to orders-0 at offset 1: "
        f"POST {server.url}: status {status}: no such thing"
    )


def test_codes_to_retry_can_be_chosen(server: Server) -> None:
    task = task_of(server.url, retry_on_status_codes="404, 418-420")
    for status, is_retried in ((404, True), (419, True), (421, False), (500, False)):
        server.replies.append(Reply(status))
        with pytest.raises(ConnectError) as caught:
            task.put([text(0)])
        assert isinstance(caught.value, RetriableConnectError) is is_retried


def test_refused_records_are_reported_where_that_is_tolerated(server: Server) -> None:
    task = task_of(server.url)
    reported: list[tuple[int, str]] = []
    task.context.report = lambda record, error: reported.append((record.original_offset, str(error)))
    server.replies.extend([Reply(), Reply(400, b"bad"), Reply()])
    task.put([text(0), text(1), text(2)])
    assert reported == [(1, f"POST {server.url}: status 400: bad")]
    assert task.pre_commit({ORDERS: 3}) == {ORDERS: 3}


@pytest.mark.parametrize("behavior", ["ignore", "log"])
def test_refused_records_can_be_left_out(
    server: Server, behavior: str, caplog: pytest.LogCaptureFixture
) -> None:
    server.replies.append(Reply(400, b"bad"))
    task_of(server.url, behavior_on_error=behavior).put([text(0), text(1)])
    assert server.bodies == ["v0", "v1"]
    assert ("orders-0 at offset 0" in caplog.text) is (behavior == "log")


def test_tombstones_are_left_out(server: Server) -> None:
    task_of(server.url).put([text(0), tombstone(1), text(2)])
    assert server.bodies == ["v0", "v2"]


def test_tombstones_delete(server: Server) -> None:
    task = task_of(f"{server.url}/${{key}}", behavior_on_null_values="delete", batch_max_size="9")
    task.put([text(0, key="k"), text(1, key="k"), tombstone(2), tombstone(3), text(4, key="k")])
    assert [(each.method, each.path, each.body) for each in server.asked] == [
        ("POST", "/k", b"v0,v1"),
        ("DELETE", "/k", b""),
        ("DELETE", "/k", b""),
        ("POST", "/k", b"v4"),
    ]


def test_a_tombstone_fails_with_its_place(server: Server) -> None:
    with pytest.raises(ConnectError, match="orders-0 at offset 1: a tombstone"):
        task_of(server.url, behavior_on_null_values="fail").put([text(0), tombstone(1)])


def test_a_server_that_is_not_there_is_asked_again() -> None:
    port = free_port()
    task = task_of(f"http://127.0.0.1:{port}/in")
    with pytest.raises(RetriableConnectError, match=f"POST http://127.0.0.1:{port}/in: .*refused"):
        task.put([text(0)])
    with running_server(port) as server:
        task.put([text(0)])
        assert server.bodies == ["v0"]


def test_a_server_that_hangs_up_is_asked_again(server: Server) -> None:
    server.replies.append(Reply(hangs_up=True))
    task = task_of(server.url)
    with pytest.raises(RetriableConnectError, match="Remote end closed connection"):
        task.put([text(0)])
    task.put([text(0)])
    assert server.bodies == ["v0", "v0"]


def test_a_connection_that_was_closed_meanwhile_is_made_again(server: Server) -> None:
    server.replies.append(Reply(closes=True))
    task_of(server.url).put([text(0), text(1)])
    assert server.bodies == ["v0", "v1"]
    assert server.connections == 2


def test_a_server_that_does_not_answer_is_asked_again(server: Server) -> None:
    is_over = threading.Event()

    def answer(asked: object) -> Reply:
        is_over.wait(30)
        return Reply()

    server.answer = answer
    try:
        with pytest.raises(RetriableConnectError, match="timed out"):
            task_of(server.url, http_request_timeout_ms="50").put([text(0)])
    finally:
        is_over.set()


def test_a_half_answer_is_asked_again(server: Server) -> None:
    server.replies.append(Reply(200, b"half", {"Content-Length": "100"}, closes=True))
    with pytest.raises(RetriableConnectError, match="IncompleteRead"):
        task_of(server.url).put([text(0)])


@pytest.mark.processes
def test_https_with_a_certificate_that_is_trusted(tmp_path: Path) -> None:
    certificate = self_signed(tmp_path)
    with running_server(certificate=certificate.server) as server:
        task_of(server.url, https_ssl_truststore_location=str(certificate.authority)).put([text(0)])
        assert server.bodies == ["v0"]
        with pytest.raises(ConnectError, match="certificate verify failed") as caught:
            task_of(server.url).put([text(1)])
        assert not isinstance(caught.value, RetriableConnectError)
        assert server.bodies == ["v0"]


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_truststore_that_cannot_be_read_is_named(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "trusted.pem"
    if content is not None:
        file.write_text(content)
    with pytest.raises(
        ConfigError, match=r"https\.ssl\.truststore\.location: got '.*trusted\.pem'; takes a PEM file"
    ):
        task_of("https://127.0.0.1/", https_ssl_truststore_location=str(file))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("http.api.url", "ftp://host/x", "http://"),
        ("http.api.url", "http://", "http://"),
        ("http.api.url", "http://host:port/", "http://"),
        ("http.api.url", "http://a host/", "http://"),
        ("http.api.url", "http://${topic}/", "http://"),
        ("http.api.url", "http://me:secret@host/", "auth.type=basic"),
        ("request.method", "GET", "POST, PUT, PATCH, DELETE"),
        ("request.body.format", "xml", "string, json"),
        ("batch.max.size", "0", "at least 1"),
        ("retry.on.status.codes", "5xx", "takes codes and ranges"),
        ("retry.backoff.ms", "-1", "at least 0"),
        ("max.retries", "-1", "at least 0"),
        ("http.request.timeout.ms", "0", "at least 1"),
        ("auth.type", "oauth3", "none, basic, bearer"),
        ("behavior.on.null.values", "keep", "ignore, delete, fail"),
        ("behavior.on.error", "cry", "fail, ignore, log"),
        ("header.separator", "", "header.separator"),
    ],
)
def test_a_wrong_value_is_named(key: str, value: str, said: str) -> None:
    errors = HttpSinkConnector.config_def.validate({"http.api.url": "http://host/", key: value})[key].errors
    assert len(errors) == 1
    assert key in errors[0]
    assert said in errors[0]
    assert "secret" not in errors[0]


@pytest.mark.parametrize(
    ("configs", "key", "said"),
    [
        ({"http.api.url": "http://host/${color}"}, "http.api.url", "got ${color}"),
        ({"headers": "X:${color}"}, "headers", "got ${color}"),
        ({"headers": "no colon"}, "headers", "takes name:value"),
        ({"headers": "X:ü"}, "headers", "printable ASCII"),
        ({"auth.type": "basic"}, "connection.user", "is empty"),
        ({"auth.type": "bearer"}, "bearer.token", "is empty"),
        (
            {"request.body.format": "json", "batch.max.size": "2", "batch.json.as.array": "false"},
            "batch.json.as.array",
            "needs an array",
        ),
    ],
)
def test_values_that_do_not_go_together_are_named(configs: dict[str, str], key: str, said: str) -> None:
    errors = HttpSinkConnector().validate({"http.api.url": "http://host/", **configs})
    assert list(errors) == [key]
    assert said in errors[key][0]


def test_a_right_configuration_has_no_errors() -> None:
    assert HttpSinkConnector().validate({"http.api.url": "https://host/${topic}"}) == {}
    assert "http.api.url" in HttpSinkConnector.config_def.validate({})["http.api.url"].errors[0]
