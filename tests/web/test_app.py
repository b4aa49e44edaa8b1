"""Routes, bodies and errors over a real socket."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
from collections.abc import Iterator

import pytest

from penstock.errors import ConfigError
from penstock.web.app import HttpApp
from penstock.web.errors import HttpError, unavailable
from penstock.web.listeners import Listener, bind, parse_listeners
from penstock.web.media_types import MediaTypes
from penstock.web.request import Request, parse_json
from penstock.web.response import NO_CONTENT, Response, StreamedResponse, json_response
from penstock.web.routes import Routes
from tests.web.served import ask, served

LIMIT_BYTES = 1000
MEDIA_TYPES = MediaTypes(
    produces=("application/vnd.things.v1+json", "application/json"),
    consumes=("application/vnd.things.v1+json", "application/json"),
)


class OwnError(Exception):
    """A service's own exception, which it translates."""


def things() -> Routes:
    routes = Routes()

    @routes.get("/things/{thing}")
    async def one(request: Request) -> Response:
        return json_response({"thing": request.path["thing"], "query": request.query})

    @routes.get("/things/special")
    async def special(request: Request) -> Response:
        return json_response("special")

    @routes.get("/things/{thing}/parts")
    async def parts(request: Request) -> StreamedResponse:
        async def words():  # type: ignore[no-untyped-def]
            for word in (b'["a"', b',"b"]'):
                await asyncio.sleep(0)
                yield word

        return StreamedResponse(words())

    @routes.post("/things")
    async def make(request: Request) -> Response:
        return json_response(await request.json_object(), 201)

    @routes.delete("/things/{thing}")
    async def remove(request: Request) -> Response:
        if request.path["thing"] == "rock":
            raise HttpError(409, 40901, "A rock stays")
        return NO_CONTENT

    @routes.get("/away")
    async def away(request: Request) -> Response:
        raise unavailable("Kafka cannot be reached", retry_after_seconds=3)

    @routes.get("/broken")
    async def broken(request: Request) -> Response:
        raise OwnError if request.flag("known") else ZeroDivisionError

    @routes.get("/count")
    async def count(request: Request) -> Response:
        return json_response(request.number("limit", -1))

    return routes


def make_app() -> HttpApp:
    return HttpApp(
        things(),
        MEDIA_TYPES,
        max_body_bytes=LIMIT_BYTES,
        translate=lambda error: HttpError(422, 42299, "known") if isinstance(error, OwnError) else None,
    )


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with served(make_app) as port:
        yield port


@pytest.mark.parametrize(
    ("path", "thing"),
    [
        ("/things/chair", "chair"),
        ("/things/a%2Fb", "a/b"),
        ("/things/gr%C3%BCn", "grün"),
        ("//things/chair/", "chair"),
        ("/things/speciality", "speciality"),
    ],
)
def test_a_name_is_one_segment_of_the_path(port: int, path: str, thing: str) -> None:
    response, said = ask(port, "GET", path)
    assert (response.status, said["thing"]) == (200, thing)


def test_a_fixed_name_goes_before_a_variable_one(port: int) -> None:
    assert ask(port, "GET", "/things/special")[1] == "special"
    assert ask(port, "GET", "/things/special/parts")[1] == ["a", "b"]


@pytest.mark.parametrize(
    ("method", "path", "status", "said"),
    [
        ("GET", "/nowhere", 404, {"error_code": 404, "message": "HTTP 404 Not Found"}),
        ("GET", "/things/a/b/c", 404, {"error_code": 404, "message": "HTTP 404 Not Found"}),
        ("PUT", "/things/a", 405, {"error_code": 405, "message": "HTTP 405 Method Not Allowed"}),
        ("DELETE", "/things/rock", 409, {"error_code": 40901, "message": "A rock stays"}),
        ("GET", "/broken?known=TRUE", 422, {"error_code": 42299, "message": "known"}),
        ("GET", "/broken", 500, {"error_code": 500, "message": "Internal Server Error"}),
        ("GET", "/away", 503, {"error_code": 503, "message": "Kafka cannot be reached"}),
        ("GET", "/count?limit=x", 400, {"error_code": 400, "message": "limit: got 'x', takes an integer"}),
    ],
)
def test_errors_are_in_confluents_form(port: int, method: str, path: str, status: int, said: object) -> None:
    response, body = ask(port, method, path)
    assert (response.status, body) == (status, said)
    assert response.headers["content-type"] == "application/vnd.things.v1+json"


def test_headers_of_errors_are_sent(port: int) -> None:
    assert ask(port, "GET", "/away")[0].headers["retry-after"] == "3"
    assert ask(port, "PUT", "/things/a")[0].headers["allow"] == "DELETE, GET"


def test_head_answers_as_get_without_a_body(port: int) -> None:
    response, said = ask(port, "HEAD", "/things/chair")
    assert (response.status, said) == (200, None)
    assert int(response.headers["content-length"]) > 0


def test_no_content_has_none(port: int) -> None:
    response, said = ask(port, "DELETE", "/things/chair")
    assert (response.status, said) == (204, None)


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("*/*", "application/vnd.things.v1+json"),
        ("application/*", "application/vnd.things.v1+json"),
        ("application/json", "application/json"),
        ("text/html, application/json;q=0.5", "application/json"),
        ("application/json;q=0.1, application/vnd.things.v1+json;q=0.9", "application/vnd.things.v1+json"),
    ],
)
def test_the_client_chooses_the_media_type(port: int, accept: str, media_type: str) -> None:
    response, _ = ask(port, "GET", "/things/chair", headers={"Accept": accept})
    assert response.headers["content-type"] == media_type


def test_media_types_that_do_not_fit(port: int) -> None:
    response, said = ask(port, "GET", "/things/chair", headers={"Accept": "text/html"})
    assert (response.status, said["message"]) == (406, "HTTP 406 Not Acceptable")
    response, said = ask(port, "POST", "/things", b"{}", {"Content-Type": "text/plain"})
    assert (response.status, said["message"]) == (
        415,
        "HTTP 415 Unsupported Media Type: got 'text/plain', takes application/vnd.things.v1+json, application/json",
    )


@pytest.mark.parametrize(
    "content_type",
    ["application/json; charset=utf-8", "application/vnd.things.v1+json", "application/octet-stream"],
)
def test_bodies_come_in_any_type_that_is_consumed(port: int, content_type: str) -> None:
    response, said = ask(port, "POST", "/things", b'{"a": 1}', {"Content-Type": content_type})
    assert (response.status, said) == (201, {"a": 1})


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b'{"a": 1,\n "b" 2}', 400, "Request body is not JSON: Expecting ':' delimiter at line 2, column 6"),
        (b"\xff\xfe{", 400, "Request body is not"),
        (b"[" * 999, 400, "Request body is n"),
        (b"", 422, "Request body: must not be empty"),
        (b"[1]", 422, "Request body: got an array, takes a JSON object"),
        (b"null", 422, "Request body: got null, takes a JSON object"),
    ],
)
def test_bad_bodies_are_told_what_and_where(port: int, body: bytes, status: int, message: str) -> None:
    response, said = ask(port, "POST", "/things", body)
    assert (response.status, said["error_code"]) == (status, status)
    assert said["message"].startswith(message)


def test_a_number_of_more_digits_than_python_reads_is_refused() -> None:
    with pytest.raises(HttpError, match=r"^Request body is not JSON: Exceeds the limit") as caught:
        parse_json(b"9" * 5000)
    assert caught.value.status == 400


def test_a_large_body_is_refused_before_it_is_sent(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(b"POST /things HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n{")
        response = http.client.HTTPResponse(connection)
        response.begin()
        said = json.loads(response.read())
    assert response.status == 413
    assert said == {"error_code": 413, "message": "Request body is too large; takes at most 1000 bytes"}


def test_a_large_body_of_unknown_length_is_refused_while_it_is_sent(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(b"POST /things HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.sendall(b"400\r\n" + b" " * 1024 + b"\r\n")
        response = http.client.HTTPResponse(connection)
        response.begin()
        assert response.status == 413
        assert json.loads(response.read())["error_code"] == 413


def test_a_client_that_sends_all_before_it_reads_hears_the_refusal(port: int) -> None:
    response, said = ask(port, "POST", "/things", b" " * 3_000_000)
    assert (response.status, said["error_code"]) == (413, 413)


def test_a_body_of_just_the_limit_is_taken(port: int) -> None:
    body = b'{"a": "' + b"x" * (LIMIT_BYTES - 9) + b'"}'
    assert len(body) == LIMIT_BYTES
    assert ask(port, "POST", "/things", body)[0].status == 201


def test_a_request_keeps_its_id(port: int) -> None:
    assert (
        ask(port, "GET", "/nowhere", headers={"X-Request-ID": "mine-7"})[0].headers["x-request-id"]
        == "mine-7"
    )
    first, second = (ask(port, "GET", "/nowhere")[0].headers["x-request-id"] for _ in range(2))
    assert first != second


@pytest.mark.parametrize(
    "text", ["8081", "ftp://a:1", "http://a", "http://a:99999", "http://a:1/path", "http://:x"]
)
def test_listeners_that_are_none(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^listeners: got .*, takes http://host:port"):
        parse_listeners("listeners", [text])


def test_listeners() -> None:
    assert parse_listeners("listeners", ["http://:1", " http://[::1]:2 ", "http://a:3", "https://b:4"]) == [
        Listener("0.0.0.0", 1),
        Listener("::1", 2),
        Listener("a", 3),
        Listener("b", 4, "https"),
    ]


def test_a_port_in_use_is_named() -> None:
    with bind("listeners", Listener("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            ConfigError, match=rf"listeners: can't listen on http://127.0.0.1:{port}: Address already"
        ):
            bind("listeners", Listener("127.0.0.1", port))


def test_the_log_has_requests_that_failed_but_no_health_checks(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever waits for a service that starts asks many times a second."""
    routes = things()

    @routes.get("/health")
    async def health(request: Request) -> Response:
        raise unavailable("the service is still starting", retry_after_seconds=1)

    with caplog.at_level("INFO", "penstock.web"), served(lambda: HttpApp(routes, MEDIA_TYPES)) as port:
        for path in ("/health", "/away"):
            assert ask(port, "GET", path)[0].status == 503
    assert [record.getMessage().partition(" (")[0] for record in caplog.records] == ["GET /away 503"]
