"""A REST proxy in a thread of its own, and what tests ask it with."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import uvloop

from penstock.rest.app import running_proxy
from penstock.rest.settings import RestSettings

TIMEOUT_SECONDS = 60


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    text: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def objects(self) -> list[Any]:
        """Of an answer that is a stream of them."""
        return [json.loads(line) for line in self.text.splitlines() if line.strip()]


class Proxy:
    def __init__(self, port: int) -> None:
        self.port = port
        self._cluster_id: str | None = None

    @property
    def cluster_id(self) -> str:
        if self._cluster_id is None:
            self._cluster_id = self.get("/v3/clusters").json["data"][0]["cluster_id"]
        return self._cluster_id

    @property
    def cluster(self) -> str:
        return f"/v3/clusters/{self.cluster_id}"

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_SECONDS)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        *,
        chunks: Iterable[bytes] | None = None,
    ) -> Answer:
        """`body` is bytes, or made JSON; with `chunks` it is sent in these, without a length."""
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        given = {"Content-Type": "application/json"} if body is not None or chunks is not None else {}
        connection = self.connection()
        try:
            connection.request(
                method,
                path,
                sent if chunks is None else iter(chunks),
                {**given, **(headers or {})},
                encode_chunked=chunks is not None,
            )
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def get(self, path: str, headers: dict[str, str] | None = None) -> Answer:
        return self.ask("GET", path, headers=headers)

    def follow(self, link: str) -> Answer:
        """What an answer's link leads to."""
        assert urlsplit(link).netloc == f"127.0.0.1:{self.port}"
        return self.get(link.removeprefix(f"http://127.0.0.1:{self.port}"))


@contextmanager
def running(bootstrap_servers: str, **settings: str) -> Iterator[Proxy]:
    configs = {
        "bootstrap.servers": bootstrap_servers,
        "listeners": "http://127.0.0.1:0",
        **{name.replace("_", "."): value for name, value in settings.items()},
    }
    ready, ports = threading.Event(), []
    stop: asyncio.Event
    loop: asyncio.AbstractEventLoop

    async def serve() -> None:
        nonlocal stop, loop
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        async with running_proxy(RestSettings.from_configs(configs)) as listeners:
            ports.append(listeners[0].port)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: uvloop.run(serve()))
    thread.start()
    assert ready.wait(TIMEOUT_SECONDS)
    try:
        yield Proxy(ports[0])
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(TIMEOUT_SECONDS)
