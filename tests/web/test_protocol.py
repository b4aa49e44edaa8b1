"""Heads of requests that are too large, or never end, over a real socket."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from penstock.web.app import HttpApp
from penstock.web.media_types import MediaTypes
from penstock.web.protocol import HeadLimits
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.web.routes import Routes
from tests.web.served import ask, served

LIMITS = HeadLimits(max_bytes=4096, timeout_ms=600)
JSON = MediaTypes(produces=("application/json",), consumes=("application/json",))


def make_app(body_timeout_ms: int = 30_000) -> HttpApp:
    routes = Routes()

    @routes.post("/echo")
    async def echo(request: Request) -> Response:
        return json_response(len(await request.body()))

    return HttpApp(routes, JSON, body_timeout_ms=body_timeout_ms)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with served(make_app, LIMITS) as port:
        yield port


def answer_to(sending: socket.socket) -> tuple[int, str]:
    response = http.client.HTTPResponse(sending)
    response.begin()
    return response.status, json.loads(response.read())["message"]


def length_of_answer(sending: socket.socket) -> int:
    response = http.client.HTTPResponse(sending)
    response.begin()
    assert response.status == 200
    return int(response.read())


TOO_LARGE = {
    "one field": b"POST /echo HTTP/1.1\r\nA: " + b"a" * 200_000,
    "many fields": b"POST /echo HTTP/1.1\r\n" + b"A: a\r\n" * 30_000,
    "the path": b"POST /" + b"a" * 200_000,
    "with an end": b"POST /echo HTTP/1.1\r\nHost: a\r\n" + b"A: a\r\n" * 2000 + b"Content-Length: 1\r\n\r\nx",
    "empty lines": b"\r\n" * 100_000,
}


def test_a_head_that_is_too_large_is_refused(port: int) -> None:
    """All at once, as the server lingers for a second before it closes."""
    with ExitStack() as stack:
        connections = {
            what: stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            for what in TOO_LARGE
        }
        for what, sending in connections.items():
            sending.sendall(TOO_LARGE[what])
            said = answer_to(sending)
            assert said == (431, "The head of the request is too large; takes at most 4096 bytes"), what
        for what, sending in connections.items():
            sending.settimeout(10)
            assert sending.recv(1) == b"", what


def test_a_head_that_never_ends_is_refused(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as sending:
        began = time.monotonic()
        sending.sendall(b"POST /echo HTTP/1.1\r\n")
        for _ in range(4):
            time.sleep(0.1)
            sending.sendall(b"A: a\r\n")
        assert answer_to(sending) == (408, "The head of the request did not come within 600 ms")
        assert 0.5 < time.monotonic() - began < 5


def test_a_large_body_and_slow_bodies_are_no_matter_of_the_head(port: int) -> None:
    body = b"x" * 1_000_000
    assert ask(port, "POST", "/echo", body)[1] == len(body)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as sending:
        for _ in range(2):
            sending.sendall(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nx")
            time.sleep(0.8)
            sending.sendall(b"xxxPOST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n")
            assert length_of_answer(sending) == 4
            sending.sendall(b"\r\n")
            assert length_of_answer(sending) == 0


# bodies


@pytest.fixture(scope="module")
def hasty_port() -> Iterator[int]:
    with served(lambda: make_app(body_timeout_ms=600), LIMITS) as port:
        yield port


@pytest.mark.parametrize("drip", [b"", b"x"])
def test_a_body_that_does_not_come_is_refused(hasty_port: int, drip: bytes) -> None:
    with socket.create_connection(("127.0.0.1", hasty_port), timeout=30) as sending:
        began = time.monotonic()
        sending.sendall(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(5):
            time.sleep(0.1)
            sending.sendall(drip)
        status, message = answer_to(sending)
        assert (status, message) == (
            408,
            "The body of the request did not come within 600 ms, or at a fair pace",
        )
        assert 0.5 < time.monotonic() - began < 5
        sending.settimeout(10)
        assert sending.recv(1) == b""


def test_a_body_that_comes_at_a_fair_pace_is_taken(hasty_port: int) -> None:
    with socket.create_connection(("127.0.0.1", hasty_port), timeout=30) as sending:
        sending.sendall(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n\r\n")
        for _ in range(10):
            time.sleep(0.1)
            sending.sendall(b"x" * 4000)
        assert length_of_answer(sending) == 40_000


def drip_on(sending: socket.socket) -> None:
    for _ in range(100):
        sending.sendall(b"x")
        time.sleep(0.1)


def test_a_body_that_nobody_reads_does_not_keep_the_connection(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as sending:
        sending.sendall(b"POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
        assert answer_to(sending)[0] == 404
        with pytest.raises(ConnectionError):
            drip_on(sending)
